//! A call that costs more cells than there can be at once.
use resil::resilient;

mod policies {
    resil::registry! { rate_limiter quota { rate = "100/s", burst = 10 } }
}

#[resilient(rate_limiter(rate = "10/s", cost = 11))]
fn more_than_the_rate() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(rate = "100/s", burst = 10, cost = 11))]
fn more_than_the_burst() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(rate = "100/s", burst = 12, shards = 4, cost = 5))]
fn more_than_a_shard() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter("quota", cost = 11))]
fn more_than_the_named_one_has() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
