//! The deadline of sync functions through the attribute, and what a body asks about its time: rows T…, R9, R14, B28 and faults
//! from the field (TO…), as far as they differ from async functions, whose tests are in `deadline.rs`.

use resil::deadline::{check, remaining, with_expiry};
use resil::testing::ManualClock;
use resil::{Deadline, Event, Kind, Reason, Stop, resilient};
use std::cell::{Cell, RefCell};
use std::time::Duration;
use tests::{Calls, Fault, count, heard, listen, on_a_manual_clock, poll_once, run, stops};

const MS: Duration = Duration::from_millis(1);

/// Why a call was refused or ended, and by whom.
fn refusal<T>(outcome: Result<T, Fault>) -> Option<(Reason, &'static str)> {
    let rejected = outcome.err()?.refusal()?;
    Some((rejected.reason(), rejected.policy()))
}

/// What a deadline counted: `exceeded`, `late`.
fn counted(name: &'static str) -> [u64; 2] {
    ["exceeded", "late"].map(|counter| count(Kind::Deadline, name, counter))
}

/// Takes so long, whatever it comes to.
fn takes<T>(clock: &ManualClock, lasts: Duration, outcome: T) -> T {
    clock.advance(lasts);
    outcome
}

// ---- what is late ---------------------------------------------------------------------------------------------------------

#[test]
fn t02_a_value_of_the_same_instant_came_in_time_and_a_late_one_is_kept() {
    #[resilient(deadline = "100ms", circuit_breaker(min_calls = 10), name = "t02")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        takes(clock, lasts, Ok(7))
    }
    listen();
    let (clock, _world) = on_a_manual_clock();
    assert_eq!([99, 100, 101].map(|ms| call(&clock, ms * MS)), [Ok(7); 3]);
    let vote = |outcome| count(Kind::CircuitBreaker, "t02", outcome);
    assert_eq!((vote("success"), vote("failure"), counted("t02")), (2, 1, [0, 1]));
    let [Event::Late(late)] = heard("t02")[..] else { panic!("one event") };
    assert_eq!((late.reason(), late.policy()), (Reason::DeadlineExceeded, "t02"));
}

#[test]
fn t01_the_call_and_its_only_attempt_begin_with_one_reading() {
    #[resilient(deadline = "100ms", timeout = "50ms", name = "t01")]
    fn call(clock: &ManualClock) -> Result<u64, Fault> {
        takes(clock, 51 * MS, Ok(clock.readings()))
    }
    let (clock, _world) = on_a_manual_clock();
    let before = clock.readings();
    assert_eq!(call(&clock), Ok(before + 1));
    assert_eq!(clock.readings(), before + 2);
    assert_eq!(count(Kind::Timeout, "t01", "late"), 1);
}

#[test]
fn b28_the_functions_own_deadline_is_a_failure_and_never_retried() {
    #[resilient(
        deadline = "100ms",
        circuit_breaker(min_calls = 10),
        retry(max = 9, backoff = constant("0s"), jitter = none, on_timeout, on_rejected),
        name = "b28"
    )]
    fn call(calls: &Calls, clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 150 * MS, Err(Fault::Down(calls.begin())))
    }
    listen();
    let (clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    assert_eq!(refusal(call(&calls, &clock)), Some((Reason::DeadlineExceeded, "b28")));
    assert_eq!((calls.count(), counted("b28")), (1, [1, 0]));
    assert_eq!(count(Kind::CircuitBreaker, "b28", "failure"), 1);
    assert_eq!(count(Kind::Retry, "b28", "not_retried"), 1);
    assert!(matches!(heard("b28")[..], [Event::DeadlineExceeded(_)]), "told once");
}

/// `late` is about what the function returns, whichever of its limits has passed.
#[test]
fn where_late_is_a_timeout_it_is_one_by_the_deadline_too() {
    #[resilient(deadline = "150ms", timeout("100ms", late = timeout), name = "either")]
    fn call(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 200 * MS, Ok(7))
    }
    #[resilient(deadline = "100ms", timeout("150ms", late = timeout), allow(timeout_reaches_deadline), name = "whole")]
    fn whole(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 101 * MS, Ok(7))
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(refusal(call(&clock)), Some((Reason::TimedOut, "either")), "it came first");
    assert_eq!(refusal(whole(&clock)), Some((Reason::DeadlineExceeded, "whole")));
    assert_eq!((counted("either"), counted("whole")), ([0, 0], [1, 0]));
}

#[test]
fn to08_of_a_timeout_and_a_deadline_at_the_same_instant_the_deadline_is_named() {
    #[resilient(
        deadline = "100ms",
        timeout = "100ms",
        allow(timeout_reaches_deadline),
        name = "to08_both"
    )]
    fn call(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 101 * MS, Err(Fault::Mine))
    }
    let (clock, _world) = on_a_manual_clock();
    for _ in 0..100 {
        assert_eq!(refusal(call(&clock)), Some((Reason::DeadlineExceeded, "to08_both")));
    }
    assert_eq!(count(Kind::Timeout, "to08_both", "timed_out"), 0);
}

