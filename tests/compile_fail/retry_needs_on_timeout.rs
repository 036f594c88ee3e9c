//! In sync functions a timeout is no reason for another attempt unless that is said.
use resil::resilient;

#[resilient(timeout = "200ms", retry(max = 3))]
fn plain() -> bool {
    true
}

#[resilient(timeout("200ms", late = timeout), retry(max = 3, on_timeout), fallback = value(false))]
fn said() -> bool {
    true
}

fn main() {}
