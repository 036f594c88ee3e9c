//! Attempts without an end.
use resil::resilient;

#[resilient(retry(max = unlimited))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
