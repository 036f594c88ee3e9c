//! A deadline: a limit for the whole call, with all attempts and waits, that what is called inside knows of.

use resil::deadline::{check, remaining};
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

/// A sync body asks for itself whether to go on, and gives what it calls no more time than is left.
#[resilient(deadline = "100ms")]
fn count_stock(shelves: u32) -> Result<u32, OrderError> {
    let mut counted = 0;
    for shelf in 1..=shelves {
        check()?;
        counted += count_shelf(shelf, remaining());
    }
    Ok(counted)
}

fn count_shelf(shelf: u32, at_most: Option<Duration>) -> u32 {
    let takes = Duration::from_millis(15);
    std::thread::sleep(at_most.map_or(takes, |most| most.min(takes)));
    shelf % 7
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
    for shelves in [4, 400] {
        println!("counting {shelves} shelves:");
        let start = Instant::now();
        match count_stock(shelves) {
            Ok(counted) => println!("  {counted} things, after {} ms", start.elapsed().as_millis()),
            Err(error) => println!("  {error}, after {} ms", start.elapsed().as_millis()),
        }
    }
}
