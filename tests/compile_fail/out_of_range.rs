//! Numbers outside of their range.
use resil::resilient;

#[resilient(circuit_breaker(window = 2000, min_calls = 0, probes = 512))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
