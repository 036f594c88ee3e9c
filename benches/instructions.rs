//! Runs one scenario a given number of times, for an instruction counter to watch: `instructions <scenario> <calls>`.

use benches::{callee, floor, guarded};
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// What is counted: all that happens in here.
#[inline(never)]
fn run(calls: u64, mut call: impl FnMut(u64) -> Result<u64, benches::Down>) {
    for request in 0..calls {
        let _ = black_box(call(black_box(request)));
    }
}

/// Polls each future once: it is ready.
fn run_async<F: Future<Output = Result<u64, benches::Down>>>(calls: u64, call: impl Fn(u64) -> F) {
    let mut context = Context::from_waker(Waker::noop());
    run(calls, |request| match pin!(call(request)).poll(&mut context) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => unreachable!("the callee is ready at once"),
    });
}

fn main() {
    if resil::TEST_UTIL {
        eprintln!("feature `test-util` is on: run with `-p benches` alone");
        std::process::exit(2);
    }
    let mut args = std::env::args().skip(1);
    let scenario = args.next().expect("a scenario");
    let calls: u64 = args.next().and_then(|calls| calls.parse().ok()).expect("how many calls");
    // Calibrating the clock takes as long as it takes.
    resil::warm_up();
    // A window of successes makes the breaker clean.
    run(2_000, guarded::breaker_by_hand);

    match scenario.as_str() {
        "bare" => run(calls, callee),
        "breaker/floor" => run(calls, floor::breaker),
        "breaker" => run(calls, guarded::breaker),
        "bulkhead/floor" => run(calls, floor::bulkhead),
        "bulkhead/by-hand" => run(calls, guarded::bulkhead_by_hand),
        "bulkhead" => run(calls, guarded::bulkhead),
        "bulkhead-async/floor" => run_async(calls, floor::bulkhead_async),
        "bulkhead-async" => run_async(calls, guarded::bulkhead_async),
        "bulkhead/refused" => {
            let _closed = guarded::BULKHEAD.set_max_concurrent(0);
            run(calls, guarded::bulkhead_by_hand);
        }
        "bulkhead/floor-full" => floor::BULKHEAD.fill(),
        "rate-limiter/floor" => run(calls, floor::rate_limiter),
        "rate-limiter/by-hand" => run(calls, guarded::rate_limiter_by_hand),
        "rate-limiter" => run(calls, guarded::rate_limiter),
        "rate-limiter/refused" => {
            guarded::QUOTA
                .set_rate(resil::Rate::new(1, std::time::Duration::from_secs(3_600)))
                .expect("a rate");
            guarded::QUOTA.drain();
            run(calls, guarded::rate_limiter_by_hand);
        }
        "whole/floor" => run(calls, floor::whole),
        "whole" => run(calls, guarded::whole),
        "whole-async" => run_async(calls, guarded::whole_async),
        "retry/floor" => run(calls, floor::retry),
        "retry" => run(calls, guarded::retry),
        "retry-budget/floor" => run(calls, floor::retry_budget),
        "retry-budget" => {
            // Looked at as if it were full. To fill it would take a clock, and calibrating that as long as it likes.
            guarded::policies::retry_budget::benches.disable();
            run(calls, guarded::retry_budget);
        }
        "stack/floor" => run(calls, floor::stack),
        "stack" => run(calls, guarded::stack),
        "timeout/floor" => run(calls, floor::timeout),
        "timeout" => run(calls, guarded::timeout),
        "deadline" => run(calls, guarded::deadline),
        "with-expiry/floor" => run(calls, floor::with_expiry),
        "with-expiry" => run(calls, guarded::with_expiry),
        "bare-async" => run_async(calls, floor::bare_async),
        "breaker-async/floor" => run_async(calls, floor::breaker_async),
        "breaker-async" => run_async(calls, guarded::breaker_async),
        "timeout-async" => run_async(calls, guarded::timeout_async),
        "deadline-async" => run_async(calls, guarded::deadline_async),
        "fallback" => run(calls, guarded::fallback),
        "stack-async" => run_async(calls, guarded::stack_async),
        "breaker/by-hand" => run(calls, guarded::breaker_by_hand),
        "breaker/refused" => {
            guarded::BREAKER.force_open();
            run(calls, guarded::breaker_by_hand);
        }
        "breaker/floor-open" => floor::BREAKER.open(),
        other => panic!("no scenario `{other}`"),
    }
}
