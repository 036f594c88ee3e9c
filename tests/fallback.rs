//! The fallback through the attribute: rows F1 to F4 of the semantics.

use resil::{Cause, Event, Kind, Reason, Rejected, resilient};
use std::cell::RefCell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use tests::{
    Calls, Fault, World, breaker_of, count, counts, heard, listen, poll_once, without_a_runtime,
    worlds,
};

// ---- where it stands ------------------------------------------------------------------------------------------------------

worlds! {
    f01_retry_and_breaker_see_the_failures_and_the_fallback_comes_last:
    [
        fallback = |cause| Ok(match cause { Cause::Error(Fault::Down(number)) => 100 + number, _ => 0 }),
        retry(max = 3, backoff = constant("10ms"), jitter = none),
        circuit_breaker,
    ]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(103), "it got the newest error");
        assert_eq!((calls.count(), count(Kind::Retry, NAME, "exhausted")), (3, 1));
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 3)]);
        assert_eq!(counts(Kind::Fallback, NAME), [("error", 1)]);
        let ran = |event: &Event| matches!(event, Event::FallbackRan { rejected: None, .. });
        assert_eq!(heard(NAME).iter().filter(|event| ran(event)).count(), 1);
    }
}

worlds! {
    f01_a_success_needs_none:
    [fallback = |_| Ok(0), retry(max = 2)]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        assert_eq!(call(&Calls::new(&world)).await, Ok(1));
        assert_eq!(counts(Kind::Fallback, NAME), []);
    }
}

worlds! {
    f01_it_runs_outside_of_the_deadline:
    async [
        fallback = |cause| { calls.world().sleep("1s").await; Ok(u32::from(cause.rejected().is_some())) },
        deadline = "100ms",
    ]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        assert_eq!(call(&Calls::new(&world)).await, Ok(1));
        assert_eq!((world.ms(), counts(Kind::Fallback, NAME)), (1_100, vec![("timeout", 1)]));
    }
}

// ---- what it answers for --------------------------------------------------------------------------------------------------

worlds! {
    f02_neither_ignored_nor_aborted_outcomes_are_answered_for:
    [fallback = |_| Ok(0), retry(max = 3, abort = Err(Fault::Down(_))), ignore = Err(Fault::Mine)]
    (error: Fault) -> Result<u32, Fault> { Err(error) }
    |_world| {
        for error in [Fault::Mine, Fault::Down(1)] {
            assert_eq!(call(error).await, Err(error));
        }
        assert_eq!(counts(Kind::Fallback, NAME), []);
    }
}

worlds! {
    f02_a_panic_is_not_masked:
    [fallback = |_| Ok(0), circuit_breaker]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); panic!("a bug") }
    |world| {
        let calls = Calls::new(&world);
        let mut future = pin!(call(&calls));
        assert!(catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut()))).is_err());
        assert_eq!(counts(Kind::Fallback, NAME), []);
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 1)]);
    }
}

worlds! {
    f02_each_cause_has_its_own_answer:
    [
        fallback(rejected = |rejected| Ok(answer(&rejected)), error = |error| Err(if error == Fault::Down(1) { Fault::Down(9) } else { error })),
        circuit_breaker,
    ]
    (number: u32) -> Result<u32, Fault> { Err(Fault::Down(number)) }
    |_world| {
        assert_eq!(call(1).await, Err(Fault::Down(9)));
        breaker_of(NAME).force_open();
        assert_eq!(call(1).await, Ok(7));
        assert_eq!(counts(Kind::Fallback, NAME), [("error", 1), ("rejected", 1)]);
    }
}

fn answer(rejected: &Rejected) -> u32 {
    if rejected.reason() == Reason::CircuitOpen { 7 } else { 0 }
}

worlds! {
    f02_what_has_no_answer_goes_to_the_caller:
    [fallback(rejected = value(Ok(7))), circuit_breaker]
    () -> Result<u32, Fault> { Err(Fault::Down(1)) }
    |_world| {
        assert_eq!(call().await, Err(Fault::Down(1)));
        breaker_of(NAME).force_open();
        assert_eq!(call().await, Ok(7));
    }
}

