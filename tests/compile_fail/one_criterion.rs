//! Failures in a row, and rates beside them.
use resil::resilient;

resil::registry! {
    circuit_breaker gateway { consecutive = 5, window = 100, failure_rate = "50%" }
}

#[resilient(circuit_breaker(min_calls = 2, consecutive = 5, slow_call = "1s", slow_rate = "50%"))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
