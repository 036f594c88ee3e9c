//! What a later version brings.
use resil::resilient;

#[resilient(bulkhead = "pool", retry(budget = "shared"), circuit_breaker(consecutive = 5))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
