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

// What `#[async_trait]` makes of a method.
#[resilient(timeout = "1s")]
fn rewritten<'life0, 'async_trait>(
    text: &'life0 str,
) -> Pin<Box<dyn Future<Output = std::io::Result<usize>> + Send + 'async_trait>>
where
    'life0: 'async_trait,
{
    Box::pin(async move { Ok(text.len()) })
}

fn main() {}
