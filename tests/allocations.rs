//! What allocates: counted, on the thread that runs the test.

#![allow(unsafe_code)] // a global allocator is one

use resil::{
    Bulkhead, CircuitBreaker, Event, Kind, Observer, ObserverAlreadySet, Reason, RetryBudget,
    State, resilient, set_observer,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tests::{Fault, breaker_of, bulkhead_of, count, limiter_of, poll_once};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands every request to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is going away has no count any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract, and `pointer` came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `run` allocates.
fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn a_permit_by_hand_never_allocates_whatever_comes_of_it() {
    static BREAKER: CircuitBreaker = CircuitBreaker::builder("allocations").min_calls(100).build();
    BREAKER.acquire().unwrap().success(); // the thread takes its stripe
    let calls = || {
        for _ in 0..1_000 {
            BREAKER.acquire().expect("closed").success();
            BREAKER.acquire().expect("closed").ignore();
            drop(BREAKER.acquire().expect("closed"));
        }
        for _ in 0..1_000 {
            if let Ok(permit) = BREAKER.acquire() {
                permit.failure();
            }
        }
    };
    assert_eq!(allocations(calls), 0);
    assert_eq!(BREAKER.state(), State::Open, "so some of them were refused");
}

#[test]
fn a_place_in_a_bulkhead_never_allocates_whether_it_is_free_refused_or_waited_for() {
    static POOL: Bulkhead = Bulkhead::builder("allocations")
        .max_concurrent(2)
        .wait(Duration::from_micros(1))
        .queue(2)
        .build();
    static BUSY: Bulkhead = Bulkhead::builder("allocations_busy")
        .max_concurrent(1)
        .wait(Duration::from_secs(3_600))
        .build();
    let calls = || {
        let free = POOL.acquire().unwrap();
        drop((POOL.acquire_blocking().unwrap(), free));
        let one = polled(POOL.acquire_async()).unwrap();
        let two = POOL.acquire().unwrap();
        assert!(POOL.acquire().is_err(), "refused at once");
        assert!(POOL.acquire_blocking().is_err(), "refused after a wait");
        let mut waits = pin!(POOL.acquire_async());
        assert!(poll_once(waits.as_mut()).is_pending());
        let left_waiting = poll_once(pin!(POOL.acquire_async()));
        assert!(left_waiting.is_pending());
        drop(one);
        assert!(poll_once(waits).is_ready(), "served, or too late");
        drop(two);
    };
    let handed_over = || {
        let mut slot = BUSY.acquire_blocking().unwrap();
        for _ in 0..100 {
            let mut waits = pin!(BUSY.acquire_async());
            assert!(poll_once(waits.as_mut()).is_pending());
            drop(slot);
            slot = polled(waits).unwrap();
        }
    };
    // The thread takes its stripe, the timer makes room, and the thread its handle.
    calls();
    handed_over();
    assert_eq!(allocations(calls), 0);
    assert_eq!(allocations(handed_over), 0);
}

#[test]
fn a_thread_that_waits_for_a_place_never_allocates() {
    static BUSY: Bulkhead = Bulkhead::builder("allocations_thread")
        .max_concurrent(1)
        .wait(Duration::from_secs(3_600))
        .build();
    let slot = std::sync::Mutex::new(None);
    std::thread::scope(|scope| {
        for round in 0..2 {
            *slot.lock().unwrap() = Some(BUSY.acquire().unwrap());
            scope.spawn(|| {
                while BUSY.waiting() == 0 {
                    std::thread::yield_now();
                }
                let held = slot.lock().unwrap().take();
                drop(held);
            });
            let allocated = allocations(|| drop(BUSY.acquire_blocking().unwrap()));
            assert!(allocated == 0 || round == 0, "{allocated}");
        }
    });
}

// ---- through the attribute ------------------------------------------------------------------------------------------------

fn outcome(good: bool) -> Result<u32, Fault> {
    if good { Ok(1) } else { Err(Fault::Mine) }
}

static PAYS: RetryBudget = RetryBudget::builder("pays").build();

#[resilient(
    fallback(error = |error| Err(error)),
    deadline = "1h",
    retry(max = 3, backoff = constant("0s"), jitter = none, on = Err(Fault::Down(_)), budget = self::PAYS),
    circuit_breaker(window = 1024, min_calls = 1024),
    rate_limiter(rate = "1000000/s", wait = "1s"),
    bulkhead(max_concurrent = 1, wait = "1s"),
    timeout = "10m",
    name = "sync"
)]
fn blocking(good: bool) -> Result<u32, Fault> {
    outcome(good)
}

