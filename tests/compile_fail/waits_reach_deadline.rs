//! Two waits that together are as long as the whole call may take.
use resil::resilient;

#[resilient(
    deadline = "1s",
    rate_limiter(rate = "10/s", wait = "600ms"),
    bulkhead(max_concurrent = 8, wait = "400ms")
)]
async fn both() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