worlds! {
    f02_what_cannot_happen_needs_no_answer:
    [fallback(rejected = value(Some(7))), circuit_breaker]
    (found: Option<u32>) -> Option<u32> { found }
    |_world| {
        assert_eq!((call(None).await, call(Some(1)).await), (None, Some(1)));
        breaker_of(NAME).force_open();
        assert_eq!(call(None).await, Some(7));
    }
}

worlds! {
    f02_a_timeout_has_an_answer_of_its_own:
    [fallback(timeout = |_| Ok(1), rejected = |_| Ok(2)), timeout = "100ms", circuit_breaker]
    (world: &World) -> Result<u32, Fault> { pass!(world, "1h"); Err(Fault::Mine) }
    |world| {
        assert_eq!(call(&world).await, Ok(1));
        breaker_of(NAME).force_open();
        assert_eq!(call(&world).await, Ok(2));
        assert_eq!(counts(Kind::Fallback, NAME), [("rejected", 1), ("timeout", 1)]);
    }
}

worlds! {
    f02_none_is_an_error_without_a_value:
    [fallback = |cause| if cause == Cause::Error(()) { Some(0) } else { Some(1) }, circuit_breaker, ignore = Some(9)]
    (found: Option<u32>) -> Option<u32> { found }
    |_world| {
        assert_eq!([call(Some(5)).await, call(None).await, call(Some(9)).await], [Some(5), Some(0), Some(9)]);
        breaker_of(NAME).force_open();
        assert_eq!(call(None).await, Some(1), "a refusal");
    }
}

worlds! {
    f02_a_plain_value_is_answered_for_only_when_it_was_refused:
    [fallback = |_| 0, circuit_breaker(window = 1, min_calls = 1, failure_rate = "100%"), failure = 5]
    (value: u32) -> u32 { value }
    |_world| {
        assert_eq!((call(5).await, call(6).await), (5, 0), "the failure itself, then the refusal");
    }
}

// ---- what comes of it -----------------------------------------------------------------------------------------------------

fn replace(cause: Cause<Fault>) -> Result<u32, Fault> {
    match cause {
        Cause::Error(Fault::Down(number)) => Err(Fault::Down(10 * number)),
        Cause::Error(other) => Err(other),
        Cause::Rejected(_) => Ok(0),
    }
}

worlds! {
    f03_the_fallbacks_own_error_is_returned_and_the_original_went_into_it:
    [fallback = replace, circuit_breaker]
    (number: u32) -> Result<u32, Fault> { Err(Fault::Down(number)) }
    |_world| {
        assert_eq!(call(4).await, Err(Fault::Down(40)));
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 1)], "once, for the body");
    }
}

worlds! {
    f03_the_arguments_are_in_scope:
    [fallback = |cause| { log.borrow_mut().push(cause.to_string()); Ok(7) }, circuit_breaker]
    (log: &RefCell<Vec<String>>) -> Result<u32, Fault> { let _ = log; Err(Fault::Down(3)) }
    |_world| {
        let log = RefCell::default();
        assert_eq!(call(&log).await, Ok(7));
        assert_eq!(log.into_inner(), ["down (3)"]);
    }
}

#[test]
fn f04_a_cancelled_call_is_not_answered_for() {
    #[resilient(fallback = |_| Ok(0), circuit_breaker, retry(max = 2), timeout = "1s", name = "f04")]
    async fn call(world: &World) -> Result<u32, Fault> {
        world.sleep("100ms").await;
        Err(Fault::Down(1))
    }
    let (clock, world) = without_a_runtime();
    drop(call(&world));
    {
        let mut future = pin!(call(&world));
        assert!(poll_once(future.as_mut()).is_pending());
    }
    {
        let mut future = pin!(call(&world));
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("100ms");
        assert!(poll_once(future.as_mut()).is_pending(), "it waits for the second attempt");
    }
    assert_eq!(counts(Kind::Fallback, "f04"), []);
    assert_eq!(counts(Kind::CircuitBreaker, "f04"), [("failure", 1), ("abandoned", 1)]);
}
