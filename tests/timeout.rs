//! The timeout of an attempt through the attribute: rows T… of the semantics and faults from the field (TO…).

use resil::testing::ManualClock;
use resil::{Event, Kind, Reason, Value, catalog, resilient};
use std::cell::Cell;
use std::future::pending;
use std::hint::spin_loop;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tests::{
    Calls, Fault, Wakes, World, count, heard, listen, poll_once, run, setting, without_a_runtime,
    worlds,
};

const MS: Duration = Duration::from_millis(1);

/// Why a call was refused or ended, and by whom.
fn refusal<T>(outcome: Result<T, Fault>) -> Option<(Reason, &'static str)> {
    let rejected = outcome.err()?.refusal()?;
    Some((rejected.reason(), rejected.policy()))
}

/// Looks, when it is dropped, how many timeouts of this name are counted by then.
struct Dropped<'a>(&'static str, &'a Cell<Option<u64>>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.1.set(Some(count(Kind::Timeout, self.0, "timed_out")));
    }
}

// ---- when the time begins -------------------------------------------------------------------------------------------------

/// Takes 50 ms before it pends for the first time, and never ends.
async fn slow_to_pend(clock: &ManualClock) -> Result<u32, Fault> {
    clock.advance("50ms");
    pending().await
}

#[test]
fn t01_the_time_begins_at_the_first_pending() {
    #[resilient(timeout = "100ms", name = "t01")]
    async fn call(clock: &ManualClock) -> Result<u32, Fault> {
        slow_to_pend(clock).await
    }
    let (clock, world) = without_a_runtime();
    assert_eq!(refusal(run(&clock, call(&clock))), Some((Reason::TimedOut, "t01")));
    assert_eq!(world.ms(), 150);
}

#[test]
fn t01_the_time_begins_at_the_admission_where_the_breaker_reads_the_clock() {
    #[resilient(timeout = "100ms", circuit_breaker(slow_call = "10ms"), name = "t01_breaker")]
    async fn call(clock: &ManualClock) -> Result<u32, Fault> {
        slow_to_pend(clock).await
    }
    let (clock, world) = without_a_runtime();
    assert_eq!(refusal(run(&clock, call(&clock))), Some((Reason::TimedOut, "t01_breaker")));
    assert_eq!(world.ms(), 100);
}

#[test]
fn t01_the_time_begins_with_the_attempt_where_a_deadline_reads_the_clock() {
    #[resilient(timeout = "100ms", deadline = "1s", name = "t01_deadline")]
    async fn call(clock: &ManualClock) -> Result<u32, Fault> {
        slow_to_pend(clock).await
    }
    let (clock, world) = without_a_runtime();
    assert_eq!(refusal(run(&clock, call(&clock))), Some((Reason::TimedOut, "t01_deadline")));
    assert_eq!(world.ms(), 100);
}

#[test]
fn t01_t10_a_ready_future_touches_neither_clock_nor_timer() {
    #[resilient(timeout = "100ms", name = "t10")]
    async fn call(clock: &ManualClock) -> Result<usize, Fault> {
        Ok(clock.timers())
    }
    let (clock, _world) = without_a_runtime();
    let before = clock.readings();
    assert_eq!(poll_once(pin!(call(&clock))), Poll::Ready(Ok(0)));
    assert_eq!((clock.timers(), clock.readings()), (0, before));
}

#[test]
fn t10_the_timer_is_there_from_the_first_pending_to_the_end() {
    #[resilient(timeout = "100ms", name = "t10_pending")]
    async fn call(go_on: &Cell<bool>) -> Result<u32, Fault> {
        std::future::poll_fn(|_| if go_on.get() { Poll::Ready(()) } else { Poll::Pending }).await;
        Ok(7)
    }
    let (clock, _world) = without_a_runtime();
    let go_on = Cell::new(false);
    let mut future = pin!(call(&go_on));
    assert_eq!(clock.timers(), 0);
    assert!(poll_once(future.as_mut()).is_pending());
    assert_eq!(clock.timers(), 1);
    go_on.set(true);
    assert_eq!(poll_once(future.as_mut()), Poll::Ready(Ok(7)));
    assert_eq!(clock.timers(), 0);
}

#[test]
fn t10_the_timer_wakes_whoever_polled_last() {
    #[resilient(timeout = "100ms", name = "t10_waker")]
    async fn call() -> Result<u32, Fault> {
        pending().await
    }
    let (clock, _world) = without_a_runtime();
    let mut future = pin!(call());
    let wakers: [_; 3] = std::array::from_fn(|_| Wakes::pair());
    for (_, waker) in &wakers {
        assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        clock.advance("10ms");
    }
    clock.advance("70ms");
    assert_eq!(wakers.each_ref().map(|(woken, _)| woken.times()), [0, 0, 1]);
}

