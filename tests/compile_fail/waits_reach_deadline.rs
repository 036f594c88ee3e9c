//! Two waits that together are as long as the whole call may take.
use resil::resilient;

mod policies {
    resil::registry! { rate_limiter shared { rate = "100/s", wait = "600ms" } }
}

#[resilient(
    deadline = "1s",
    rate_limiter(rate = "10/s", wait = "600ms"),
    bulkhead(max_concurrent = 8, wait = "400ms")
)]
async fn both() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(deadline = "1s", rate_limiter = "shared", bulkhead(max_concurrent = 8, wait = "400ms"))]
async fn one_is_named() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
