//! An order that leaves a policy out, and one that names a policy which is not there.
use resil::resilient;

#[resilient(retry, circuit_breaker, timeout = "1s", order = [circuit_breaker, timeout])]
async fn left_out() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(
    retry,
    circuit_breaker,
    order = [circuit_breaker, retry, deadline, retry_budget]
)]
async fn too_many() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(retry, circuit_breaker, order = [circuit_breaker, retry, retry])]
fn twice() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
