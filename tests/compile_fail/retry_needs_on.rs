//! Return types of which nobody knows what is worth another attempt.
use resil::resilient;

#[resilient(retry)]
fn option() -> Option<u8> {
    None
}

#[resilient(retry)]
fn nothing() {}

fn main() {}
