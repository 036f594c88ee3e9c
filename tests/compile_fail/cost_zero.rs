//! A call that costs nothing.
use resil::resilient;

#[resilient(rate_limiter("quota", cost = 0))]
fn named() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(rate = "100/s", cost = 0))]
fn inline() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
