//! A wait that is as long as the whole call may take.
use resil::resilient;

#[resilient(deadline = "1s", rate_limiter(rate = "10/s", wait = "1s"))]
async fn limiter() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(deadline = "1s", bulkhead(max_concurrent = 8, wait = "2s"))]
async fn bulkhead() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
