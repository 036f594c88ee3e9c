//! What only sync functions can be: late.
use resil::resilient;

#[resilient(timeout("200ms", late = timeout))]
async fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(timeout("200ms", late = drop))]
fn misspelt() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
