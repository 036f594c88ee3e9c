//! A wait above its own limit.
use resil::resilient;

#[resilient(circuit_breaker(open_for = "10m", max_open_for = "5m"))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
