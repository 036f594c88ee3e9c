//! A bulkhead that does not say how many may be inside.
use resil::resilient;

#[resilient(bulkhead)]
fn bare() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(bulkhead(wait = "10ms"))]
fn inline() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
