//! Kinds of backoff and jitter that nobody knows.
use resil::resilient;

#[resilient(retry(backoff = exponental("50ms", cap = "1s"), jitter = random))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
