//! Retry beside limits of time: deadlines, timeouts, cancellation (R9, R12, R14, RT20, RT21).

use resil::{Classify, Kind, Reason, Rejected, Stop, resilient};
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tests::{
    Calls, Fault, Wakes, count, counts, listen, poll_once, run, stops, without_a_runtime, worlds,
};

const MS: Duration = Duration::from_millis(1);

/// Why a call was refused or ended, and by whom.
fn refusal<T>(outcome: Result<T, Fault>) -> Option<(Reason, &'static str)> {
    let rejected = outcome.err()?.refusal()?;
    Some((rejected.reason(), rejected.policy()))
}

// ---- no wait that ends too late -------------------------------------------------------------------------------------------

worlds! {
    r09_a_wait_that_would_end_past_the_deadline_is_not_begun:
    [deadline = "1s", retry(max = 9, backoff = constant("400ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(3)), "the last outcome");
        assert_eq!((calls.begun(), world.ms()), (vec![0, 400, 800], 800), "and at once");
        assert_eq!(stops(NAME), [(3, Stop::Deadline)]);
    }
}

worlds! {
    r09_an_attempt_that_could_only_start_at_the_deadline_does_not:
    [deadline = "1s", retry(max = 9, backoff = constant("500ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(2)));
        assert_eq!((calls.begun(), world.ms()), (vec![0, 500], 500));
    }
}

#[resilient(retry(max = 9, backoff = constant("400ms"), jitter = none), name = "r09_blocking")]
fn blocking(calls: &Calls) -> Result<u32, Fault> {
    Err(Fault::Down(calls.begin()))
}

/// The clock is manual in both worlds of sync code, and a blocking sleep moves it.
#[test]
fn r09_a_blocking_retry_keeps_to_the_deadline_of_the_async_function_around_it() {
    #[resilient(deadline = "1s", name = "r09_around")]
    async fn around(calls: &Calls) -> Result<u32, Fault> {
        blocking(calls)
    }
    let (clock, world) = without_a_runtime();
    let calls = Calls::new(&world);
    assert_eq!(run(&clock, around(&calls)), Err(Fault::Down(3)));
    assert_eq!((calls.begun(), world.ms()), (vec![0, 400, 800], 800));
}

#[derive(Debug, PartialEq, thiserror::Error, Classify)]
enum Busy {
    #[error("busy")]
    #[resil(transient, retry_after = "0")]
    For(Duration),
    #[error(transparent)]
    Refused(#[from] Rejected),
}

worlds! {
    rt20_a_hint_that_does_not_fit_ends_the_call_at_once_with_the_callees_error:
    [deadline = "5s", retry(max = 3, backoff = constant("1ms"), jitter = none)]
    (calls: &Calls, hint: Duration) -> Result<u32, Busy> { calls.begin(); Err(Busy::For(hint)) }
    |world| {
        for hint in [5_000 * MS, 8_000 * MS, 120_000 * MS, Duration::MAX] {
            let calls = Calls::new(&world);
            assert_eq!(call(&calls, hint).await, Err(Busy::For(hint)), "and no timeout");
            assert_eq!((calls.count(), world.ms()), (1, 0));
        }
        assert_eq!(count(Kind::Deadline, NAME, "exceeded"), 0);
        let calls = Calls::new(&world);
        call(&calls, Duration::ZERO).await.unwrap_err();
        assert_eq!(calls.begun(), [0, 1, 2], "a hint of 0 is none");
    }
}

worlds! {
    b30_a_refusal_is_waited_for_only_where_the_wait_fits_the_deadline:
    [
        deadline = "5s",
        retry(max = 3, backoff = constant("1ms"), jitter = none, on_rejected),
        circuit_breaker(window = 1, min_calls = 1, open_for = "10s", probes = 1),
    ]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)), "the refusal of the second attempt hides nothing");
        assert_eq!(refusal(call(&calls).await), Some((Reason::CircuitOpen, NAME)));
        assert_eq!((calls.count(), world.ms()), (1, 1), "neither waited for the breaker");
        world.sleep("6s").await;
        call(&calls).await.unwrap_err();
        assert_eq!(calls.count(), 2, "now it fits");
    }
}

// ---- whose outcome is the newest ------------------------------------------------------------------------------------------

worlds! {
    r12_a_timeout_is_newer_than_an_error_before_it:
    [retry(max = 2, backoff = constant("1ms"), jitter = none), timeout = "100ms"]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        if number == 2 { pass!(calls.world(), "1h"); }
        Err(Fault::Down(number))
    }
    |world| { assert_eq!(refusal(call(&Calls::new(&world)).await), Some((Reason::TimedOut, NAME))); }
}

