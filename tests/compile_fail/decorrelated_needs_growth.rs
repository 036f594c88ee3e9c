//! A jitter that replaces a growth which is not there.
use resil::resilient;

#[resilient(retry(backoff = constant("50ms"), jitter = decorrelated))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
