//! X8: what is dropped when a guarded call ends, is refused or is cancelled: the body's values, the permit, the arguments.

#![allow(clippy::needless_pass_by_value)] // when they are dropped is the subject

use resil::{CircuitBreaker, Kind, resilient};
use std::cell::RefCell;
use std::future::pending;
use std::pin::pin;
use std::task::Poll;
use tests::{Fault, breaker_of, bulkhead_of, counts, poll_once};

/// Writes its name down when it is dropped.
struct Noted<'a>(&'static str, &'a RefCell<Vec<String>>);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0.to_owned());
    }
}

/// Writes down, when it is dropped, whether the only probe of a breaker is still out.
struct Probe<'a>(&'static str, &'static CircuitBreaker, &'a RefCell<Vec<String>>);

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        let place = if self.1.acquire().is_err() { "taken" } else { "free" };
        self.2.borrow_mut().push(format!("{}: {place}", self.0));
    }
}

type Log = RefCell<Vec<String>>;

/// A breaker that is half-open, and of which one probe may be out.
fn half_open(name: &str) -> (resil::testing::Paused, &'static CircuitBreaker) {
    let clock = resil::testing::pause();
    let breaker = breaker_of(name);
    breaker.acquire().unwrap().failure();
    clock.advance("1s");
    (clock, breaker)
}

#[test]
fn x08_the_permit_outlives_the_work_and_the_arguments_outlive_the_permit() {
    #[resilient(circuit_breaker(window = 1, min_calls = 1, probes = 1, open_for = "1s"), ignore = Err(_), name = "x08_sync")]
    fn call(
        argument: Probe<'_>,
        breaker: &'static CircuitBreaker,
        log: &Log,
    ) -> Result<u32, Fault> {
        let _ = &argument;
        let _local = Probe("local", breaker, log);
        Err(Fault::Mine)
    }
    let (_clock, breaker) = half_open("x08_sync");
    let log = Log::default();
    call(Probe("argument", breaker, &log), breaker, &log).unwrap_err();
    assert_eq!(log.into_inner(), ["local: taken", "argument: free"]);
}

/// What a body that never ends leaves behind.
async fn hangs(
    argument: &Probe<'_>,
    breaker: &'static CircuitBreaker,
    log: &Log,
) -> Result<u32, Fault> {
    let _ = argument;
    let _local = Probe("local", breaker, log);
    pending().await
}

#[test]
fn x08_a_cancelled_future_drops_the_body_before_the_permit() {
    #[resilient(
        circuit_breaker(window = 1, min_calls = 1, probes = 1, open_for = "1s"),
        name = "x08_dropped"
    )]
    async fn call(
        argument: Probe<'_>,
        breaker: &'static CircuitBreaker,
        log: &Log,
    ) -> Result<u32, Fault> {
        hangs(&argument, breaker, log).await
    }
    let (_clock, breaker) = half_open("x08_dropped");
    let log = Log::default();
    {
        let mut future = pin!(call(Probe("argument", breaker, &log), breaker, &log));
        assert!(poll_once(future.as_mut()).is_pending());
    }
    assert_eq!(log.into_inner(), ["local: taken", "argument: free"]);
}

#[test]
fn x08_a_timeout_drops_the_body_before_the_permit() {
    #[resilient(
        circuit_breaker(window = 1, min_calls = 1, probes = 1, open_for = "1s"),
        timeout = "100ms",
        name = "x08_timeout"
    )]
    async fn call(breaker: &'static CircuitBreaker, log: &Log) -> Result<u32, Fault> {
        let _local = Probe("local", breaker, log);
        pending().await
    }
    let (clock, breaker) = half_open("x08_timeout");
    let log = Log::default();
    let mut future = pin!(call(breaker, &log));
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("100ms");
    assert!(poll_once(future.as_mut()).is_ready());
    assert_eq!(*log.borrow(), ["local: taken"]);
    assert_eq!(counts(Kind::CircuitBreaker, "x08_timeout"), [("failure", 2), ("refused", 1)]);
}

