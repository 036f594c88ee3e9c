//! Runs one scenario a given number of times, for an instruction counter to watch: `instructions <scenario> <calls>`.

use benches::{callee, floor, guarded};
use std::hint::black_box;

fn run(calls: u64, call: impl Fn(u64) -> Result<u64, benches::Down>) {
    for request in 0..calls {
        let _ = black_box(call(black_box(request)));
    }
}

fn main() {
    assert!(!resil::TEST_UTIL, "feature `test-util` is on: run with `-p benches` alone");
    let mut args = std::env::args().skip(1);
    let scenario = args.next().expect("a scenario");
    let calls: u64 = args.next().and_then(|calls| calls.parse().ok()).expect("how many calls");
    // A window of successes makes the breaker clean.
    run(2_000, guarded::breaker_by_hand);

    match scenario.as_str() {
        "bare" => run(calls, callee),
        "breaker/floor" => run(calls, floor::breaker),
        "breaker/by-hand" => run(calls, guarded::breaker_by_hand),
        "breaker/refused" => {
            guarded::BREAKER.force_open();
            run(calls, guarded::breaker_by_hand);
        }
        "breaker/floor-open" => floor::BREAKER.open(),
        other => panic!("no scenario `{other}`"),
    }
}
