//! A clone for a body that runs once.
use resil::resilient;

#[resilient(circuit_breaker, clone(order))]
fn call(order: String) -> Result<String, std::io::Error> {
    Ok(order)
}

fn main() {}
