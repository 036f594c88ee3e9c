//! What options are called elsewhere; what seems to be missing is not complained of on top of it.
use resil::resilient;

#[resilient(rate_limiter(limit_for_period = 10, limit_refresh_period = "1s"))]
fn limiter() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(bulkhead(permits = 5, max_wait_duration = "1ms", max_concurrent_calls = 8))]
fn bulkhead() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker(failure_rate_threshold = 50, reset_timeout = "1s", slow_rate = "80%"))]
fn breaker() -> Result<(), std::io::Error> {
    Ok(())
}

mod policies {
    resil::registry! { retry_budget budget { percent = 20, min_retries_per_second = 10 } }
}

fn main() {}
