//! Rules that do not exist or cannot be silenced.
use resil::resilient;

#[resilient(retry(max = 1), allow(max_on, both_max))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
