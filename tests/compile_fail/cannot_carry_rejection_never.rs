//! A function that never returns cannot return a refusal.
use resil::resilient;

#[resilient(circuit_breaker)]
fn call() -> ! {
    panic!()
}

#[resilient(bulkhead(max_concurrent = 8))]
async fn bulkhead() -> ! {
    panic!()
}

fn main() {}
