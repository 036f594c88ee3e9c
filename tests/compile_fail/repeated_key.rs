//! The same key twice, in the attribute and in a policy.
use resil::resilient;

#[resilient(retry(max = 3, max = 4), retry)]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
