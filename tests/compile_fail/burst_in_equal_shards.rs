//! A burst that cannot be divided into its shards.
use resil::resilient;

#[resilient(rate_limiter(rate = "100/s", burst = 10, shards = 4))]
fn rest() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(rate = "100/s", burst = 2, shards = 4))]
fn fewer_than_shards() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(rate = "100/s", shards = 9))]
fn too_many() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
