//! Every way out of a guarded function, under the full stack: nothing leaks, every call is counted once, the breaker can
//! still close and the only place in the bulkhead is free.
//!
//! Each call is the first of two probes, so that a place that is not given back is missed at once.

use resil::{Cause, Classify, Judgement, Kind, Rejected, resilient};
use std::num::ParseIntError;
use std::pin::pin;
use std::task::Poll;
use tests::trial::{Then, Trial, caught};
use tests::{
    Calls, Fault, at_once, breaker_of, count, counts, on_a_manual_clock, poll_once, worlds,
};

/// An exit under a stack without limits of time, and under one of everything.
macro_rules! exit {
    ($name:ident: [$($own:tt)*] ($($arg:ident: $ty:ty),*) -> $ret:ty { $($body:tt)* } |$world:ident| { $($check:tt)* }) => {
        mod $name {
            use super::*;
            worlds! {
                plain:
                [
                    fallback = |cause| match cause { Cause::Error(error) => Err(error), Cause::Rejected(_) => Ok(0) },
                    circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
                    rate_limiter(rate = "1000/s"),
                    bulkhead(max_concurrent = 1),
                    $($own)*
                ]
                ($($arg: $ty),*) -> $ret { $($body)* }
                |$world| { $($check)* }
            }
            worlds! {
                with_limits:
                [
                    fallback = |cause| match cause { Cause::Error(error) => Err(error), Cause::Rejected(_) => Ok(0) },
                    deadline = "1h",
                    circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
                    rate_limiter(rate = "1000/s", wait = "1s"),
                    bulkhead(max_concurrent = 1, wait = "1s"),
                    timeout = "1m",
                    $($own)*
                ]
                ($($arg: $ty),*) -> $ret { $($body)* }
                |$world| { $($check)* }
            }
        }
    };
}

// ---- by returning ---------------------------------------------------------------------------------------------------------

exit! {
    success:
    [retry(max = 3)]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert_eq!(caught(call(&calls)).await.ok(), Some(Ok(1)));
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("first_try", 1)]);
        trial.is_over(1, Then::Closed).await;
    }
}

exit! {
    an_error_at_the_end:
    [retry(max = 3, on = Err(Fault::Down(_)))]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); Err(Fault::Mine) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert_eq!(caught(call(&calls)).await.ok(), Some(Err(Fault::Mine)));
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("not_retried", 1)]);
        assert_eq!(counts(Kind::Fallback, NAME), [("error", 1)]);
        trial.is_over(1, Then::Free(1)).await;
    }
}

#[derive(Debug, PartialEq, thiserror::Error)]
enum Parsing {
    #[error("not a number")]
    Number(#[from] ParseIntError),
    #[error("refused")]
    Refused(#[from] Rejected),
}

exit! {
    a_question_mark:
    [retry(max = 2, backoff = constant("10ms"), jitter = none)]
    (calls: &Calls, text: &str) -> Result<u32, Parsing> {
        calls.begin();
        let number: u32 = text.parse()?;
        Ok(number)
    }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(matches!(caught(call(&calls, "x")).await, Ok(Err(Parsing::Number(_)))));
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 2), ("exhausted", 1), ("retries", 1)]);
        trial.is_over(2, Then::Open).await;
    }
}

exit! {
    an_early_return:
    [retry(max = 3, on = Err(Fault::Down(_)))]
    (calls: &Calls, items: &[u32]) -> Result<u32, Fault> {
        calls.begin();
        for item in items {
            if let 7.. = item {
                return Ok(*item);
            }
        }
        Err(Fault::Mine)
    }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert_eq!(caught(call(&calls, &[0, 1, 7, 2])).await.ok(), Some(Ok(7)));
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("first_try", 1)]);
        trial.is_over(1, Then::Closed).await;
    }
}

exit! {
    a_refusal:
    [retry(max = 3)]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let (mut trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        let probes = [(); 2].map(|()| breaker_of(NAME).acquire().unwrap());
        assert_eq!(caught(call(&calls)).await.ok(), Some(Ok(0)), "the fallback");
        assert_eq!((calls.count(), counts(Kind::Fallback, NAME)), (0, vec![("rejected", 1)]));
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("refused", 1)]);
        trial.asked += 2;
        drop(probes);
        trial.is_over(1, Then::Free(2)).await;
    }
}

// ---- by unwinding ---------------------------------------------------------------------------------------------------------

exit! {
    a_panic_in_the_body:
    [retry(max = 3)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); panic!("a bug") }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls)).await.is_err());
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("abandoned", 1)]);
        assert_eq!((calls.count(), counts(Kind::Fallback, NAME)), (1, vec![]));
        trial.is_over(1, Then::Free(1)).await;
    }
}

fn panics() -> bool {
    panic!("a bug in a guard")
}

