//! `break`, `continue` and labels outside of any loop of the body stay errors.
use resil::resilient;

#[resilient(retry(max = 3, before = break))]
fn hook() -> Result<u8, std::io::Error> {
    Ok(1)
}

#[resilient(retry, circuit_breaker)]
fn stop(n: u8) -> Result<u8, std::io::Error> {
    if n == 0 {
        continue;
    }
    if n == 1 {
        break;
    }
    break 'resil
}

fn main() {}
