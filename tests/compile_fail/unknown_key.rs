//! A key that nothing knows, in the attribute and in a policy.
use resil::resilient;

#[resilient(retyr(max = 3), circuit_breaker(min_call = 5), metrics)]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
