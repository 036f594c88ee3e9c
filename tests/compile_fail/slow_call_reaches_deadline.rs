//! A slow-call threshold that the end of the call is before: inline, and of a declared breaker.
use resil::resilient;

mod policies {
    resil::registry! {
        circuit_breaker gateway { slow_call = "3s" }
    }
}

#[resilient(circuit_breaker(slow_call = "1s"), deadline = "1s")]
async fn inline() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker = "gateway", deadline = "1s")]
async fn named() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker = "gateway", deadline = "1s", allow(slow_call_reaches_deadline))]
async fn silenced() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
