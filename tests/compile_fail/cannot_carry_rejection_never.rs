//! A function that never returns cannot return a refusal.
use resil::resilient;

#[resilient(circuit_breaker)]
fn call() -> ! {
    panic!()
}

fn main() {}
