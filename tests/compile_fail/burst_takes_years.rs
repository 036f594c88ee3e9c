//! A burst that nobody will see come in again.
use resil::resilient;

#[resilient(rate_limiter(rate = "1/d", burst = 3651))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
