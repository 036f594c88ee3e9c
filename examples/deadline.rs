//! A deadline: a limit for the whole call, with all attempts and waits, that what is called inside knows of.

use resil::{Deadline, Rejected, resilient};
use std::time::{Duration, Instant};
use tokio::time::sleep;

#[derive(Debug, thiserror::Error)]
enum OrderError {
    #[error("the warehouse is busy")]
    Busy,
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

/// A second at most, however many attempts that is.
#[resilient(deadline = "1s", retry(max = 100, backoff = constant("50ms"), jitter = none))]
async fn order(takes: Duration) -> Result<(), OrderError> {
    reserve(takes).await
}

/// Asks for five seconds, and has what is left of the caller's one.
#[resilient(deadline = "5s")]
async fn reserve(takes: Duration) -> Result<(), OrderError> {
    let left = Deadline::current().remaining().unwrap_or_default();
    println!("  {} ms are left", left.as_millis());
    sleep(takes).await;
    Err(OrderError::Busy)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for (warehouse, takes) in [("is slow", 280), ("hangs", 60_000), ("is slower", 970)] {
        println!("the warehouse {warehouse}:");
        let start = Instant::now();
        if let Err(error) = order(Duration::from_millis(takes)).await {
            println!("  {error}, after {} ms", start.elapsed().as_millis());
        }
    }
}
