//! A share of slow calls where none is slow.
use resil::resilient;

#[resilient(circuit_breaker(slow_rate = "80%"))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
