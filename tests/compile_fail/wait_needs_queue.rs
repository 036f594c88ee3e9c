//! A wait for which there is no place.
use resil::resilient;

#[resilient(bulkhead(max_concurrent = 8, wait = "10ms", queue = 0))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
