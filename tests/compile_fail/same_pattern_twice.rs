//! A pattern that can never decide.
use resil::resilient;
use std::io::Result;

#[resilient(circuit_breaker, ignore = Err(_), failure = Err(_))]
fn whole() -> Result<u8> {
    Ok(1)
}

#[resilient(retry(on = Ok(0), abort = Ok(0)))]
fn retried() -> Result<u8> {
    Ok(1)
}

#[resilient(circuit_breaker(ignore = Ok(0), failure = Ok(0)))]
fn own() -> Result<u8> {
    Ok(1)
}

fn main() {}
