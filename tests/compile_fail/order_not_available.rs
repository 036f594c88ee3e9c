//! Orders that this version cannot build.
use resil::resilient;

#[resilient(retry, circuit_breaker, timeout = "1s", order = [timeout, retry, circuit_breaker])]
async fn timeout_first() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(
    deadline = "1s",
    bulkhead(max_concurrent = 8),
    order = [bulkhead, deadline]
)]
async fn deadline_inside() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
