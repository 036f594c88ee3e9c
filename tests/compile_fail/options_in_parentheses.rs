//! A policy of the function's own, written where the name of a shared one goes.
use resil::resilient;

#[resilient(rate_limiter = "100/s", bulkhead = 8)]
fn behind_the_key() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter("100/s"), bulkhead(8))]
fn in_parentheses() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