#[resilient(
    fallback(error = |error| Err(error)),
    deadline = "1h",
    retry(max = 3, backoff = constant("0s"), jitter = none, on = Err(Fault::Down(_)), budget = self::PAYS),
    circuit_breaker(window = 1024, min_calls = 1024),
    rate_limiter(rate = "1000000/s", wait = "1s"),
    bulkhead(max_concurrent = 1, wait = "1s"),
    timeout = "10m",
    name = "async"
)]
async fn ready(good: bool) -> Result<u32, Fault> {
    outcome(good)
}

fn polled<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = poll_once(future.as_mut()) {
            return output;
        }
    }
}

/// Checks that `call` does not allocate, once the thread has its stripe and the timer its room.
fn allocates_nothing<R: PartialEq + std::fmt::Debug>(call: impl Fn() -> R, expected: &R) {
    for _ in 0..10 {
        assert_eq!(call(), *expected);
    }
    let calls = || (0..1_000).for_each(|_| assert_eq!(call(), *expected));
    assert_eq!(allocations(calls), 0);
}

#[test]
fn a_guarded_call_that_succeeds_or_fails_never_allocates() {
    allocates_nothing(|| blocking(true), &Ok(1));
    allocates_nothing(|| polled(ready(true)), &Ok(1));
    // Below min_calls, so that none is refused.
    let failures = || {
        for _ in 0..100 {
            assert_eq!(blocking(false), Err(Fault::Mine));
            assert_eq!(polled(ready(false)), Err(Fault::Mine));
        }
    };
    assert_eq!(allocations(failures), 0);
}

#[test]
fn a_refusal_never_allocates_whichever_gate_it_is() {
    #[resilient(
        retry(max = 3),
        circuit_breaker,
        rate_limiter(rate = "1000/d", burst = 1_000_000),
        bulkhead(max_concurrent = 1),
        name = "refusing"
    )]
    fn blocking() -> Result<u32, Fault> {
        Ok(1)
    }
    #[resilient(
        deadline = "1h",
        retry(max = 3),
        circuit_breaker,
        rate_limiter(rate = "1000/d", burst = 1_000_000),
        bulkhead(max_concurrent = 1),
        timeout = "10m",
        name = "refusing_async"
    )]
    async fn asynchronous() -> Result<u32, Fault> {
        Ok(1)
    }
    let reason = |refused: Result<u32, Fault>| {
        refused.unwrap_err().refusal().map(|refused| refused.reason())
    };
    let refuse = |expected: Reason| {
        allocates_nothing(|| reason(blocking()), &Some(expected));
        allocates_nothing(|| reason(polled(asynchronous())), &Some(expected));
    };
    let both = ["refusing", "refusing_async"];
    let inside = both.map(|name| bulkhead_of(name).acquire().unwrap());
    refuse(Reason::BulkheadFull);
    for name in both {
        limiter_of(name).drain();
    }
    refuse(Reason::RateLimited);
    for name in both {
        breaker_of(name).force_open();
    }
    refuse(Reason::CircuitOpen);
    drop(inside);
}

