//! Options beside the name of a declared breaker.
use resil::resilient;

#[resilient(circuit_breaker("gateway", window = 50))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
