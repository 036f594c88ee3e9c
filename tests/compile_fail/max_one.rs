//! A retry that never retries, in both ways to count.
use resil::resilient;

#[resilient(retry(max = 1))]
fn one() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry(max_retries = 0))]
fn none() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
