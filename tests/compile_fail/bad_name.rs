//! Names that no policy can have.
use resil::resilient;

static QUOTA: u8 = 1;

#[resilient(circuit_breaker = "Gate-Way")]
fn letters() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(circuit_breaker("match", ignore = Ok(())))]
fn keyword() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter = QUOTA, bulkhead(POOL))]
fn upper_case() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(bulkhead = self.pool, retry(budget = BUDGET))]
fn field() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