worlds! {
    r12_an_error_is_newer_than_a_timeout_before_it:
    [retry(max = 2, backoff = constant("1ms"), jitter = none, on_timeout), timeout = "100ms"]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        if number == 1 { pass!(calls.world(), "1h"); }
        Err(Fault::Down(number))
    }
    |world| { assert_eq!(call(&Calls::new(&world)).await, Err(Fault::Down(2))); }
}

worlds! {
    r12_a_refusal_does_not_hide_a_timeout:
    [
        retry(max = 2, backoff = constant("1ms"), jitter = none, on_timeout),
        circuit_breaker(window = 1, min_calls = 1),
        timeout = "100ms",
    ]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        pass!(calls.world(), "1h");
        Err(Fault::Down(number))
    }
    |world| {
        assert_eq!(refusal(call(&Calls::new(&world)).await), Some((Reason::TimedOut, NAME)));
        assert_eq!(count(Kind::CircuitBreaker, NAME, "refused"), 1, "of the second attempt");
    }
}

worlds! {
    r12_rt21_the_deadline_that_ends_a_running_attempt_is_the_newest:
    async [deadline = "500ms", retry(max = 10, backoff = constant("0s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep("400ms").await;
        Err(Fault::Down(number))
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(refusal(call(&calls).await), Some((Reason::DeadlineExceeded, NAME)));
        assert_eq!((calls.begun(), world.ms()), (vec![0, 400], 500));
        world.sleep("10s").await;
        assert_eq!(calls.count(), 2, "and none later");
    }
}

/// Nobody can interrupt a blocking body, but none begins after the deadline.
#[test]
fn rt21_no_blocking_attempt_begins_after_the_deadline() {
    #[resilient(retry(max = 10, backoff = constant("0s"), jitter = none), name = "rt21_blocking")]
    fn inner(calls: &Calls, clock: &resil::testing::ManualClock) -> Result<u32, Fault> {
        let number = calls.begin();
        clock.advance("400ms");
        Err(Fault::Down(number))
    }
    #[resilient(deadline = "500ms", name = "rt21_around")]
    async fn around(calls: &Calls, clock: &resil::testing::ManualClock) -> Result<u32, Fault> {
        inner(calls, clock)
    }
    let (clock, world) = without_a_runtime();
    let calls = Calls::new(&world);
    assert_eq!(
        run(&clock, around(&calls, &clock)),
        Err(Fault::Down(2)),
        "it was ready when it was late"
    );
    assert_eq!(calls.begun(), [0, 400]);
}

// ---- cancellation ---------------------------------------------------------------------------------------------------------

#[test]
fn r14_a_call_that_is_dropped_while_it_waits_does_nothing_more() {
    #[resilient(retry(max = 3, backoff = constant("1s"), jitter = none), circuit_breaker, name = "r14")]
    async fn call(calls: &Calls) -> Result<u32, Fault> {
        Err(Fault::Down(calls.begin()))
    }
    let (clock, world) = without_a_runtime();
    let calls = Calls::new(&world);
    {
        let mut future = pin!(call(&calls));
        assert!(poll_once(future.as_mut()).is_pending());
        assert_eq!(clock.timers(), 1);
    }
    assert_eq!(clock.timers(), 0);
    clock.advance("1h");
    assert_eq!(calls.count(), 1);
    assert_eq!(
        counts(Kind::Retry, "r14"),
        [("calls", 1), ("attempts", 2), ("abandoned", 1), ("retries", 1)]
    );
    assert_eq!(counts(Kind::CircuitBreaker, "r14"), [("failure", 1)], "nothing was held");
}

#[tokio::test(start_paused = true)]
async fn r14_a_deadline_from_outside_ends_the_wait() {
    #[resilient(retry(max = 3, backoff = constant("1s"), jitter = none), name = "r14_outside")]
    async fn call(calls: &Calls) -> Result<u32, Fault> {
        Err(Fault::Down(calls.begin()))
    }
    let world = tests::World::tokio();
    let calls = Calls::new(&world);
    assert!(tokio::time::timeout(500 * MS, call(&calls)).await.is_err());
    world.sleep("10s").await;
    assert_eq!((calls.count(), count(Kind::Retry, "r14_outside", "abandoned")), (1, 1));
}

#[test]
fn r12_a_deadline_that_passes_between_attempts_hides_no_error() {
    #[resilient(deadline = "100ms", retry(max = 3, backoff = constant("50ms"), jitter = none), name = "r12_between")]
    async fn call(calls: &Calls) -> Result<u32, Fault> {
        Err(Fault::Down(calls.begin()))
    }
    let (clock, world) = without_a_runtime();
    let calls = Calls::new(&world);
    let mut future = pin!(call(&calls));
    assert!(poll_once(future.as_mut()).is_pending(), "it waits for the second attempt");
    clock.advance("200ms"); // an executor that was busy elsewhere
    let outcome = poll_once(future.as_mut());
    assert_eq!(outcome, Poll::Ready(Err(Fault::Down(1))), "the second attempt never ran");
    assert_eq!(calls.count(), 1);
}

worlds! {
    r12_a_hook_that_runs_into_the_deadline_ends_the_call_with_what_there_is:
    async [
        deadline = "100ms",
        retry(max = 3, backoff = constant("10ms"), jitter = none, before = calls.world().sleep("1h").await),
    ]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)));
        assert_eq!((calls.count(), world.ms()), (1, 100));
        assert_eq!(count(Kind::Retry, NAME, "exhausted"), 1);
    }
}

