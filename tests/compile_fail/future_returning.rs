//! Functions that return futures.
use resil::resilient;
use std::pin::Pin;

#[resilient(circuit_breaker)]
fn opaque() -> impl Future<Output = Result<(), std::io::Error>> {
    async { Ok(()) }
}

#[resilient(circuit_breaker)]
fn boxed() -> Pin<Box<dyn Future<Output = Result<(), std::io::Error>> + Send>> {
    Box::pin(async { Ok(()) })
}

fn main() {}
