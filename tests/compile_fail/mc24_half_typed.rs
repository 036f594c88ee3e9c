//! What is half typed is an error, and leaves the function in place.
use resil::resilient;

#[resilient(retry(ma), circuit_breaker = , timeout(after), fallback = |)]
fn call() -> Result<u8, std::io::Error> {
    Ok(1)
}

fn main() {
    let _: u8 = call().unwrap();
}
