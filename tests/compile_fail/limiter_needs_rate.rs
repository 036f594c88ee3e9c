//! A limiter that does not say how many in which time.
use resil::resilient;

#[resilient(rate_limiter)]
fn bare() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(burst = 20, wait = "10ms"))]
fn inline() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
