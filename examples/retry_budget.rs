//! A retry budget: while the callee is down, retries stay a share of the calls, whoever makes them.

use resil::{Rejected, catalog, resilient};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

mod policies {
    resil::registry! {
        /// Whoever calls the warehouse: of ten calls one may be made again.
        retry_budget warehouse { ratio = "10%", min_per_sec = 2, ttl = "5s" }
    }
}

#[derive(Debug, thiserror::Error)]
enum StockError {
    #[error("the warehouse is down")]
    Down,
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

static DOWN: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicU32 = AtomicU32::new(0);

fn warehouse() -> Result<u32, StockError> {
    // Now and then it is busy.
    let asked = ASKED.fetch_add(1, Relaxed);
    if DOWN.load(Relaxed) || asked % 50 == 49 { Err(StockError::Down) } else { Ok(7) }
}

#[resilient(retry(max = 3, backoff = constant("1ms"), budget = "warehouse"))]
fn stock(item: u32) -> Result<u32, StockError> {
    warehouse().map(|stock| stock + item % 3)
}

#[resilient(retry(max = 3, backoff = constant("1ms"), budget = "warehouse"))]
fn reserve(_item: u32) -> Result<u32, StockError> {
    warehouse()
}

fn rush(what: &str) {
    let before = ASKED.load(Relaxed);
    let answers = (0..200).map(|item| if item % 2 == 0 { stock(item) } else { reserve(item) });
    let good = answers.flatten().count();
    let asked = ASKED.load(Relaxed) - before;
    println!("{what}: 200 calls, {good} of them good, and {asked} requests to the warehouse");
}

fn main() {
    rush("all is well");
    DOWN.store(true, Relaxed);
    rush("it is down "); // three requests a call, if it were for `max` alone
    DOWN.store(false, Relaxed);
    rush("it is back ");
    for entry in catalog() {
        println!("{entry}");
    }
}