/// Writes down, when it is dropped, how many are inside of a bulkhead.
struct Inside<'a>(&'static str, &'static str, &'a Log);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let inside = bulkhead_of(self.1).in_flight();
        self.2.borrow_mut().push(format!("{}: {inside}", self.0));
    }
}

#[test]
fn x08_k02_the_place_outlives_the_work_and_no_more() {
    #[resilient(
        bulkhead(max_concurrent = 1),
        retry(max = 2, backoff = constant("0s"), jitter = none),
        circuit_breaker,
        fallback = |_| { drop(Inside("fallback", "k02", log)); Err(Fault::Mine) },
        name = "k02"
    )]
    fn call(argument: Inside<'_>, log: &Log) -> Result<u32, Fault> {
        let _ = &argument;
        let _local = Inside("local", "k02", log);
        Err(Fault::Down(1))
    }
    let log = Log::default();
    call(Inside("argument", "k02", &log), &log).unwrap_err();
    assert_eq!(log.into_inner(), ["local: 1", "local: 1", "fallback: 0", "argument: 0"]);
}

#[test]
fn x08_k02_a_place_around_all_attempts_outlives_all_of_them() {
    #[resilient(
        order = [fallback, bulkhead, retry, circuit_breaker],
        bulkhead(max_concurrent = 1),
        retry(max = 2, backoff = constant("0s"), jitter = none, before = drop(Inside("hook", "k02_around", log))),
        circuit_breaker,
        fallback = |_| { drop(Inside("fallback", "k02_around", log)); Err(Fault::Mine) },
        name = "k02_around"
    )]
    fn call(log: &Log) -> Result<u32, Fault> {
        let _local = Inside("local", "k02_around", log);
        Err(Fault::Down(1))
    }
    let log = Log::default();
    call(&log).unwrap_err();
    assert_eq!(log.into_inner(), ["local: 1", "hook: 1", "local: 1", "fallback: 0"]);
}

#[test]
fn x08_k02_cancelled_or_out_of_time_the_work_is_dropped_before_its_place() {
    #[resilient(bulkhead(max_concurrent = 1), timeout = "100ms", name = "k02_async")]
    async fn call(argument: Inside<'_>, log: &Log) -> Result<u32, Fault> {
        let _ = &argument;
        let _local = Inside("local", "k02_async", log);
        pending().await
    }
    let clock = resil::testing::pause();
    let log = Log::default();
    for out_of_time in [false, true] {
        let mut future = Box::pin(call(Inside("argument", "k02_async", &log), &log));
        assert!(poll_once(future.as_mut()).is_pending());
        if out_of_time {
            clock.advance("100ms");
            assert!(poll_once(future.as_mut()).is_ready());
            assert_eq!(bulkhead_of("k02_async").in_flight(), 0, "BH05: though the future is there");
        }
        drop(future);
        assert_eq!(log.take(), ["local: 1", "argument: 0"]);
    }
}

/// What is told of a bulkhead that is asked for once and refused later on.
#[test]
fn l12_what_was_taken_is_back_before_a_refused_call_waits() {
    #[resilient(
        retry(max = 2, backoff = constant("0s"), jitter = none, on_rejected = true, before = seen.borrow_mut().push(bulkhead_of("l12").in_flight())),
        order = [retry, bulkhead, rate_limiter],
        bulkhead(max_concurrent = 1),
        rate_limiter(rate = "10/s", burst = 1),
        name = "l12"
    )]
    fn call(seen: &RefCell<Vec<u32>>) -> Result<u32, Fault> {
        let _ = seen;
        Ok(1)
    }
    let _clock = resil::testing::pause();
    let seen = RefCell::default();
    assert_eq!((call(&seen), call(&seen)), (Ok(1), Ok(1)));
    assert_eq!(seen.into_inner(), [0], "between the refusal and the second attempt");
}

