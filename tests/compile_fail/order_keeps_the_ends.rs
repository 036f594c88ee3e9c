//! Limits of the whole call or of an attempt that are to stand elsewhere.
use resil::resilient;

#[resilient(retry, circuit_breaker, timeout = "1s", order = [timeout, circuit_breaker, retry])]
async fn innermost() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry, fallback = |_| Ok(()), deadline = "1s", order = [fallback, retry, deadline])]
async fn outside() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry, fallback = |_| Ok(()), order = [retry, fallback])]
fn outermost() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(deadline = "1s", bulkhead(max_concurrent = 8), order = [bulkhead, deadline])]
async fn inside_of_a_gate() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
