//! A `static` that is of another kind, told at its name.
use resil::resilient;

static GATEWAY: u8 = 1;

mod policies {
    resil::registry! { bulkhead pool { max_concurrent = 64 } }
}

#[resilient(circuit_breaker = self::GATEWAY)]
fn breaker() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry(budget = crate::policies::bulkhead::pool))]
fn budget() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
