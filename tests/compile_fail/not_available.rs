//! What a later version brings.
use resil::resilient;

#[resilient(bulkhead = "pool", retry(budget = "shared"), circuit_breaker(consecutive = 5))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(timeout("1s", isolate), fallback(within = "1s"))]
async fn later() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
