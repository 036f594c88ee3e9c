//! A timeout: a limit for each attempt, so that one lost answer costs no more than that.

use resil::{Rejected, resilient};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The first answer is lost on the way. The attempt is dropped after 100 ms, and the next one is quick.
#[resilient(timeout = "100ms", retry(max = 2, backoff = constant("10ms"), attempt = attempt))]
async fn ask(lost: u32) -> Result<u32, Rejected> {
    let takes = if attempt <= lost { Duration::from_secs(60) } else { Duration::from_millis(5) };
    println!("  attempt {attempt} will take {takes:?}");
    sleep(takes).await;
    Ok(42)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for lost in 0..=2 {
        println!("{lost} answers are lost:");
        let start = Instant::now();
        match ask(lost).await {
            Ok(answer) => println!("  {answer}, after {:?}", start.elapsed()),
            Err(rejected) => println!("  {rejected}, after {:?}", start.elapsed()),
        }
    }
}
