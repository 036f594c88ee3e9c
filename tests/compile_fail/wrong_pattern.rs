//! A pattern is checked against the return type.
use resil::resilient;

enum Fault {
    Down,
}

#[resilient(retry(on = Err(Fault::Dwon), abort = Some(_)))]
fn call() -> Result<u8, Fault> {
    Err(Fault::Down)
}

fn main() {}
