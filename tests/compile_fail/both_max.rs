//! Two ways to say how often.
use resil::resilient;

#[resilient(retry(max = 3, max_retries = 3))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
