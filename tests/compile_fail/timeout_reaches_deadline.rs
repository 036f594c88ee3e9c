//! A timeout that nothing reaches.
use resil::resilient;

#[resilient(timeout = "1s", deadline = "1s")]
async fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
