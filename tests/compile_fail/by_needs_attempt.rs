//! A computed wait that does not know which attempt it is for.
use resil::resilient;

#[resilient(retry(backoff = by(std::time::Duration::ZERO)))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