exit! {
    r16_a_panic_in_a_pattern_guard:
    [retry(max = 3), ignore = Err(Fault::Mine) if panics()]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); Err(Fault::Mine) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls)).await.is_err());
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("abandoned", 1)]);
        trial.is_over(1, Then::Free(2)).await;
    }
}

/// Cannot be cloned without an accident.
#[derive(Debug)]
struct Fragile;

impl Clone for Fragile {
    fn clone(&self) -> Self {
        panic!("a bug in Clone")
    }
}

exit! {
    a_panic_in_the_clone_of_an_argument:
    [retry(max = 3), clone(argument)]
    (calls: &Calls, argument: Fragile) -> Result<u32, Fault> { let Fragile = argument; Ok(calls.begin()) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls, Fragile)).await.is_err());
        assert_eq!(calls.count(), 0);
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("abandoned", 1)]);
        trial.is_over(1, Then::Free(2)).await;
    }
}

#[derive(Debug)]
struct Unclear;

impl Classify for Unclear {
    fn classify(&self) -> Judgement {
        panic!("a bug in Classify")
    }
}

exit! {
    a_panic_in_classify:
    [retry(max = 3)]
    (calls: &Calls) -> Result<u32, Unclear> { calls.begin(); Err(Unclear) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls)).await.is_err());
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("abandoned", 1)]);
        trial.is_over(1, Then::Free(2)).await;
    }
}

exit! {
    a_panic_in_the_hook:
    [retry(max = 3, backoff = constant("10ms"), jitter = none, before = { panics(); })]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls)).await.is_err());
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 2), ("abandoned", 1), ("retries", 1)]);
        trial.is_over(1, Then::Free(1)).await;
    }
}

exit! {
    a_panic_in_the_delay:
    [retry(max = 3, attempt = n, backoff = by({ assert_ne!(n, 1, "a bug in the delay"); std::time::Duration::ZERO }))]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls)).await.is_err());
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("abandoned", 1)]);
        trial.is_over(1, Then::Free(1)).await;
    }
}

worlds! {
    a_panic_in_the_fallback:
    [
        fallback = |_| { panics(); Ok(0) },
        retry(max = 3, on = Err(Fault::Down(_))),
        circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
    ]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); Err(Fault::Mine) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls)).await.is_err());
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("not_retried", 1)]);
        trial.is_over(1, Then::Free(1)).await;
    }
}

// ---- one guarded call inside another --------------------------------------------------------------------------------------

#[resilient(circuit_breaker, retry(max = 2, backoff = constant("0s"), jitter = none), name = "nested_inner")]
fn inner(fails: bool) -> Result<u32, Fault> {
    if fails { Err(Fault::Down(1)) } else { Ok(1) }
}

exit! {
    a_nested_call:
    [retry(max = 3, on = Err(Fault::Mine))]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); inner(false)?; inner(true) }
    |world| {
        let before = count(Kind::CircuitBreaker, "nested_inner", "success");
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert_eq!(caught(call(&calls)).await.ok(), Some(Err(Fault::Down(1))));
        assert!(count(Kind::CircuitBreaker, "nested_inner", "success") > before, "the inner one has its own");
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("not_retried", 1)]);
        trial.is_over(1, Then::Free(1)).await;
    }
}

#[test]
fn a_recursive_call_is_a_call_of_its_own() {
    #[resilient(
        retry(max = 2),
        circuit_breaker(
            window = 2,
            min_calls = 2,
            open_for = "1s",
            probes = 2,
            failure_rate = "100%"
        ),
        name = "recursive"
    )]
    fn down_to(level: u32) -> Result<u32, Fault> {
        if level == 0 { Ok(0) } else { Ok(down_to(level - 1)? + 1) }
    }
    let (_clock, world) = on_a_manual_clock();
    let trial = at_once(Trial::begin(&world, "recursive"));
    assert_eq!(down_to(1), Ok(1), "as many probes as levels");
    assert_eq!(counts(Kind::Retry, "recursive"), [("calls", 2), ("attempts", 2), ("first_try", 2)]);
    at_once(trial.is_over(2, Then::Closed));
    assert_eq!(down_to(100), Ok(100));
    assert_eq!(
        counts(Kind::CircuitBreaker, "recursive"),
        [("success", 102), ("failure", 2), ("lost", 1)],
        "the outer probe came back when the inner one had closed it"
    );
}

#[test]
fn a_recursive_async_call_is_a_call_of_its_own() {
    #[resilient(
        deadline = "1m",
        retry(max = 2),
        circuit_breaker,
        timeout = "1s",
        name = "recursive_async"
    )]
    async fn down_to(level: u32) -> Result<u32, Fault> {
        if level == 0 { Ok(0) } else { Ok(Box::pin(down_to(level - 1)).await? + 1) }
    }
    assert_eq!(poll_once(pin!(down_to(10))), Poll::Ready(Ok(10)));
    assert_eq!(counts(Kind::CircuitBreaker, "recursive_async"), [("success", 11)]);
}
