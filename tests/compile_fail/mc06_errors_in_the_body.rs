//! Mistakes in the body are shown where they are.
use resil::resilient;

#[resilient(circuit_breaker, retry)]
async fn tail() -> Result<String, std::io::Error> {
    ""
}

#[resilient(circuit_breaker, timeout = "1s")]
async fn question() -> Result<u8, std::io::Error> {
    Ok("1".parse::<u8>()?)
}

#[resilient(circuit_breaker)]
fn unknown() -> Result<u8, std::io::Error> {
    Ok(nowhere)
}

fn main() {}