#[test]
fn t04_to08_of_equal_nested_deadlines_the_outer_one_is_named_every_time() {
    #[resilient(deadline = "100ms", name = "to08_inner")]
    fn inner(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 150 * MS, Err(Fault::Down(1)))
    }
    #[resilient(deadline = "100ms", name = "to08_outer")]
    fn outer(clock: &ManualClock) -> Result<u32, Fault> {
        inner(clock)
    }
    let (clock, _world) = on_a_manual_clock();
    for _ in 0..1_000 {
        assert_eq!(refusal(outer(&clock)), Some((Reason::DeadlineExceeded, "to08_outer")));
    }
    assert_eq!(counted("to08_outer"), [1_000, 0]);
}

#[test]
fn t04_an_outer_deadline_that_is_sooner_is_reported_once_by_its_owner() {
    #[resilient(deadline = "1s", name = "inner_1s")]
    fn inner(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 150 * MS, Err(Fault::Down(1)))
    }
    #[resilient(deadline = "100ms", name = "outer_100")]
    fn outer(clock: &ManualClock) -> Result<u32, Fault> {
        inner(clock)
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(refusal(outer(&clock)), Some((Reason::DeadlineExceeded, "outer_100")));
    assert_eq!((counted("outer_100"), counted("inner_1s")), ([1, 0], [0, 0]));
}

#[test]
fn to11_with_no_time_left_the_body_does_not_begin() {
    #[resilient(deadline = "1s", circuit_breaker(min_calls = 10), name = "to11")]
    fn call(calls: &Calls) -> Result<u32, Fault> {
        Ok(calls.begin())
    }
    let (clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    let carried = Deadline::after(10 * MS);
    clock.advance("10ms");
    let ended = run(&clock, carried.attach(async { call(&calls) }));
    assert_eq!(refusal(ended), Some((Reason::DeadlineExceeded, "to11")));
    assert_eq!((calls.count(), counted("to11")), (0, [1, 0]));
    assert_eq!(count(Kind::CircuitBreaker, "to11", "ignored"), 1, "B29");
}

#[test]
fn a_deadline_that_was_carried_here_is_kept_here() {
    #[resilient(timeout = "1s", name = "carried")]
    fn call(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 60 * MS, Err(Fault::Down(1)))
    }
    let (clock, _world) = on_a_manual_clock();
    let ended = run(&clock, Deadline::after(50 * MS).attach(async { call(&clock) }));
    assert_eq!(refusal(ended), Some((Reason::DeadlineExceeded, "carried")));
    assert_eq!(count(Kind::Timeout, "carried", "cut_short"), 1);
}

/// An async function above drops what it polls, and no more: what a blocking body returns is ready, and wins.
#[test]
fn under_an_async_function_its_deadline_is_left_to_that_one() {
    #[resilient(timeout = "1s", name = "under_async")]
    fn call(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 150 * MS, Err(Fault::Down(1)))
    }
    #[resilient(deadline = "100ms", name = "above_async")]
    async fn above(clock: &ManualClock) -> Result<u32, Fault> {
        call(clock)
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(run(&clock, above(&clock)), Err(Fault::Down(1)));
    assert_eq!(count(Kind::Timeout, "under_async", "cut_short"), 0);
}

