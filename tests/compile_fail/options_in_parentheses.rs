//! Options of a function's own policy, written where the name of a shared one goes, or in other brackets.
use resil::resilient;

#[resilient(rate_limiter = "100/s", bulkhead = 8)]
fn behind_the_key() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter("100/s"), bulkhead(8))]
fn without_a_name() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter { rate = "100/s" }, bulkhead[max_concurrent = 8])]
fn in_other_brackets() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
