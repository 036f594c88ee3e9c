//! Shares that may be read in two ways, and some that are none.
use resil::resilient;

#[resilient(circuit_breaker(failure_rate = 1, slow_rate = 50, jitter = "120%", slow_call = "1s"))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