// ---- when it is over ------------------------------------------------------------------------------------------------------

worlds! {
    t02_to02_a_result_that_is_ready_in_the_same_instant_wins:
    async [timeout = "100ms"]
    (world: &World, lasts: Duration) -> Result<u32, Fault> { world.sleep(lasts).await; Ok(7) }
    |world| {
        assert_eq!(call(&world, 99 * MS).await, Ok(7));
        assert_eq!(call(&world, 100 * MS).await, Ok(7));
        let begin = world.ms();
        assert_eq!(refusal(call(&world, 101 * MS).await), Some((Reason::TimedOut, NAME)));
        assert_eq!(world.ms() - begin, 100);
    }
}

worlds! {
    t03_the_work_is_dropped_before_anybody_knows:
    async [timeout = "100ms"]
    (world: &World, dropped: &Cell<Option<u64>>, done: &Cell<bool>) -> Result<u32, Fault> {
        let _dropped = Dropped(NAME, dropped);
        world.sleep("150ms").await;
        done.set(true);
        Ok(7)
    }
    |world| {
        let (dropped, done) = (Cell::new(None), Cell::new(false));
        assert_eq!(refusal(call(&world, &dropped, &done).await), Some((Reason::TimedOut, NAME)));
        assert_eq!(dropped.get(), Some(0), "before it is counted and told");
        world.sleep("1s").await;
        assert!(!done.get());
    }
}

worlds! {
    t04_the_limit_that_fired_says_its_kind_and_name:
    async [timeout = "100ms", deadline = "250ms", retry(max = 9, backoff = constant("0s"), jitter = none, on_timeout)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        listen();
        let calls = Calls::new(&world);
        assert_eq!(refusal(call(&calls).await), Some((Reason::DeadlineExceeded, NAME)));
        assert_eq!((calls.begun(), world.ms()), (vec![0, 100, 200], 250));
        let told: Vec<_> = heard(NAME).into_iter().filter_map(|event| match event {
            Event::TimedOut(_) => Some("timeout"),
            Event::DeadlineExceeded(_) => Some("deadline"),
            _ => None,
        }).collect();
        assert_eq!(told, ["timeout", "timeout", "deadline"]);
        assert_eq!((count(Kind::Timeout, NAME, "timed_out"), count(Kind::Deadline, NAME, "exceeded")), (2, 1));
    }
}

#[test]
fn t05_what_is_not_written_is_off_and_what_is_written_is_what_it_says() {
    #[resilient(timeout = "1.5s", name = "t05")]
    async fn limited() -> Result<u32, Fault> {
        Ok(1)
    }
    #[resilient(retry(max = 2), name = "t05_off")]
    async fn unlimited() -> Result<u32, Fault> {
        Ok(1)
    }
    let (clock, _world) = without_a_runtime();
    assert_eq!((run(&clock, limited()), run(&clock, unlimited())), (Ok(1), Ok(1)));
    assert_eq!(setting(Kind::Timeout, "t05", "after"), Value::Duration(1_500 * MS));
    assert!(catalog().find(Kind::Timeout, "t05_off").is_none());
}

#[test]
fn t06_microseconds_are_kept() {
    #[resilient(timeout = "200us", name = "t06")]
    async fn call() -> Result<u32, Fault> {
        pending().await
    }
    let (clock, _world) = without_a_runtime();
    let mut future = pin!(call());
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("199.999us");
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("1ns");
    let Poll::Ready(outcome) = poll_once(future.as_mut()) else { panic!("it is time") };
    assert_eq!(refusal(outcome), Some((Reason::TimedOut, "t06")));
}

worlds! {
    t08_the_time_between_attempts_is_not_the_attempts:
    [retry(max = 3, backoff = constant("10s"), jitter = none), timeout = "100ms"]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        pass!(calls.world(), "60ms");
        if number == 3 { Ok(3) } else { Err(Fault::Down(number)) }
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!((call(&calls).await, world.ms()), (Ok(3), 20_180));
    }
}

#[test]
fn t09_a_poll_that_blocks_its_thread_is_reported() {
    #[resilient(timeout = "1h", name = "t09")]
    async fn call() -> Result<u32, Fault> {
        let begin = Instant::now(); // real time: this is what blocking is
        while begin.elapsed() <= 11 * MS {
            spin_loop();
        }
        Ok(1)
    }
    listen();
    assert_eq!(tests::block_on(call()), Ok(1));
    let blocked = |event| matches!(event, Event::BlockingPoll { took } if took >= 11 * MS);
    assert!(heard("").into_iter().any(blocked));
}

