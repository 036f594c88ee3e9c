//! A bulkhead: so many calls at a time, a short queue in front, and the rest are told at once.

use resil::{Rejected, resilient};
use std::time::{Duration, Instant};
use tokio::time::sleep;

mod policies {
    resil::registry! {
        /// The printer takes two sheets at a time; three more may wait for a moment.
        bulkhead printer { max_concurrent = 2, wait = "150ms", queue = 3 }
    }
}
use policies::bulkhead::printer;

#[resilient(bulkhead = "printer")]
async fn print(sheet: u32, takes: Duration) -> Result<u32, Rejected> {
    sleep(takes).await;
    Ok(sheet)
}

/// Eight sheets at once.
async fn print_all(takes: Duration) {
    let begin = Instant::now();
    let sheets: Vec<_> = (1..=8)
        .map(|sheet| {
            tokio::spawn(async move {
                let outcome = print(sheet, takes).await;
                (sheet, outcome, begin.elapsed().as_millis())
            })
        })
        .collect();
    for sheet in sheets {
        match sheet.await.expect("it does not panic") {
            (sheet, Ok(_), after) => println!("  sheet {sheet} is printed after {after} ms"),
            (sheet, Err(refused), after) => {
                println!("  sheet {sheet}: {refused}, after {after} ms");
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("the printer is quick: five are served, in their order");
    print_all(Duration::from_millis(50)).await;

    println!("the printer is slow: who waits gives up, and the shop goes on");
    print_all(Duration::from_millis(400)).await;

    println!("a second printer is switched on:");
    printer.set_max_concurrent(4).expect("it makes sense");
    print_all(Duration::from_millis(50)).await;

    println!("closed for maintenance:");
    printer.set_max_concurrent(0).expect("it makes sense");
    // By hand: a place until the slot is dropped, here on a thread instead of a task.
    if let Err(refused) = printer.acquire_blocking() {
        println!("  {refused}");
    }
}
