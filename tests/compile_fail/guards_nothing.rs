//! No policy at all.
use resil::resilient;

#[resilient]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
