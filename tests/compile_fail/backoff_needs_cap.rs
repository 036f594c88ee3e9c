//! Delays that grow for ever.
use resil::resilient;

#[resilient(retry(backoff = exponential("50ms")), circuit_breaker(open_for = exponential("5s")))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