/// Nobody above an async function in a sync one would drop it.
#[test]
fn an_async_function_within_ends_itself() {
    #[resilient(timeout = "1s", name = "within_sync")]
    async fn within() -> Result<u32, Fault> {
        std::future::pending().await
    }
    #[resilient(deadline = "100ms", name = "around_async")]
    fn around(
        clock: &ManualClock,
        seen: &Cell<Option<(Reason, &'static str)>>,
    ) -> Result<u32, Fault> {
        let mut future = std::pin::pin!(within());
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("101ms");
        let std::task::Poll::Ready(outcome) = poll_once(future) else { panic!("its time is up") };
        seen.set(refusal(outcome));
        outcome
    }
    let ((clock, _world), seen) = (on_a_manual_clock(), Cell::new(None));
    assert_eq!(refusal(around(&clock, &seen)), Some((Reason::DeadlineExceeded, "around_async")));
    assert_eq!(seen.get(), Some((Reason::DeadlineExceeded, "within_sync")));
}

// ---- between attempts -----------------------------------------------------------------------------------------------------

#[test]
fn r09_r14_no_sleep_is_begun_that_would_end_past_the_deadline() {
    #[resilient(deadline = "100ms", retry(max = 9, backoff = constant("40ms"), jitter = none), name = "r14")]
    fn call(calls: &Calls) -> Result<u32, Fault> {
        Err(Fault::Down(calls.begin()))
    }
    listen();
    let (_clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    assert_eq!(call(&calls), Err(Fault::Down(3)));
    assert_eq!((calls.begun(), world.ms()), (vec![0, 40, 80], 80), "no work after the caller left");
    assert_eq!(stops("r14"), [(3, Stop::Deadline)]);
}

#[test]
fn a_hook_that_takes_too_long_ends_the_call_with_what_there_is() {
    #[resilient(
        deadline = "100ms",
        retry(max = 9, backoff = constant("10ms"), jitter = none, before = hook(clock, lasts)),
        name = "hooked"
    )]
    fn call(calls: &Calls, clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        takes(clock, Duration::ZERO, Err(Fault::Down(calls.begin())))
    }
    fn hook(clock: &ManualClock, lasts: Duration) {
        assert!(remaining() <= Some(90 * MS), "it sees the deadline");
        clock.advance(lasts);
    }
    listen();
    let (clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    assert_eq!(call(&calls, &clock, 95 * MS), Err(Fault::Down(1)));
    assert_eq!((calls.count(), counted("hooked")), (1, [1, 0]));
    assert_eq!(stops("hooked"), [(1, Stop::Deadline)]);
    assert_eq!(
        call(&calls, &clock, 90 * MS),
        Err(Fault::Down(2)),
        "in the very instant: no time is left"
    );
    assert_eq!(call(&calls, &clock, 80 * MS), Err(Fault::Down(4)));
}

// ---- what a body asks -----------------------------------------------------------------------------------------------------

#[test]
fn t11_what_is_left_is_a_span_and_the_soonest_limit_counts() {
    #[resilient(deadline = "1s", timeout = "100ms", name = "t11")]
    fn call(clock: &ManualClock) -> Result<[Option<Duration>; 2], Fault> {
        let first = remaining();
        clock.advance("30ms");
        Ok([first, remaining()])
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(call(&clock), Ok([Some(100 * MS), Some(70 * MS)]));
    assert_eq!((remaining(), check()), (None, Ok(())), "outside there is none");
}

#[test]
fn t03_a_body_that_checks_stops_and_is_a_timeout() {
    #[resilient(timeout = "100ms", circuit_breaker(min_calls = 10), name = "t03")]
    fn call(clock: &ManualClock, steps: &Cell<u32>) -> Result<u32, Fault> {
        loop {
            check()?;
            steps.set(steps.get() + 1);
            clock.advance("30ms");
        }
    }
    let ((clock, world), steps) = (on_a_manual_clock(), Cell::new(0));
    assert_eq!(refusal(call(&clock, &steps)), Some((Reason::TimedOut, "t03")));
    assert_eq!((steps.get(), world.ms()), (4, 120));
    assert_eq!(count(Kind::Timeout, "t03", "timed_out"), 1);
    assert_eq!(count(Kind::CircuitBreaker, "t03", "failure"), 1, "no refusal of ours");
}

#[test]
fn t04_who_asks_further_in_hears_whose_time_is_up() {
    #[resilient(timeout = "1s", circuit_breaker(min_calls = 10), name = "t04_asks")]
    fn inner() -> Result<u32, Fault> {
        check()?;
        Ok(7)
    }
    #[resilient(deadline = "100ms", name = "t04_owner")]
    fn outer(
        clock: &ManualClock,
        heard: &RefCell<Vec<(Reason, &'static str)>>,
    ) -> Result<u32, Fault> {
        let hear = |outcome: Result<(), _>| heard.borrow_mut().extend(refusal(outcome));
        clock.advance("99ms");
        inner()?;
        clock.advance("1ms");
        hear(check().map_err(Fault::from));
        hear(inner().map(|_| ()));
        Ok(0)
    }
    let ((clock, _world), heard) = (on_a_manual_clock(), RefCell::default());
    assert_eq!(outer(&clock, &heard), Ok(0));
    let exceeded = Reason::DeadlineExceeded;
    assert_eq!(heard.into_inner(), [(exceeded, "t04_owner"), (exceeded, "t04_asks")]);
}

#[test]
fn a_hook_runs_when_the_time_of_a_guarded_body_is_up() {
    #[resilient(timeout = "100ms", name = "expires")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<Option<u128>, Fault> {
        let (stopped, begin) = (std::sync::Mutex::new(None), clock.now());
        let hook =
            || *stopped.lock().unwrap() = Some(clock.now().since(begin).to_duration().as_millis());
        with_expiry(hook, || clock.advance(lasts));
        Ok(stopped.into_inner().unwrap())
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(call(&clock, 99 * MS), Ok(None));
    assert_eq!(call(&clock, 150 * MS), Ok(Some(100)));
    assert_eq!(clock.timers(), 0);
}
