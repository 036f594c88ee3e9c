//! The circuit breaker through the attribute: what a permit by hand cannot show (B17, B25 to B31, B38, CB21, CB22, CB24).

use resil::{Classify, Kind, Reason, Rejected, State, Window, resilient};
use std::cell::Cell;
use std::error::Error;
use std::future::pending;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Duration;
use tests::{Calls, Fault, World, breaker_of, counts, poll_once, run, without_a_runtime, worlds};

const MS: Duration = Duration::from_millis(1);

fn breaker_counts(name: &str) -> Vec<(&'static str, u64)> {
    counts(Kind::CircuitBreaker, name)
}

// ---- what an outcome is ---------------------------------------------------------------------------------------------------

#[derive(Debug, PartialEq, thiserror::Error, Classify)]
enum Answer {
    #[error("busy")]
    #[resil(retry_after = "wait")]
    Busy { wait: Duration },
    #[error("not found")]
    #[resil(ignore)]
    NotFound,
    #[error("down")]
    Down,
    #[error(transparent)]
    Refused(#[from] Rejected),
}

macro_rules! b17 {
    ($($name:ident: [$($options:tt)*];)*) => {$(
        worlds! {
            $name:
        [circuit_breaker($($options)*)]
            (seconds: u64) -> Result<u32, Answer> { Err(Answer::Busy { wait: Duration::from_secs(seconds) }) }
            |_world| {
                call(50).await.unwrap_err();
                call(30).await.unwrap_err();
                let left = breaker_of(NAME).retry_after().expect("open");
                assert!((30_000 * MS..=30_001 * MS).contains(&left), "the hint of the one that trips, not {left:?}");
                breaker_of(NAME).reset();
                for _ in 0..2 { call(86_400).await.unwrap_err(); }
                let left = breaker_of(NAME).retry_after().expect("open");
                assert!((300_000 * MS..=300_001 * MS).contains(&left), "at most `max_open_for`, not {left:?}");
            }
        }
    )*};
}

b17! {
    b17_a_hint_in_the_error_that_trips_lengthens_the_wait: [window = 4, min_calls = 2, open_for = "10s"];
    b17_by_time: [window = "10s", min_calls = 2, open_for = "10s"];
    b17_in_a_row: [consecutive = 2, open_for = "10s"];
}

worlds! {
    b25_any_err_is_a_failure:
    [circuit_breaker]
    (outcome: Result<u32, Fault>) -> Result<u32, Fault> { outcome }
    |_world| {
        let _ = (call(Ok(1)).await, call(Err(Fault::Mine)).await, call(Err(Fault::Down(1))).await);
        assert_eq!(breaker_counts(NAME), [("success", 1), ("failure", 2)]);
    }
}

worlds! {
    b25_patterns_decide_what_they_match_and_nothing_else:
    [circuit_breaker, ignore = Err(Fault::Mine), failure = Ok(500..)]
    (outcome: Result<u32, Fault>) -> Result<u32, Fault> { outcome }
    |_world| {
        for outcome in [Ok(200), Ok(500), Ok(503), Err(Fault::Mine), Err(Fault::Down(1))] {
            assert_eq!(call(outcome).await, outcome, "nothing is changed");
        }
        assert_eq!(breaker_counts(NAME), [("success", 1), ("failure", 3), ("ignored", 1)]);
    }
}

worlds! {
    b25_derive_classify_says_it_once_for_all_functions:
    [circuit_breaker, failure = Err(Answer::NotFound) if strict]
    (strict: bool, outcome: Result<u32, Answer>) -> Result<u32, Answer> { let _ = strict; outcome }
    |_world| {
        let _ = call(false, Ok(1)).await;
        let _ = call(false, Err(Answer::NotFound)).await;
        let _ = call(false, Err(Answer::Down)).await;
        let _ = call(true, Err(Answer::NotFound)).await;
        assert_eq!(breaker_counts(NAME), [("success", 1), ("failure", 2), ("ignored", 1)], "patterns come first");
    }
}

worlds! {
    b26_ignore_wins_over_failure:
    [circuit_breaker, failure = Err(_), ignore = Err(Fault::Mine)]
    (error: Fault) -> Result<u32, Fault> { Err(error) }
    |_world| {
        let _ = (call(Fault::Mine).await, call(Fault::Down(1)).await);
        assert_eq!(breaker_counts(NAME), [("failure", 1), ("ignored", 1)]);
    }
}

worlds! {
    b26_ignore_wins_in_the_breakers_own_patterns_and_those_win_over_the_functions:
    [circuit_breaker(failure = Err(_), ignore = Err(Fault::Mine)), ignore = Err(Fault::Down(1))]
    (error: Fault) -> Result<u32, Fault> { Err(error) }
    |_world| {
        let _ = (call(Fault::Mine).await, call(Fault::Down(1)).await);
        assert_eq!(breaker_counts(NAME), [("failure", 1), ("ignored", 1)]);
    }
}

// ---- panics and drops -----------------------------------------------------------------------------------------------------

macro_rules! b27 {
    ($($name:ident: [$($options:tt)*];)*) => {$(
        worlds! {
            $name:
        [circuit_breaker($($options)*)]
            () -> Result<u32, Fault> { panic!("a bug") }
            |_world| {
                for _ in 0..2 {
                    let mut future = pin!(call());
                    let unwound = catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut()))).expect_err("unwinds on");
                    assert_eq!(unwound.downcast_ref(), Some(&"a bug"));
                }
                assert_eq!((breaker_of(NAME).state(), breaker_counts(NAME)), (State::Open, vec![("failure", 2)]));
            }
        }
    )*};
}

