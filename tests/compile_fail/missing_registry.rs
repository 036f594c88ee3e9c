//! No registry where names live: one error, at the name.
use resil::resilient;

#[resilient(circuit_breaker = "gateway")]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker = "quota", timeout = "1s")]
async fn limited() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
