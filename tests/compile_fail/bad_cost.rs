//! Costs that are no number of cells.
use resil::resilient;

#[resilient(rate_limiter("quota", cost = "5"))]
fn quoted() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter("quota", cost = -1))]
fn negative() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter("quota", cost = 5_000_000_000))]
fn huge() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter("quota", cost))]
fn nothing() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
