//! Return types without a place for a refusal.
use resil::resilient;

struct Fault;
type Alias<T> = Result<T, Fault>;

#[resilient(circuit_breaker)]
fn error() -> Result<(), Fault> {
    Ok(())
}

#[resilient(timeout = "1s", retry)]
async fn alias() -> Alias<u8> {
    Ok(1)
}

#[resilient(rate_limiter(rate = "100/s"))]
fn option() -> Option<u8> {
    None
}

#[resilient(bulkhead(max_concurrent = 8), retry(on = 0))]
async fn plain() -> u8 {
    0
}

#[resilient(circuit_breaker)]
fn nothing() {}

fn main() {}
