//! What a healthy call writes: nothing that another thread reads, and nothing on the heap.

#![cfg(target_os = "linux")] // reads its own memory by way of the kernel

use resil::{
    Budget, Bulkhead, CircuitBreaker, Kind, Policy, RateLimiter, Retry, RetryBudget, Withdrawal,
    catalog, resilient,
};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::pin::pin;
use std::task::Poll;
use tests::{Fault, breaker_of, poll_once};

/// The memory of a value as it is now, read from outside.
fn bytes_of<T>(value: &'static T) -> Vec<u8> {
    let mut bytes = vec![0; size_of::<T>()];
    let address = std::ptr::from_ref(value).addr() as u64;
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, address).unwrap();
    bytes
}

const LINE: usize = 64;

/// The cache lines of `value` that `calls` changes.
fn lines_changed<T>(value: &'static T, calls: impl FnOnce()) -> Vec<usize> {
    assert_eq!(std::ptr::from_ref(value).addr() % LINE, 0);
    let before = bytes_of(value);
    calls();
    let after = bytes_of(value);
    let lines = before.chunks(LINE).zip(after.chunks(LINE)).enumerate();
    lines.filter_map(|(line, (before, after))| (before != after).then_some(line)).collect()
}

#[test]
fn ten_thousand_healthy_calls_write_one_line_of_their_own_thread() {
    static BREAKER: CircuitBreaker = CircuitBreaker::builder("healthy").build();
    let call = || BREAKER.acquire().expect("healthy").success();
    for _ in 0..100 {
        call(); // until the window is full of successes
    }
    let mine = lines_changed(&BREAKER, || (0..10_000).for_each(|_| call()));
    assert_eq!(mine.len(), 1, "the counts of this thread");

    let theirs =
        std::thread::spawn(move || lines_changed(&BREAKER, || (0..10_000).for_each(|_| call())));
    let theirs = theirs.join().unwrap();
    assert_eq!(theirs.len(), 1, "the counts of that thread");
    assert_ne!(mine, theirs);
}

#[test]
fn a_window_of_successes_after_a_failure_is_healthy_again() {
    static BREAKER: CircuitBreaker = CircuitBreaker::builder("recovered").build();
    let call = || BREAKER.acquire().expect("healthy").success();
    (0..100).for_each(|_| call());
    BREAKER.acquire().expect("healthy").failure();
    (0..100).for_each(|_| call());
    let mine = lines_changed(&BREAKER, || (0..1_000).for_each(|_| call()));
    assert_eq!(mine.len(), 1, "the counts of this thread");
}

#[test]
fn a_failure_does_write() {
    static BREAKER: CircuitBreaker = CircuitBreaker::builder("ailing").build();
    let changed = lines_changed(&BREAKER, || BREAKER.acquire().expect("closed").failure());
    assert!(changed.len() > 1, "the word, the window and a count: {changed:?}");
}

// ---- through the attribute ------------------------------------------------------------------------------------------------

#[resilient(fallback = |_| Ok(0), retry(max = 3), circuit_breaker, name = "sync")]
fn blocking(good: bool) -> Result<u32, Fault> {
    if good { Ok(1) } else { Err(Fault::Mine) }
}

#[resilient(fallback = |_| Ok(0), retry(max = 3), circuit_breaker, timeout = "1s", name = "async")]
async fn asynchronous(good: bool) -> Result<u32, Fault> {
    if good { Ok(1) } else { Err(Fault::Mine) }
}

/// The policy of this type and name.
fn policy<P: Policy>(kind: Kind, name: &str) -> &'static P {
    catalog().find(kind, name).expect("it is listed").downcast().expect("of this type")
}

