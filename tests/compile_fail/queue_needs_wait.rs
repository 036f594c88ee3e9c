//! A queue in which nobody waits.
use resil::resilient;

#[resilient(bulkhead(max_concurrent = 8, queue = 32))]
fn no_wait() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(bulkhead(max_concurrent = 8, wait = "0ms", queue = 32))]
fn zero_wait() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
