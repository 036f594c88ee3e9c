//! An order that this version cannot build.
use resil::resilient;

#[resilient(retry, circuit_breaker, timeout = "1s", order = [timeout, retry, circuit_breaker])]
async fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
