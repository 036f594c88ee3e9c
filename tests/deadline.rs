//! The deadline of a call through the attribute: rows T4, T8, T11 of the semantics, nesting, and zero time left (TO08, TO11).

use resil::{Deadline, Event, Kind, Reason, resilient};
use std::cell::Cell;
use std::future::pending;
use std::pin::pin;
use std::time::Duration;
use tests::{Calls, Fault, World, count, heard, listen, poll_once, run, without_a_runtime, worlds};

const MS: Duration = Duration::from_millis(1);

/// Why a call was refused or ended, and by whom.
fn refusal<T>(outcome: Result<T, Fault>) -> Option<(Reason, &'static str)> {
    let rejected = outcome.err()?.refusal()?;
    Some((rejected.reason(), rejected.policy()))
}

worlds! {
    t02_a_result_that_is_ready_at_the_deadline_wins:
    async [deadline = "100ms"]
    (world: &World, lasts: Duration) -> Result<u32, Fault> { world.sleep(lasts).await; Ok(7) }
    |world| {
        assert_eq!(call(&world, 100 * MS).await, Ok(7));
        let begin = world.ms();
        assert_eq!(refusal(call(&world, 101 * MS).await), Some((Reason::DeadlineExceeded, NAME)));
        assert_eq!(world.ms() - begin, 100);
    }
}

worlds! {
    t08_the_deadline_includes_attempts_and_waits:
    [deadline = "1s", retry(max = 9, backoff = constant("300ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        pass!(calls.world(), "200ms");
        Err(Fault::Down(number))
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(2)), "a third could only begin at 1000 ms");
        assert_eq!((calls.begun(), world.ms()), (vec![0, 500], 700));
    }
}

worlds! {
    t07_a_deadline_is_never_retried:
    async [deadline = "100ms", retry(max = 9, backoff = constant("0s"), jitter = none, on_timeout, on_rejected)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(refusal(call(&calls).await), Some((Reason::DeadlineExceeded, NAME)));
        assert_eq!((calls.count(), world.ms()), (1, 100));
        assert_eq!(count(Kind::Retry, NAME, "not_retried"), 1);
    }
}

worlds! {
    t11_what_is_left_is_a_span_and_not_an_instant:
    [deadline = "100ms"]
    (world: &World) -> Result<Option<Duration>, Fault> {
        pass!(world, "30ms");
        Ok(Deadline::current().remaining())
    }
    |world| {
        assert_eq!(call(&world).await, Ok(Some(70 * MS)));
        assert_eq!(Deadline::current(), Deadline::NEVER, "outside there is none");
    }
}

#[resilient(deadline = "1s", name = "inner_1s")]
async fn inner_1s(calls: &Calls) -> Result<u32, Fault> {
    calls.begin();
    pending().await
}

#[resilient(timeout = "1s", name = "inner_timeout")]
async fn inner_timeout(calls: &Calls) -> Result<u32, Fault> {
    calls.begin();
    pending().await
}

worlds! {
    t04_an_outer_deadline_that_is_sooner_ends_the_inner_call_under_its_own_name:
    async [deadline = "100ms"]
    (calls: &Calls) -> Result<u32, Fault> {
        calls.world().sleep("30ms").await;
        match calls.count() { 0 => inner_1s(calls).await, _ => inner_timeout(calls).await }
    }
    |world| {
        let before = count(Kind::Deadline, "inner_1s", "exceeded");
        let calls = Calls::new(&world);
        for end in [100, 200] {
            assert_eq!(refusal(call(&calls).await), Some((Reason::DeadlineExceeded, NAME)));
            assert_eq!(world.ms(), end);
        }
        assert_eq!(calls.begun(), [30, 130]);
        assert_eq!(count(Kind::Deadline, "inner_1s", "exceeded"), before, "reported once, by its owner");
    }
}

#[test]
fn to08_of_equal_nested_deadlines_the_outer_one_is_named_every_time() {
    #[resilient(deadline = "100ms", name = "to08_inner")]
    async fn inner() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(deadline = "100ms", name = "to08_outer")]
    async fn outer() -> Result<u32, Fault> {
        inner().await
    }
    listen();
    let (clock, _world) = without_a_runtime();
    for _ in 0..1_000 {
        assert_eq!(refusal(run(&clock, outer())), Some((Reason::DeadlineExceeded, "to08_outer")));
    }
    assert_eq!((heard("to08_outer").len(), heard("to08_inner").len()), (1_000, 0));
}

#[test]
fn to08_of_a_timeout_and_a_deadline_at_the_same_instant_the_deadline_is_named() {
    #[resilient(
        deadline = "100ms",
        timeout = "100ms",
        allow(timeout_reaches_deadline),
        name = "to08_both"
    )]
    async fn call() -> Result<u32, Fault> {
        pending().await
    }
    let (clock, _world) = without_a_runtime();
    for _ in 0..100 {
        assert_eq!(refusal(run(&clock, call())), Some((Reason::DeadlineExceeded, "to08_both")));
    }
    assert_eq!(count(Kind::Timeout, "to08_both", "timed_out"), 0);
}

