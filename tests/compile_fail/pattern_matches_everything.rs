use resil::resilient;
use std::io;

fn is_transient(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[resilient(retry(on = is_transient))]
fn by_name() -> io::Result<u32> {
    Ok(1)
}

#[resilient(retry(on = |e| is_transient(e)))]
fn by_closure() -> io::Result<u32> {
    Ok(1)
}

#[resilient(circuit_breaker, ignore = is_transient)]
fn ignored() -> io::Result<u32> {
    Ok(1)
}

fn main() {}
