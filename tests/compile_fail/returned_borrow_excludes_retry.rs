//! What one attempt lends, the next cannot.
use resil::resilient;

#[resilient(retry)]
fn call(bytes: &mut [u8]) -> Result<&mut u8, std::io::Error> {
    Ok(&mut bytes[0])
}

fn main() {}
