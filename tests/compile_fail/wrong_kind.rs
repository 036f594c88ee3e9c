//! A `static` that is no breaker.
use resil::resilient;

mod statics {
    pub static GATEWAY: u8 = 1;
}

#[resilient(circuit_breaker = statics::GATEWAY)]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