#[test]
fn r14_the_wait_wakes_whoever_polled_last() {
    #[resilient(retry(max = 2, backoff = constant("100ms"), jitter = none), name = "r14_waker")]
    async fn call(calls: &Calls) -> Result<u32, Fault> {
        Err(Fault::Down(calls.begin()))
    }
    let (clock, world) = without_a_runtime();
    let calls = Calls::new(&world);
    let mut future = pin!(call(&calls));
    let wakers: [_; 2] = std::array::from_fn(|_| Wakes::pair());
    for (_, waker) in &wakers {
        assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        clock.advance("10ms");
    }
    clock.advance("80ms");
    assert_eq!(wakers.each_ref().map(|(woken, _)| woken.times()), [0, 1]);
    assert_eq!(poll_once(future.as_mut()), Poll::Ready(Err(Fault::Down(2))));
}

// ---- timeouts -------------------------------------------------------------------------------------------------------------

worlds! {
    t07_an_attempt_that_timed_out_is_retried:
    async [retry(max = 3, backoff = constant("10ms"), jitter = none), timeout = "100ms"]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        if number < 3 { calls.world().sleep("1h").await; }
        Ok(number)
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(3));
        assert_eq!(calls.begun(), [0, 110, 220]);
        assert_eq!(count(Kind::Timeout, NAME, "timed_out"), 2);
    }
}

worlds! {
    t07_unless_on_timeout_says_no:
    async [retry(max = 3, on_timeout = false), timeout = "100ms", circuit_breaker]
    (calls: &Calls) -> Result<u32, Fault> {
        calls.begin();
        calls.world().sleep("1h").await;
        Ok(0)
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(refusal(call(&calls).await), Some((Reason::TimedOut, NAME)));
        assert_eq!((calls.count(), count(Kind::CircuitBreaker, NAME, "failure")), (1, 1), "a failure all the same");
    }
}

worlds! {
    to05_no_attempt_inherits_a_timer:
    async [retry(max = 3, backoff = constant("0s"), jitter = none), timeout = "100ms"]
    (calls: &Calls) -> Result<u32, Fault> {
        calls.begin();
        calls.world().sleep("1h").await;
        Ok(0)
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(refusal(call(&calls).await), Some((Reason::TimedOut, NAME)));
        assert_eq!((calls.begun(), world.ms()), (vec![0, 100, 200], 300));
    }
}