b27! {
    b27_a_panic_in_the_body_is_a_failure_and_unwinds_on: [window = 4, min_calls = 2];
    b27_by_time: [window = "10s", min_calls = 2];
    b27_in_a_row: [consecutive = 2];
}

#[resilient(circuit_breaker, name = "b27_pending")]
async fn never() -> Result<u32, Fault> {
    pending().await
}

#[test]
fn b27_a_sibling_that_unwinds_drops_a_pending_call_without_a_failure() {
    let unwound = catch_unwind(|| {
        let mut future = pin!(never());
        assert!(poll_once(future.as_mut()).is_pending());
        panic!("somebody else's");
    });
    assert!(unwound.is_err());
    assert_eq!(breaker_counts("b27_pending"), [("abandoned", 1)]);
}

#[test]
fn b27_a_body_that_panics_while_a_panic_unwinds_is_a_failure_all_the_same() {
    #[resilient(circuit_breaker, name = "b27_while_unwinding")]
    fn clean_up() -> Result<u32, Fault> {
        panic!("in a destructor")
    }
    struct Cleans;
    impl Drop for Cleans {
        fn drop(&mut self) {
            assert!(catch_unwind(clean_up).is_err());
        }
    }
    let unwound = catch_unwind(|| {
        let _cleans = Cleans;
        panic!("first");
    });
    assert!(unwound.is_err());
    assert_eq!(breaker_counts("b27_while_unwinding"), [("failure", 1)]);
}

worlds! {
    b28_an_attempt_timeout_is_a_failure:
    [circuit_breaker, timeout = "100ms"]
    (world: &World) -> Result<u32, Fault> { pass!(world, "1h"); Err(Fault::Down(1)) }
    |world| {
        assert_eq!(call(&world).await.unwrap_err().refusal().map(|refused| refused.reason()), Some(Reason::TimedOut));
        assert_eq!(breaker_counts(NAME), [("failure", 1)]);
    }
}

worlds! {
    b28_the_functions_own_deadline_ending_a_running_attempt_is_a_failure:
    [circuit_breaker, deadline = "100ms"]
    (world: &World) -> Result<u32, Fault> { pass!(world, "1h"); Err(Fault::Down(1)) }
    |world| {
        call(&world).await.unwrap_err();
        assert_eq!(breaker_counts(NAME), [("failure", 1)]);
    }
}

/// Polls a call once, lets some time pass, and drops it.
fn cancelled_after<F: Future>(call: impl FnOnce() -> F, waits: &str) {
    let (clock, _world) = without_a_runtime();
    let mut future = pin!(call());
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance(waits);
}

#[test]
fn b28_b31_cancelled_from_outside_it_is_a_failure_only_if_it_was_late() {
    #[resilient(circuit_breaker, timeout = "100ms", name = "b28_timeout")]
    async fn timed() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(circuit_breaker(slow_call = "50ms"), timeout = "1s", name = "b28_slow")]
    async fn slow() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(circuit_breaker, deadline = "100ms", name = "b28_deadline")]
    async fn until() -> Result<u32, Fault> {
        pending().await
    }
    cancelled_after(timed, "99.999999ms");
    cancelled_after(slow, "50ms");
    cancelled_after(until, "99.999999ms");
    for name in ["b28_timeout", "b28_slow", "b28_deadline"] {
        assert_eq!(breaker_counts(name), [("abandoned", 1)], "{name}: early is ignored");
    }
    cancelled_after(timed, "100ms");
    cancelled_after(slow, "50.000001ms");
    cancelled_after(until, "100ms");
    assert_eq!(breaker_counts("b28_timeout"), [("failure", 1), ("abandoned", 1)]);
    assert_eq!(breaker_counts("b28_slow"), [("slow_failure", 1), ("abandoned", 1)]);
    assert_eq!(breaker_counts("b28_deadline"), [("failure", 1), ("abandoned", 1)]);
}

