//! A rate that never counts.
use resil::resilient;

#[resilient(circuit_breaker(window = 10, min_calls = 20))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
