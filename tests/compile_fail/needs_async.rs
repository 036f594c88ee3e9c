//! Limits that only async functions have.
use resil::resilient;

#[resilient(timeout = "200ms", deadline = "1s")]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
