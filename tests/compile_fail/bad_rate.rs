//! Rates that are none, each with its own reason: in the attribute and in a registry.
use resil::resilient;

#[resilient(rate_limiter(rate = 100))]
fn no_period() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(rate = "100 per second"))]
fn in_words() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(rate_limiter(rate = "1.5/sec", burst = "20"))]
fn fraction_of_an_unknown_unit() -> Result<(), std::io::Error> {
    Ok(())
}

mod policies {
    resil::registry! {
        rate_limiter nothing { rate = "0/s" }
        rate_limiter fraction { rate = "1.5/s" }
        rate_limiter interval { rate = "100ms" }
        rate_limiter quotient { rate = 100/s }
        rate_limiter faster { rate = "2000000000/s" }
    }
}

fn main() {}
