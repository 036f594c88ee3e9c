//! A budget that is no policy of its own, and never inline.
use resil::resilient;

#[resilient(retry, retry_budget = "budget")]
fn own_key() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry, budget = "budget")]
fn outside() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry(budget(ratio = "20%")))]
fn inline() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry(budget = 0.2))]
fn ratio() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
