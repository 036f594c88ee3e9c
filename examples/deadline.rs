//! A deadline: a limit for the whole call, with all attempts and waits, that what is called inside knows of.

use resil::{Deadline, Rejected, resilient};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// A second at most, however many attempts that is.
#[resilient(deadline = "1s", retry(max = 100, backoff = constant("50ms"), jitter = none))]
async fn order() -> Result<u32, Rejected> {
    reserve().await
}

/// Would have five seconds, but has what is left of the caller's one.
#[resilient(deadline = "5s", timeout = "400ms")]
async fn reserve() -> Result<u32, Rejected> {
    println!("  {:?} are left", Deadline::current().remaining());
    sleep(Duration::from_secs(60)).await; // nobody answers
    Ok(1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("an order is placed:");
    let start = Instant::now();
    match order().await {
        Ok(number) => println!("  number {number}"),
        Err(rejected) => println!("  {rejected}, after {:?}", start.elapsed()),
    }
}
