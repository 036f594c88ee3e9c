//! A fallback: another answer when the call failed or was refused.

use resil::{Cause, Rejected, resilient};

mod policies {
    resil::registry! { circuit_breaker rates { window = 4, min_calls = 2, open_for = "10s" } }
}

#[derive(Debug, thiserror::Error)]
enum RateError {
    #[error("the exchange does not answer")]
    Silent,
    #[error("no such currency")]
    Unknown,
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

/// The rate of a currency; yesterday's when the exchange cannot be asked. A currency that does not exist is the
/// caller's mistake: no failure, and nothing to fall back to.
#[resilient(
    circuit_breaker = "rates",
    ignore = Err(RateError::Unknown),
    fallback = |cause| {
        match cause {
            Cause::Error(error) => println!("  yesterday's rate, because {error}"),
            Cause::Rejected(rejected) => println!("  yesterday's rate, because of {rejected}"),
        }
        Ok(1.08)
    },
)]
async fn rate(currency: &str, up: bool) -> Result<f64, RateError> {
    match currency {
        "EUR" if up => Ok(1.09),
        "EUR" => Err(RateError::Silent),
        _ => Err(RateError::Unknown),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for (currency, up) in [("EUR", true), ("XYZ", true), ("EUR", false), ("EUR", true)] {
        println!("{currency}:");
        match rate(currency, up).await {
            Ok(rate) => println!("  {rate}"),
            Err(error) => println!("  no rate: {error}"),
        }
    }
}
