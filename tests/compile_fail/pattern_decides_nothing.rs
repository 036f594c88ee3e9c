//! Patterns that no policy looks at.
use resil::resilient;

#[resilient(timeout = "1s", ignore = Ok(0))]
async fn call() -> Result<u8, std::io::Error> {
    Ok(1)
}

fn main() {}