#[test]
fn b28_a_deadline_of_the_function_above_is_a_caller_who_went_away() {
    #[resilient(circuit_breaker, timeout = "1m", name = "b28_below")]
    async fn below() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(circuit_breaker, deadline = "100ms", name = "b28_above")]
    async fn above() -> Result<u32, Fault> {
        below().await
    }
    let (clock, _world) = without_a_runtime();
    run(&clock, above()).unwrap_err();
    assert_eq!(breaker_counts("b28_above"), [("failure", 1)], "whose deadline it was");
    assert_eq!(breaker_counts("b28_below"), [("abandoned", 1)]);
}

worlds! {
    b28_a_body_that_never_began_is_nobodys_failure:
    [circuit_breaker, timeout(after = *limit)]
    (limit: &Duration) -> Result<u32, Fault> { let _ = limit; Ok(1) }
    |_world| {
        let refused = call(&Duration::ZERO).await.unwrap_err().refusal().expect("no time");
        assert_eq!((refused.reason(), breaker_counts(NAME)), (Reason::TimedOut, vec![("ignored", 1)]));
    }
}

#[test]
fn b31_a_call_that_is_never_polled_is_no_call() {
    #[resilient(circuit_breaker, name = "b31")]
    async fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    for _ in 0..100 {
        drop(call());
    }
    assert_eq!(breaker_counts("b31"), []);
}

macro_rules! cb22 {
    ($($name:ident: [$($options:tt)*];)*) => {$(
        worlds! {
            $name:
        async [circuit_breaker($($options)*), timeout = "200ms"]
            (world: &World) -> Result<u32, Fault> { world.sleep("1s").await; Ok(1) }
            |world| {
                let breaker = breaker_of(NAME);
                for _ in 0..5 {
                    let gone = async { world.sleep("100ms").await };
                    let mut gone = pin!(gone);
                    let mut future = pin!(call(&world));
                    std::future::poll_fn(|cx| { let _ = future.as_mut().poll(cx); gone.as_mut().poll(cx) }).await;
                }
                assert_eq!((breaker.state(), breaker.window()), (State::Closed, Window::default()));
                for _ in 0..5 {
                    assert_eq!(breaker.state(), State::Closed);
                    call(&world).await.unwrap_err();
                }
                assert_eq!(breaker.state(), State::Open);
            }
        }
    )*};
}

cb22! {
    cb22_timeouts_open_and_cancellations_do_not: [window = 10, min_calls = 5];
    cb22_by_time: [window = "10s", min_calls = 5];
    cb22_in_a_row: [consecutive = 5];
}

// ---- refusals of ours -----------------------------------------------------------------------------------------------------

/// The dependency below is shut: every guarded call of it is refused.
#[resilient(circuit_breaker, name = "below")]
fn below() -> Result<u32, Fault> {
    Ok(1)
}

fn refused_below() -> Rejected {
    breaker_of("below").force_open();
    below().unwrap_err().refusal().expect("forced open")
}

