//! Names that no policy can have.
use resil::resilient;

#[resilient(circuit_breaker = "Gate-Way")]
fn letters() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker("match", ignore = Ok(())))]
fn keyword() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
