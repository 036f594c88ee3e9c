//! A slow-call threshold that nothing reaches: inline, and of a declared breaker.
use resil::resilient;

mod policies {
    resil::registry! {
        circuit_breaker gateway { slow_call = "300ms" }
    }
}

#[resilient(circuit_breaker(slow_call = "200ms"), timeout = "200ms")]
async fn inline() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker(slow_call = "300ms"), timeout = "200ms")]
fn sync() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker = "gateway", timeout = "200ms")]
async fn named() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker = "gateway", timeout = "200ms", allow(slow_call_reaches_timeout))]
async fn silenced() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
