//! Options that belong into their policy.
use resil::resilient;

#[resilient(max = 3, rate = "100/s", jitter = full, max_concurrent = 8, ratio = "20%")]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
