//! Numbers outside of their range.
use resil::resilient;

#[resilient(circuit_breaker(window = 2000, min_calls = 0, probes = 512))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker(window = "99ms", min_calls = 5000))]
fn too_short() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker(window = "25h"))]
fn too_long() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker(consecutive = 0))]
fn no_row() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
