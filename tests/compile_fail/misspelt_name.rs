//! A name that the registry does not have is the compiler's own error, with or without a rule that compares numbers.
use resil::resilient;

mod policies {
    resil::registry! {
        circuit_breaker gateway { slow_call = "300ms" }
    }
}

#[resilient(circuit_breaker = "gatewey")]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker = "getaway", timeout = "1s")]
async fn limited() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
