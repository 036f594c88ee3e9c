//! A cap that the first delay exceeds.
use resil::resilient;

#[resilient(retry(backoff = linear("5s", cap = "1s")))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