/// That healthy calls of this function write one line of its breaker, one of its retry, and nothing else.
fn writes_two_lines(name: &'static str, call: fn()) {
    let (breaker, retry) = (breaker_of(name), policy::<Retry>(Kind::Retry, name));
    let changed = move || {
        call(); // the thread takes its stripe
        let calls = move || (0..10_000).for_each(|_| call());
        let mut in_retry = Vec::new();
        let in_breaker = lines_changed(breaker, || in_retry = lines_changed(retry, calls));
        (in_breaker, in_retry)
    };
    (0..100).for_each(|_| call()); // until the window is full of successes
    let mine = changed();
    let theirs = std::thread::spawn(changed).join().unwrap();
    for (of_breaker, of_retry) in [&mine, &theirs] {
        assert_eq!((of_breaker.len(), of_retry.len()), (1, 1), "counts of one thread");
    }
    assert!(mine.0 != theirs.0 && mine.1 != theirs.1, "and each thread has its own");
}

#[test]
fn ten_thousand_healthy_calls_of_a_guarded_function_write_the_counts_of_their_thread_only() {
    writes_two_lines("sync", || assert_eq!(blocking(true), Ok(1)));
}

#[test]
fn ten_thousand_healthy_calls_of_an_async_function_write_the_counts_of_their_thread_only() {
    let timeout = policy::<resil::Timeout>(Kind::Timeout, "async");
    let fallback = catalog().find(Kind::Fallback, "async").expect("it is listed");
    let changed = lines_changed(timeout, || {
        writes_two_lines("async", || {
            assert_eq!(poll_once(pin!(asynchronous(true))), Poll::Ready(Ok(1)));
        });
    });
    assert_eq!(changed, [0; 0], "a body that is ready asks nothing of the timeout");
    assert!(fallback.counters().iter().all(|counter| counter.value == 0));
}

static BUDGET: RetryBudget = RetryBudget::builder("healthy").build();

#[resilient(retry(max = 3, budget = self::BUDGET), name = "budgeted")]
fn budgeted() -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn g03_ten_thousand_calls_within_a_full_budget_write_nothing_of_it() {
    let call = || assert_eq!(budgeted(), Ok(1));
    (0..5_000).for_each(|_| call()); // until it is full
    let retry = policy::<Retry>(Kind::Retry, "budgeted");
    let mut in_budget = Vec::new();
    let in_retry = lines_changed(retry, || {
        in_budget = lines_changed(&BUDGET, || (0..10_000).for_each(|_| call()));
    });
    assert_eq!((in_budget.len(), in_retry.len()), (0, 1));

    assert_eq!(BUDGET.withdraw(), Withdrawal::Taken);
    let refilled = lines_changed(&BUDGET, || (0..10_000).for_each(|_| call()));
    assert_eq!(refilled, [0], "the balance, five times");
}

/// What the gates that count or place every call write beside that: a word that all callers share, and a count.
#[test]
fn a_healthy_call_of_the_whole_set_writes_two_words_that_others_read() {
    #[resilient(
        fallback = |_| Ok(0),
        deadline = "1h",
        retry(max = 3),
        circuit_breaker,
        rate_limiter(rate = "1000000/s"),
        bulkhead(max_concurrent = 8),
        timeout = "1s",
        name = "whole"
    )]
    fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    let limiter = policy::<RateLimiter>(Kind::RateLimiter, "whole");
    let bulkhead = policy::<Bulkhead>(Kind::Bulkhead, "whole");
    let [timeout, deadline] =
        [Kind::Timeout, Kind::Deadline].map(|kind| catalog().find(kind, "whole"));
    let mut in_bulkhead = Vec::new();
    let in_limiter = lines_changed(limiter, || {
        in_bulkhead = lines_changed(bulkhead, || {
            writes_two_lines("whole", || assert_eq!(call(), Ok(1)));
        });
    });
    // Two threads have called, each with a line of counts of its own; who has left left no trace in the bulkhead's word.
    assert_eq!((in_limiter.len(), in_bulkhead.len()), (3, 2));
    for limit in [timeout, deadline] {
        let counters = limit.expect("it is listed").counters();
        assert!(counters.iter().all(|counter| counter.value == 0), "{counters:?}");
    }
}