#[test]
fn a_retry_without_a_wait_never_allocates() {
    #[resilient(retry(max = 3, backoff = constant("0s"), jitter = none), name = "retrying")]
    fn blocking(calls: &Cell<u32>) -> Result<u32, Fault> {
        calls.set(calls.get() + 1);
        if calls.get().is_multiple_of(3) { Ok(3) } else { Err(Fault::Down(1)) }
    }
    #[resilient(retry(max = 3, backoff = constant("0s"), jitter = none), timeout = "10m", name = "retrying_async")]
    async fn asynchronous(calls: &Cell<u32>) -> Result<u32, Fault> {
        blocking(calls)
    }
    let calls = Cell::new(0);
    allocates_nothing(|| blocking(&calls), &Ok(3));
    allocates_nothing(|| polled(asynchronous(&calls)), &Ok(3));
}

static BUDGET: RetryBudget = RetryBudget::builder("allocations").min_per_sec(0).build();
resil::register!(BUDGET);

#[test]
fn a_retry_that_a_budget_grants_or_refuses_never_allocates() {
    #[resilient(retry(max = 3, backoff = constant("0s"), jitter = none, budget = self::BUDGET), name = "budgeted")]
    fn blocking() -> Result<u32, Fault> {
        Err(Fault::Mine)
    }
    #[resilient(retry(max = 3, backoff = constant("0s"), jitter = none, budget = self::BUDGET), timeout = "10m", name = "budgeted_async")]
    async fn asynchronous() -> Result<u32, Fault> {
        blocking()
    }
    allocates_nothing(blocking, &Err(Fault::Mine));
    allocates_nothing(|| polled(asynchronous()), &Err(Fault::Mine));
    let of = |counter| count(Kind::RetryBudget, "allocations", counter);
    assert!(of("withdrawn") > 0 && of("refused") > 0);
}

#[test]
fn a_timeout_that_does_not_fire_never_allocates() {
    #[resilient(
        deadline = "1h",
        retry(max = 3),
        circuit_breaker(slow_call = "1m"),
        timeout = "10m",
        name = "pending"
    )]
    async fn pending() -> Result<u32, Fault> {
        let mut polls = 0;
        std::future::poll_fn(|_| {
            polls += 1;
            if polls < 3 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        Ok(1)
    }
    allocates_nothing(|| polled(pending()), &Ok(1));
    let abandoned = || {
        for _ in 0..1_000 {
            assert!(poll_once(pin!(pending())).is_pending());
        }
    };
    assert_eq!(allocations(abandoned), 0, "nor does a call that is dropped");
}

#[test]
fn a_sync_call_that_is_late_and_a_hook_that_runs_never_allocate() {
    #[resilient(
        timeout = "10m",
        retry(max = 2),
        circuit_breaker(min_calls = 10_000, window = "1m"),
        name = "watched"
    )]
    fn watched(depth: u32) -> Result<u32, Fault> {
        resil::deadline::check()?;
        resil::deadline::with_expiry(|| (), || if depth > 1 { watched(depth - 1) } else { Ok(1) })
    }
    #[resilient(timeout = "1ns", name = "late")]
    fn late(good: bool) -> Result<u32, Fault> {
        // One nanosecond is over before the clock can be read again.
        resil::deadline::with_expiry(|| (), || outcome(good))
    }
    allocates_nothing(|| watched(1), &Ok(1));
    allocates_nothing(|| watched(4), &Ok(1));
    let ended = |outcome: Result<u32, Fault>| outcome.map_err(|error| error.refusal().is_some());
    allocates_nothing(|| ended(late(true)), &Ok(1));
    allocates_nothing(|| ended(late(false)), &Err(true));
    assert!(count(Kind::Timeout, "late", "late") > 0);
}

#[test]
fn rg11_observers_do_not_pile_up() {
    struct Deaf;
    impl Observer for Deaf {
        fn event(&self, _event: &Event) {}
    }
    set_observer(&Deaf).expect("the first");
    let many =
        || (0..1_000_000).for_each(|_| assert_eq!(set_observer(&Deaf), Err(ObserverAlreadySet)));
    assert_eq!(allocations(many), 0);
}
