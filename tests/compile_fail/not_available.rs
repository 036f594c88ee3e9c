//! What a later version brings.
use resil::resilient;

#[resilient(
    hedge(after = "30ms"),
    bulkhead(max_concurrent = 8, discipline = lifo_under_overload),
    rate_limiter("quota", key = tenant),
)]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(timeout("1s", isolate), fallback(within = "1s"))]
async fn later() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
