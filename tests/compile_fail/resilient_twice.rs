//! Two attributes on one function.
use resil::resilient;

#[resilient(circuit_breaker)]
#[resilient(retry)]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
