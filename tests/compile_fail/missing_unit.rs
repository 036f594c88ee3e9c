//! A duration without a unit, as a number and in quotes.
use resil::resilient;

#[resilient(timeout = 200, deadline = "5")]
async fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
