//! A function that runs while compiling.
use resil::resilient;

#[resilient(circuit_breaker)]
const fn call() -> Result<(), resil::Rejected> {
    Ok(())
}

fn main() {}
