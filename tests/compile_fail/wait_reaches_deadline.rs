//! A wait that is as long as the whole call may take: written here, and of declared policies.
use resil::resilient;

mod policies {
    resil::registry! {
        rate_limiter quota { rate = "100/s", wait = "1s" }
        bulkhead pool { max_concurrent = 8, wait = "1s" }
    }
}

#[resilient(deadline = "1s", rate_limiter(rate = "10/s", wait = "1s"))]
async fn limiter() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(deadline = "1s", bulkhead = "pool", rate_limiter = "quota")]
fn named() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(deadline = "1s", bulkhead = "pool", allow(wait_reaches_deadline))]
async fn silenced() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
