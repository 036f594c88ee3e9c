//! Futures of guarded functions that are dropped, under the full stack: nothing leaks, and the breaker can still close.

use resil::{Kind, resilient};
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use tests::trial::{Then, Trial};
use tests::{
    Calls, Fault, Wakes, World, breaker_of, counts, listen, poll_once, without_a_runtime, worlds,
};

/// Drops a call after it was polled once and some time has passed.
macro_rules! dropped {
    ($call:expr, $world:expr, $waits:literal) => {{
        let mut future = pin!($call);
        assert!(poll_once(future.as_mut()).is_pending());
        $world.sleep($waits).await;
    }};
}

/// A test of the full stack, async, on a breaker that is half-open.
macro_rules! exit {
    ($name:ident: [$($own:tt)*] ($($arg:ident: $ty:ty),*) -> $ret:ty { $($body:tt)* } |$world:ident| { $($check:tt)* }) => {
        worlds! {
            $name:
            async [
                deadline = "1m",
                retry(max = 3, backoff = constant("1s"), jitter = none),
                circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
                rate_limiter(rate = "1000/s", wait = "1s"),
                bulkhead(max_concurrent = 1, wait = "1s"),
                timeout = "1s",
                $($own)*
            ]
            ($($arg: $ty),*) -> $ret { $($body)* }
            |$world| { $($check)* }
        }
    };
}

exit! {
    dropped_before_its_first_poll_it_was_no_call:
    [fallback = |_| Ok(0)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        drop(call(&calls));
        assert_eq!((calls.count(), counts(Kind::Retry, NAME)), (0, vec![]));
        trial.is_over(0, Then::Open).await; // nobody has asked yet
    }
}

exit! {
    dropped_while_the_body_pends_it_is_abandoned:
    [fallback = |_| Ok(0)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        dropped!(call(&calls), world, "900ms");
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("abandoned", 1)]);
        assert_eq!(counts(Kind::Timeout, NAME), []);
        assert_eq!(counts(Kind::Fallback, NAME), []);
        trial.is_over(1, Then::Free(2)).await;
    }
}

exit! {
    b28_dropped_after_its_time_was_up_it_has_failed:
    [fallback = |_| Ok(0)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        dropped!(call(&calls), world, "1s");
        assert_eq!(counts(Kind::Fallback, NAME), [], "nobody is waiting");
        trial.is_over(1, Then::Free(1)).await;
    }
}

exit! {
    dropped_between_two_attempts_it_holds_nothing:
    [fallback = |_| Ok(0)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        dropped!(call(&calls), world, "500ms");
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 2), ("abandoned", 1), ("retries", 1)]);
        trial.is_over(1, Then::Free(1)).await;
        assert_eq!(calls.count(), 1);
    }
}

worlds! {
    dropped_in_its_hook_it_holds_nothing:
    async [
        retry(max = 3, backoff = constant("0s"), jitter = none, before = pending::<()>().await),
        circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
        timeout = "1s",
    ]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        {
            let mut future = pin!(call(&calls));
            for _ in 0..3 {
                assert!(poll_once(future.as_mut()).is_pending());
            }
        }
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 2), ("abandoned", 1), ("retries", 1)]);
        trial.is_over(1, Then::Free(1)).await;
    }
}

exit! {
    dropped_in_its_fallback_it_is_over_all_the_same:
    [fallback = |_| { pending::<()>().await; Ok(0) }, failure = Err(Fault::Mine), ignore = Err(Fault::Down(_))]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let (mut trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        let probes = [(); 2].map(|()| breaker_of(NAME).acquire().unwrap());
        trial.asked += 2;
        dropped!(call(&calls), world, "5ms");
        assert_eq!(counts(Kind::Fallback, NAME), [("rejected", 1)], "it had begun to answer");
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("refused", 1)]);
        drop(probes);
        trial.is_over(1, Then::Free(2)).await;
    }
}

exit! {
    a_finished_future_that_is_kept_holds_nothing:
    [ignore = Err(Fault::Mine)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); Err(Fault::Mine) }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        let mut future = pin!(call(&calls));
        assert_eq!(poll_once(future.as_mut()), Poll::Ready(Err(Fault::Mine)));
        trial.is_over(1, Then::Free(2)).await; // though it is still there
    }
}

exit! {
    dropped_by_a_panic_next_door_it_is_abandoned:
    [fallback = |_| Ok(0)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        let neighbours = async {
            let mut future = pin!(call(&calls));
            assert!(poll_once(future.as_mut()).is_pending());
            panic!("next door")
        };
        let unwound: Result<(), _> = tests::trial::caught(neighbours).await;
        assert!(unwound.is_err());
        trial.is_over(1, Then::Free(2)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_aborted_task_gives_its_place_back() {
    #[resilient(
        deadline = "1m",
        retry(max = 3),
        circuit_breaker(
            window = 2,
            min_calls = 2,
            open_for = "1s",
            probes = 2,
            failure_rate = "100%"
        ),
        timeout = "1s",
        name = "aborted"
    )]
    async fn call() -> Result<u32, Fault> {
        pending().await
    }
    let world = World::tokio();
    let trial = Trial::begin(&world, "aborted").await;
    let task = tokio::spawn(call());
    world.sleep("1ms").await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    trial.is_over(1, Then::Free(2)).await;
}

/// The future holds what it registered; who drops it must not be called later.
#[test]
fn a_dropped_call_leaves_no_timer_and_no_waker_behind() {
    #[resilient(deadline = "1m", retry(max = 3, backoff = constant("1s"), jitter = none), timeout = "1s", name = "left")]
    async fn call(fails: &Cell<bool>) -> Result<u32, Fault> {
        if fails.get() {
            return Err(Fault::Down(1));
        }
        poll_fn(|_| Poll::Pending).await
    }
    listen();
    let (clock, _world) = without_a_runtime();
    for fails in [false, true] {
        let (woken, waker) = Wakes::pair();
        let fails = Cell::new(fails);
        {
            let mut future = pin!(call(&fails));
            assert!(future.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
            assert_eq!(clock.timers(), 1);
        }
        drop(waker);
        assert_eq!((clock.timers(), std::sync::Arc::strong_count(&woken)), (0, 1));
        clock.advance("1h");
        assert_eq!(woken.times(), 0);
    }
}