#[test]
fn x08_nothing_is_taken_before_the_first_poll() {
    #[resilient(
        circuit_breaker(window = 1, min_calls = 1, probes = 1, open_for = "1s"),
        name = "x08_unpolled"
    )]
    async fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    let (_clock, breaker) = half_open("x08_unpolled");
    let future = call();
    drop(breaker.acquire().expect("the place is free"));
    assert_eq!(poll_once(pin!(future)), Poll::Ready(Ok(1)));
}

/// The same body with and without the attribute: arguments that are used, moved, unused, unnamed and taken apart.
macro_rules! twins {
    ([$($async:ident)?] $call:expr) => {{
        mod plain {
            use super::*;
            pub(super) $($async)? fn call<'a>(used: Noted<'a>, moved: Noted<'a>, _: Noted<'a>, _unused: Noted<'a>, (left, _): (Noted<'a>, Noted<'a>), last: Noted<'a>) -> Result<u32, Fault> {
                let _local = Noted("local", used.1);
                drop(moved);
                let _ = (&left, &last);
                Ok(1)
            }
        }
        mod guarded {
            use super::*;
            #[resilient(circuit_breaker)]
            pub(super) $($async)? fn call<'a>(used: Noted<'a>, moved: Noted<'a>, _: Noted<'a>, _unused: Noted<'a>, (left, _): (Noted<'a>, Noted<'a>), last: Noted<'a>) -> Result<u32, Fault> {
                let _local = Noted("local", used.1);
                drop(moved);
                let _ = (&left, &last);
                Ok(1)
            }
        }
        let run = |guarded: bool| {
            let log = Log::default();
            {
                let note = |name| Noted(name, &log);
                let (used, moved, unnamed, unused) = (note("used"), note("moved"), note("unnamed"), note("unused"));
                let (pair, last) = ((note("left"), note("right")), note("last"));
                if guarded {
                    assert_eq!($call(guarded::call(used, moved, unnamed, unused, pair, last)), Ok(1));
                } else {
                    assert_eq!($call(plain::call(used, moved, unnamed, unused, pair, last)), Ok(1));
                }
            }
            log.into_inner()
        };
        (run(true), run(false))
    }};
}

fn itself<T>(value: T) -> T {
    value
}

fn polled<F: Future>(future: F) -> F::Output {
    let Poll::Ready(output) = poll_once(pin!(future)) else { panic!("nothing waits") };
    output
}

#[test]
fn mc17_arguments_are_dropped_in_the_order_of_the_bare_function() {
    let (guarded, plain) = twins!([] itself);
    assert_eq!(guarded, plain);
    assert_eq!(guarded.len(), 8);
}

#[test]
fn mc17_arguments_of_an_async_function_are_dropped_in_the_order_of_the_bare_one() {
    let (guarded, plain) = twins!([async] polled);
    assert_eq!(guarded, plain);
    assert_eq!(guarded.len(), 8);
}

#[test]
fn mc17_a_refused_call_has_dropped_its_arguments_when_it_returns() {
    #[resilient(circuit_breaker, name = "mc17_refused")]
    fn call(argument: Noted<'_>, _unused: Noted<'_>) -> Result<u32, Fault> {
        let _ = &argument;
        Ok(1)
    }
    breaker_of("mc17_refused").force_open();
    let log = Log::default();
    assert!(call(Noted("argument", &log), Noted("unused", &log)).is_err());
    assert_eq!(log.into_inner(), ["unused", "argument"]);
}

#[test]
fn mc17_a_guard_that_the_body_never_mentions_lives_to_its_end() {
    #[resilient(circuit_breaker, name = "mc17_guard")]
    fn call(_guard: Noted<'_>, log: &Log) -> Result<u32, Fault> {
        log.borrow_mut().push("body".to_owned());
        Ok(1)
    }
    let log = Log::default();
    call(Noted("guard", &log), &log).unwrap();
    assert_eq!(log.into_inner(), ["body", "guard"]);
}
