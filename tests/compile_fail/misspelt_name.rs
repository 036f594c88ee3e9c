//! A name that the registry does not have is the compiler's own error, with or without a rule that compares numbers.
use resil::resilient;

mod policies {
    resil::registry! {
        circuit_breaker gateway { slow_call = "300ms" }
        rate_limiter quota { rate = "100/s" }
        bulkhead pool { max_concurrent = 64 }
        retry_budget budget {}
    }
}

#[resilient(circuit_breaker = "gatewey")]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(
    deadline = "5s",
    circuit_breaker = "getaway",
    rate_limiter("qouta", cost = 5),
    bulkhead = "pol",
    retry(budget = "bugdet"),
    timeout = "1s"
)]
async fn all() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
