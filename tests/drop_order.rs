//! X8: what is dropped when a guarded call ends, is refused or is cancelled: the body's values, the permit, the arguments.

#![allow(clippy::needless_pass_by_value)] // when they are dropped is the subject

use resil::{CircuitBreaker, Kind, resilient};
use std::cell::RefCell;
use std::future::pending;
use std::pin::pin;
use std::task::Poll;
use tests::{Fault, breaker_of, counts, poll_once};

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
