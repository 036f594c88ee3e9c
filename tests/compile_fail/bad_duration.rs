//! Durations that are none.
use resil::resilient;

#[resilient(
    timeout = "1h30m",
    deadline = "200 ms",
    retry(within = "-5s", max_pushback = "5 secs", backoff = exponential("1e3ms", cap = "0s"))
)]
async fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
