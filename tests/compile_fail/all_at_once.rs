//! Every mistake of an attribute is said at once, each at its place.
use resil::resilient;

#[resilient(
    retyr,
    timeout = 200,
    circuit_breaker(window = 10, min_calls = 20, probes = 0),
    retry(max = 0, backoff = exponential("1s", cap = "50ms"), jitter = fulll),
    allow(max_zero),
)]
const fn call() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
