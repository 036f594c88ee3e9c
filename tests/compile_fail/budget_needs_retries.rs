//! A budget that no retry is ever taken from.
use resil::resilient;

#[resilient(retry(max = 1, budget = "budget"), allow(max_one))]
fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
