//! No attempt at all.
use resil::resilient;

#[resilient(retry(max = 0))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