// ---- faults from the field ------------------------------------------------------------------------------------------------

worlds! {
    to06_one_call_timing_out_leaves_its_neighbours_alone:
    async [timeout = "200ms"]
    (world: &World, starts: Duration, lasts: Option<Duration>) -> Result<u64, Fault> {
        let _ = starts;
        match lasts {
            Some(lasts) => world.sleep(lasts).await,
            None => pending().await,
        }
        Ok(world.ms())
    }
    |world| {
        let later = async {
            world.sleep("100ms").await;
            call(&world, 100 * MS, Some(150 * MS)).await
        };
        let first = async { (refusal(call(&world, Duration::ZERO, None).await), world.ms()) };
        let (first, later) = tokio::join!(first, later);
        assert_eq!(first, (Some((Reason::TimedOut, NAME)), 200));
        assert_eq!(later, Ok(250));
    }
}

worlds! {
    to07_a_timeout_masks_no_error:
    [timeout = "200ms"]
    (world: &World, lasts: Duration, error: Fault) -> Result<u32, Fault> { pass!(world, lasts); Err(error) }
    |world| {
        assert_eq!(call(&world, 150 * MS, Fault::Down(1)).await, Err(Fault::Down(1)));
        assert_eq!(refusal(call(&world, 250 * MS, Fault::Down(1)).await), Some((Reason::TimedOut, NAME)));
    }
}

#[resilient(timeout = "50ms", name = "inner_50")]
async fn inner_50() -> Result<u32, Fault> {
    pending().await
}

worlds! {
    to07_an_inner_timeout_is_passed_on_as_the_inner_one:
    async [timeout = "200ms", circuit_breaker]
    () -> Result<u32, Fault> { inner_50().await }
    |world| {
        assert_eq!(refusal(call().await), Some((Reason::TimedOut, "inner_50")));
        assert_eq!((world.ms(), count(Kind::Timeout, NAME, "timed_out")), (50, 0));
    }
}

#[test]
fn to08_of_equal_nested_timeouts_the_inner_one_fires_every_time() {
    #[resilient(timeout = "100ms", name = "to08_inner")]
    async fn inner() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(timeout = "100ms", name = "to08_outer")]
    async fn outer() -> Result<u32, Fault> {
        inner().await
    }
    listen();
    let (clock, _world) = without_a_runtime();
    for _ in 0..1_000 {
        assert_eq!(refusal(run(&clock, outer())), Some((Reason::TimedOut, "to08_inner")));
    }
    assert_eq!(count(Kind::Timeout, "to08_inner", "timed_out"), 1_000);
    assert_eq!((heard("to08_inner").len(), heard("to08_outer").len()), (1_000, 0));
}

#[test]
fn to09_a_timer_of_an_earlier_call_hits_no_later_one() {
    #[resilient(timeout = "100ms", name = "to09")]
    async fn call(until: &Cell<bool>) -> Result<u32, Fault> {
        std::future::poll_fn(|_| if until.get() { Poll::Ready(()) } else { Poll::Pending }).await;
        Ok(7)
    }
    let rounds = || {
        let (clock, _world) = without_a_runtime();
        for _ in 0..5_000 {
            for lasts in ["99ms", "50ms"] {
                let until = Cell::new(false);
                let mut future = pin!(call(&until));
                assert!(poll_once(future.as_mut()).is_pending());
                clock.advance(lasts);
                assert!(poll_once(future.as_mut()).is_pending());
                until.set(true);
                assert_eq!(poll_once(future.as_mut()), Poll::Ready(Ok(7)));
                clock.advance("500us");
            }
        }
        clock.timers()
    };
    let left: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(rounds)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((left, count(Kind::Timeout, "to09", "timed_out")), (0, 0));
}

worlds! {
    to11_a_computed_zero_is_at_once_and_never_unlimited:
    async [timeout(after = *limit)]
    (calls: &Calls, limit: &Duration) -> Result<u32, Fault> { calls.begin(); calls.world().sleep("10ms").await; Ok(7) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(refusal(call(&calls, &Duration::ZERO).await), Some((Reason::TimedOut, NAME)));
        assert_eq!((calls.count(), world.ms()), (0, 0), "the body does not start");
        assert_eq!(refusal(call(&calls, &(9 * MS)).await), Some((Reason::TimedOut, NAME)));
        assert_eq!(call(&calls, &(11 * MS)).await, Ok(7));
        assert_eq!(call(&calls, &Duration::MAX).await, Ok(7));
        assert_eq!(setting(Kind::Timeout, NAME, "after"), Value::Word("by call"));
    }
}
