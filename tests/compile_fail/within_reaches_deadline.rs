//! An end of the attempts that comes after the end of the call.
use resil::resilient;

#[resilient(deadline = "1s", retry(within = "2s"))]
async fn call() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(deadline = "1s", retry(within = "2s"), allow(within_reaches_deadline))]
async fn silenced() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