#[derive(Debug, thiserror::Error)]
#[error("loading failed")]
struct Wrapped(#[source] Box<dyn Error + Send + Sync>);

/// Its own `source` is that of what it holds.
#[derive(Debug, thiserror::Error)]
enum Transparent {
    #[error(transparent)]
    Refused(#[from] Rejected),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Each outer function fails with the refusal of an inner one, in an error of another type.
macro_rules! b29 {
    ($($name:ident: $error:ty = $from:expr;)*) => {$(
        worlds! {
            $name:
            [circuit_breaker(window = 4, min_calls = 1), retry(max = 3)]
            (calls: &Calls) -> Result<u32, $error> { calls.begin(); Err($from(refused_below())) }
            |world| {
                let calls = Calls::new(&world);
                assert!(call(&calls).await.is_err());
                assert_eq!(breaker_counts(NAME), [("ignored", 1)]);
                assert_eq!(breaker_of(NAME).window(), Window::default());
                assert_eq!(calls.count(), 1, "nor is it retried");
            }
        }
    )*};
}

b29! {
    b29_in_an_error_enum: Fault = Fault::from;
    b29_in_a_transparent_variant: Transparent = Transparent::from;
    b29_in_a_transparent_io_error: Transparent = |refused| Transparent::from(io::Error::from(refused));
    b29_in_a_classified_error: Answer = Answer::from;
    b29_in_an_io_error: io::Error = io::Error::from;
    b29_in_a_box: Box<dyn Error> = Box::<dyn Error>::from;
    b29_in_a_box_that_is_send: Box<dyn Error + Send + Sync> = Box::<dyn Error + Send + Sync>::from;
    b29_in_anyhow: anyhow::Error = anyhow::Error::from;
    b29_in_anyhow_with_context: anyhow::Error = |refused| anyhow::Error::from(refused).context("loading");
    b29_down_the_chain_of_sources: anyhow::Error = |refused| anyhow::Error::from(Wrapped(Box::new(io::Error::from(refused))));
}

macro_rules! b29_probe {
    ($($name:ident: [$($options:tt)*];)*) => {$(
        worlds! {
            $name:
        [circuit_breaker($($options)*)]
            (outcome: &Cell<u32>) -> Result<u32, Fault> {
                match outcome.get() {
                    0 => Err(Fault::Down(0)),
                    1 => Err(Fault::from(refused_below())),
                    good => Ok(good),
                }
            }
            |world| {
                let outcome = Cell::new(0);
                call(&outcome).await.unwrap_err();
                world.sleep("1001ms").await;
                outcome.set(1);
                for _ in 0..5 {
                    call(&outcome).await.unwrap_err();
                    assert_eq!(breaker_of(NAME).state(), State::HalfOpen);
                }
                outcome.set(2);
                assert_eq!((call(&outcome).await, breaker_of(NAME).state()), (Ok(2), State::Closed));
            }
        }
    )*};
}

b29_probe! {
    b29_the_probe_that_met_a_refusal_gives_its_place_back: [window = 4, min_calls = 1, probes = 1, open_for = "1s"];
    b29_the_probe_by_time: [window = "10s", min_calls = 1, probes = 1, open_for = "1s"];
    b29_the_probe_in_a_row: [consecutive = 1, probes = 1, open_for = "1s"];
}

macro_rules! cb24 {
    ($($name:ident: [$($options:tt)*];)*) => {$(
        worlds! {
            $name:
        [circuit_breaker($($options)*)]
            () -> Result<u32, Fault> { Err(Fault::from(refused_below())) }
            |_world| {
                for _ in 0..10 {
                    call().await.unwrap_err();
                }
                assert_eq!((breaker_of(NAME).state(), breaker_of(NAME).window()), (State::Closed, Window::default()));
            }
        }
    )*};
}

cb24! {
    cb24_ten_local_refusals_open_nothing: [window = 10, min_calls = 3];
    cb24_by_time: [window = "10s", min_calls = 3];
    cb24_in_a_row: [consecutive = 3];
}

macro_rules! cb21 {
    ($($name:ident: [$($options:tt)*];)*) => {$(
        worlds! {
            $name:
        [circuit_breaker($($options)*)]
            (outcome: Result<u32, Answer>) -> Result<u32, Answer> { outcome }
            |world| {
                call(Err(Answer::Down)).await.unwrap_err();
                world.sleep("1001ms").await;
                for good in 0..5 {
                    for _ in 0..4 {
                        call(Err(Answer::NotFound)).await.unwrap_err();
                        world.sleep("20s").await;
                    }
                    assert_ne!(breaker_of(NAME).state(), State::Closed, "before success {good}");
                    call(Ok(1)).await.unwrap();
                }
                assert_eq!(breaker_of(NAME).state(), State::Closed);
            }
        }
    )*};
}

cb21! {
    cb21_neutral_answers_do_not_keep_it_open: [window = 2, min_calls = 1, failure_rate = "20%", probes = 5, open_for = "1s"];
    cb21_by_time: [window = "1m", min_calls = 1, failure_rate = "20%", probes = 5, open_for = "1s"];
}

worlds! {
    cb21_answers_that_prove_health_close_it:
    [circuit_breaker(window = 2, min_calls = 1, failure_rate = "20%", probes = 5, open_for = "1s")]
    (outcome: Result<Option<u32>, Answer>) -> Result<Option<u32>, Answer> { outcome }
    |world| {
        call(Err(Answer::Down)).await.unwrap_err();
        world.sleep("1001ms").await;
        for good in 0..5 {
            assert_ne!(breaker_of(NAME).state(), State::Closed, "before answer {good}");
            call(Ok(None)).await.unwrap();
        }
        assert_eq!(breaker_of(NAME).state(), State::Closed);
    }
}

// ---- how long it took -----------------------------------------------------------------------------------------------------

worlds! {
    b38_the_time_between_attempts_is_nobodys_latency:
    async [retry(max = 2, backoff = constant("10s"), jitter = none), circuit_breaker(slow_call = "100ms")]
    (calls: &Calls, lasts: Duration) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep(lasts).await;
        if number == 1 { Err(Fault::Down(1)) } else { Ok(number) }
    }
    |world| {
        call(&Calls::new(&world), 100 * MS).await.unwrap();
        assert_eq!(breaker_counts(NAME), [("success", 1), ("failure", 1)]);
        call(&Calls::new(&world), 101 * MS).await.unwrap();
        assert_eq!(breaker_of(NAME).window(), Window { calls: 4, failures: 2, slow: 2 });
    }
}
