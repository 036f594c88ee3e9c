//! The policies of a function are its own affair: what is not written in an attribute cannot be named.
use resil::resilient;

#[resilient(retry(max = 3))]
fn call() -> Result<u8, std::io::Error> {
    let _ = __resil_attempts.number();
    Ok(1)
}

fn main() {}
