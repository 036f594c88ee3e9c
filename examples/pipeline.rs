//! A pipeline: the same policies, composed at run time, around calls that no attribute can be written on.

use resil::{Bulkhead, CircuitBreaker, Judgement, Pipeline, Retry};
use std::io;
use std::time::Duration;

/// A driver that was loaded at run time: somebody else's code.
type Driver = Box<dyn Fn(&str) -> io::Result<String>>;

/// A driver with the policies that its entry in the configuration asks for.
struct Guarded {
    driver: Driver,
    breaker: CircuitBreaker,
    places: Bulkhead,
    retry: Retry,
}

impl Guarded {
    fn new(driver: Driver, attempts: u32) -> Result<Self, resil::InvalidOption> {
        Ok(Self {
            driver,
            breaker: CircuitBreaker::builder("driver").window(6).min_calls(6).try_build()?,
            places: Bulkhead::builder("driver").max_concurrent(4).try_build()?,
            retry: Retry::builder("driver")
                .max_attempts(attempts)
                .backoff(resil::Backoff::constant(Duration::from_millis(5)))
                .try_build()?,
        })
    }

    fn query(&self, text: &str) -> io::Result<String> {
        Pipeline::new()
            .retry(&self.retry)
            .circuit_breaker(&self.breaker)
            .bulkhead(&self.places)
            .judged_by(Judgement::of)
            .call(|attempt| {
                println!("  attempt {attempt}");
                (self.driver)(text)
            })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Err(error) = Guarded::new(Box::new(|_| Ok(String::new())), 0) {
        println!("a bad configuration is refused: {error}");
    }
    let down = |_: &str| Err(io::Error::other("connection refused"));
    let guarded = Guarded::new(Box::new(down), 3)?;
    for query in ["select 1", "select 2", "select 3"] {
        println!("{query}:");
        match guarded.query(query) {
            Ok(answer) => println!("  {answer}"),
            Err(error) => println!("  {error}"),
        }
    }
    Ok(())
}