#[test]
fn to11_with_no_time_left_the_body_does_not_start() {
    #[resilient(timeout = "1s", name = "to11_inner")]
    async fn inner(calls: &Calls) -> Result<u32, Fault> {
        Ok(calls.begin())
    }
    #[resilient(deadline = "100ms", name = "to11_outer")]
    async fn outer(calls: &Calls, clock: &resil::testing::ManualClock) -> Result<u32, Fault> {
        clock.advance("100ms"); // a blocking body: nobody could end it
        inner(calls).await
    }
    let (clock, world) = without_a_runtime();
    let calls = Calls::new(&world);
    let refused = refusal(run(&clock, outer(&calls, &clock)));
    assert_eq!(refused, Some((Reason::DeadlineExceeded, "to11_inner")));
    assert_eq!((calls.count(), count(Kind::Timeout, "to11_inner", "cut_short")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_spawned_task_takes_the_deadline_along_if_it_is_attached() {
    #[resilient(timeout = "1s", name = "attached")]
    async fn work() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(deadline = "100ms", name = "spawner")]
    async fn spawner() -> Result<(tokio::task::JoinHandle<Result<u32, Fault>>, Deadline), Fault> {
        let alone = tokio::spawn(async { Deadline::current() }).await.unwrap();
        Ok((tokio::spawn(Deadline::current().attach(work())), alone))
    }
    let world = World::tokio();
    let (task, alone) = spawner().await.unwrap();
    assert_eq!(alone, Deadline::NEVER, "a task of its own has none");
    assert_eq!(refusal(task.await.unwrap()), Some((Reason::DeadlineExceeded, "attached")));
    assert_eq!(world.ms(), 100);
}

/// The ambient deadline belongs to one poll: neighbours in the same task have their own.
#[test]
fn a_deadline_is_set_around_polls_of_its_own_call_only() {
    #[resilient(deadline = "100ms", name = "around_polls")]
    async fn call(seen: &Cell<bool>) -> Result<u32, Fault> {
        seen.set(Deadline::current() != Deadline::NEVER);
        pending().await
    }
    let (clock, _world) = without_a_runtime();
    let seen = Cell::new(false);
    let mut future = pin!(call(&seen));
    assert!(poll_once(future.as_mut()).is_pending() && seen.get());
    assert_eq!(Deadline::current(), Deadline::NEVER, "while it pends");
    clock.advance("100ms");
    assert!(poll_once(future.as_mut()).is_ready());
    assert_eq!(Deadline::current(), Deadline::NEVER);
}

worlds! {
    the_deadline_is_told_and_counted_once:
    [deadline = "100ms"]
    (world: &World) -> Result<u32, Fault> { pass!(world, "1h"); Err(Fault::Mine) }
    |world| {
        listen();
        call(&world).await.unwrap_err();
        assert!(matches!(heard(NAME)[..], [Event::DeadlineExceeded(_)]));
        assert_eq!(count(Kind::Deadline, NAME, "exceeded"), 1);
    }
}

/// B29: what was never called cannot have failed.
#[test]
fn b29_a_deadline_that_had_passed_before_the_body_began_is_nobodys_failure() {
    #[resilient(deadline = "1s", circuit_breaker(min_calls = 1), name = "b29_unbegun")]
    async fn call(calls: &Calls) -> Result<u32, Fault> {
        Ok(calls.begin())
    }
    let (clock, world) = without_a_runtime();
    let calls = Calls::new(&world);
    let outer = resil::Deadline::after(Duration::from_millis(10));
    clock.advance("10ms");
    let outcome = run(&clock, outer.attach(call(&calls)));
    assert_eq!(outcome.unwrap_err().refusal().unwrap().reason(), Reason::DeadlineExceeded);
    assert_eq!((calls.count(), count(Kind::CircuitBreaker, "b29_unbegun", "ignored")), (0, 1));
}

/// A future that began under a caller's deadline and goes on without that caller keeps to its own.
#[test]
fn a_future_that_is_moved_out_of_a_caller_is_ended_by_its_own_deadline() {
    #[resilient(deadline = "100ms", name = "moved_inner")]
    async fn inner() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(deadline = "80ms", name = "moved_outer")]
    async fn outer<F>(mut begun: F) -> Result<F, Fault>
    where
        F: Future<Output = Result<u32, Fault>> + Unpin,
    {
        assert!(poll_once(std::pin::Pin::new(&mut begun)).is_pending());
        Ok(begun)
    }
    let (clock, world) = without_a_runtime();
    let begun = run(&clock, outer(Box::pin(inner()))).unwrap();
    assert_eq!(refusal(run(&clock, begun)), Some((Reason::DeadlineExceeded, "moved_inner")));
    assert_eq!(world.ms(), 100);
}

/// The other way round: what began on its own and is carried under a sooner deadline keeps to that.
#[test]
fn a_future_that_is_moved_under_a_sooner_deadline_is_ended_by_that() {
    #[resilient(deadline = "1s", name = "moved_under")]
    async fn inner() -> Result<u32, Fault> {
        pending().await
    }
    let (clock, world) = without_a_runtime();
    let mut begun = Box::pin(inner());
    assert!(poll_once(begun.as_mut()).is_pending());
    let sooner = Deadline::after(50 * MS);
    assert!(run(&clock, sooner.attach(begun)).is_err());
    assert_eq!(world.ms(), 50);
}
