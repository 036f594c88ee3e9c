//! The timeout of sync functions through the attribute: what is late is judged when it is there. Rows T…, B28 and faults from the
//! field (TO…), as far as they differ from async functions, whose tests are in `timeout.rs`.

use resil::testing::ManualClock;
use resil::{Cause, Deadline, Event, Kind, Reason, Value, catalog, resilient};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tests::{Calls, Fault, count, counts, heard, listen, on_a_manual_clock, setting};

const MS: Duration = Duration::from_millis(1);

/// Why a call was refused or ended, and by whom.
fn refusal<T>(outcome: Result<T, Fault>) -> Option<(Reason, &'static str)> {
    let rejected = outcome.err()?.refusal()?;
    Some((rejected.reason(), rejected.policy()))
}

/// What a timeout counted: `timed_out`, `cut_short`, `late`.
fn counted(name: &'static str) -> [u64; 3] {
    ["timed_out", "cut_short", "late"].map(|counter| count(Kind::Timeout, name, counter))
}

/// What a breaker counted, without what is zero.
fn votes(name: &'static str) -> Vec<(&'static str, u64)> {
    const OUTCOMES: [&str; 6] =
        ["success", "failure", "slow_success", "slow_failure", "ignored", "abandoned"];
    let mut votes = counts(Kind::CircuitBreaker, name);
    votes.retain(|(name, value)| OUTCOMES.contains(name) && *value > 0);
    votes
}

/// Takes so long, whatever it comes to.
fn takes<T>(clock: &ManualClock, lasts: Duration, outcome: T) -> T {
    clock.advance(lasts);
    outcome
}

// ---- what is late ---------------------------------------------------------------------------------------------------------

#[test]
fn t02_to02_a_value_of_the_same_instant_came_in_time_and_a_late_one_is_kept() {
    #[resilient(timeout = "100ms", circuit_breaker(min_calls = 10), name = "to02")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        takes(clock, lasts, Ok(7))
    }
    listen();
    let (clock, _world) = on_a_manual_clock();
    for lasts in [99, 100, 101] {
        assert_eq!(call(&clock, lasts * MS), Ok(7), "after {lasts} ms");
    }
    assert_eq!(votes("to02"), [("success", 2), ("failure", 1)]);
    assert_eq!(counted("to02"), [0, 0, 1]);
    let [Event::Late(late)] = heard("to02")[..] else { panic!("one event") };
    assert_eq!((late.reason(), late.policy()), (Reason::TimedOut, "to02"));
}

#[test]
fn t02_to02_where_late_is_a_timeout_the_same_instant_still_wins() {
    #[resilient(timeout("100ms", late = timeout), circuit_breaker(min_calls = 10), name = "to02_end")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        takes(clock, lasts, Ok(7))
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!((call(&clock, 99 * MS), call(&clock, 100 * MS)), (Ok(7), Ok(7)));
    assert_eq!(refusal(call(&clock, 101 * MS)), Some((Reason::TimedOut, "to02_end")));
    assert_eq!(votes("to02_end"), [("success", 2), ("failure", 1)]);
    assert_eq!(counted("to02_end"), [1, 0, 0]);
}

#[test]
fn to07_a_late_failure_is_a_timeout_and_an_early_one_itself() {
    #[resilient(timeout = "200ms", circuit_breaker(min_calls = 10), name = "to07")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        takes(clock, lasts, Err(Fault::Down(1)))
    }
    listen();
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(call(&clock, 150 * MS), Err(Fault::Down(1)));
    assert_eq!(refusal(call(&clock, 250 * MS)), Some((Reason::TimedOut, "to07")));
    assert_eq!((votes("to07"), counted("to07")), (vec![("failure", 2)], [1, 0, 0]));
    assert!(matches!(heard("to07")[..], [Event::TimedOut(_)]), "told once");
}

/// A body that stops because its time is up stops in the very instant of a test's clock.
#[test]
fn to07_what_stops_in_the_instant_of_its_limit_was_stopped_by_it() {
    #[resilient(timeout = "200ms", circuit_breaker(min_calls = 10), name = "to07_stops")]
    fn call(clock: &ManualClock) -> Result<u32, Fault> {
        while Deadline::current().remaining() > Some(Duration::ZERO) {
            clock.advance(50 * MS);
        }
        Err(Fault::Down(1))
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(refusal(call(&clock)), Some((Reason::TimedOut, "to07_stops")));
    assert_eq!(votes("to07_stops"), [("failure", 1)]);
}

#[test]
fn an_option_and_a_plain_value_are_kept_and_a_late_none_is_a_timeout() {
    #[resilient(timeout = "10ms", fallback = |_cause| Some(0), name = "option")]
    fn option(clock: &ManualClock, value: Option<u32>) -> Option<u32> {
        takes(clock, 11 * MS, value)
    }
    #[resilient(timeout = "10ms", fallback = value(0), name = "plain")]
    fn plain(clock: &ManualClock, value: u32) -> u32 {
        takes(clock, 11 * MS, value)
    }
    #[resilient(timeout("10ms", late = timeout), fallback = value(0), name = "plain_end")]
    fn plain_end(clock: &ManualClock, value: u32) -> u32 {
        takes(clock, 11 * MS, value)
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!((option(&clock, Some(7)), option(&clock, None)), (Some(7), Some(0)));
    assert_eq!(counted("option"), [1, 0, 1]);
    assert_eq!((plain(&clock, 7), counted("plain")), (7, [0, 0, 1]));
    assert_eq!((plain_end(&clock, 7), counted("plain_end")), (0, [1, 0, 0]));
}

/// An async body would have been dropped before anybody could ask what it was about to say.
#[test]
fn what_is_late_is_a_failure_whatever_the_patterns_say() {
    #[resilient(
        timeout = "10ms",
        ignore = Err(Fault::Mine) | Ok(0),
        circuit_breaker("calm", ignore = Ok(1)),
        retry(max = 3, abort = Err(Fault::Down(1)), on = Ok(2)),
        registry = self,
        name = "patterns"
    )]
    fn call(
        clock: &ManualClock,
        calls: &Cell<u32>,
        outcome: Result<u32, Fault>,
    ) -> Result<u32, Fault> {
        calls.set(calls.get() + 1);
        takes(clock, 11 * MS, outcome)
    }
    let ((clock, _world), calls) = (on_a_manual_clock(), Cell::new(0));
    for value in 0..=2 {
        assert_eq!(call(&clock, &calls, Ok(value)), Ok(value));
    }
    for error in [Fault::Mine, Fault::Down(1)] {
        assert_eq!(refusal(call(&clock, &calls, Err(error))), Some((Reason::TimedOut, "patterns")));
    }
    assert_eq!(calls.get(), 5, "nothing is made again");
    assert_eq!(votes("calm"), [("failure", 5)]);
    assert_eq!(count(Kind::Retry, "patterns", "not_retried"), 5);
}

resil::registry! {
    /// Of the test above.
    circuit_breaker calm { min_calls = 100 }
}

#[test]
fn f01_a_fallback_answers_for_a_late_failure_and_not_for_a_late_value() {
    #[resilient(timeout = "10ms", fallback = |cause| Ok(answer(&cause)), name = "answered")]
    fn call(clock: &ManualClock, outcome: Result<u32, Fault>) -> Result<u32, Fault> {
        takes(clock, 11 * MS, outcome)
    }
    fn answer(cause: &Cause<Fault>) -> u32 {
        match cause {
            Cause::Rejected(rejected) if rejected.reason().is_timeout() => 1,
            _ => 2,
        }
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!((call(&clock, Ok(7)), call(&clock, Err(Fault::Down(1)))), (Ok(7), Ok(1)));
    assert_eq!(count(Kind::Fallback, "answered", "timeout"), 1);
}

// ---- when the time begins -------------------------------------------------------------------------------------------------

#[test]
fn t01_the_time_begins_at_the_call_and_costs_two_readings() {
    #[resilient(timeout = "100ms", name = "t01")]
    fn call(clock: &ManualClock) -> Result<u64, Fault> {
        takes(clock, 100 * MS, Ok(clock.readings()))
    }
    let (clock, _world) = on_a_manual_clock();
    let before = clock.readings();
    assert_eq!(call(&clock), Ok(before + 1));
    assert_eq!((clock.readings(), clock.timers()), (before + 2, 0));
    assert_eq!(counted("t01"), [0, 0, 0]);
}

#[test]
fn t01_the_time_begins_at_the_admission_where_the_breaker_reads_the_clock() {
    #[resilient(timeout = "100ms", circuit_breaker(slow_call = "10ms"), name = "t01_breaker")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u64, Fault> {
        takes(clock, lasts, Ok(clock.readings()))
    }
    let (clock, _world) = on_a_manual_clock();
    for (lasts, slow) in [(10, 0), (11, 1)] {
        let before = clock.readings();
        assert_eq!(call(&clock, lasts * MS), Ok(before + 1), "one reading for both");
        assert_eq!(clock.readings(), before + 2, "and one at the end");
        assert_eq!(count(Kind::CircuitBreaker, "t01_breaker", "slow_success"), slow);
    }
}

#[test]
fn t06_nanoseconds_are_kept() {
    #[resilient(timeout("200us", late = timeout), name = "t06")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        takes(clock, lasts, Ok(7))
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(call(&clock, Duration::from_micros(200)), Ok(7));
    assert_eq!(
        refusal(call(&clock, Duration::from_nanos(200_001))),
        Some((Reason::TimedOut, "t06"))
    );
}

#[test]
fn t05_what_is_not_written_is_off_and_what_is_written_is_what_it_says() {
    #[resilient(timeout("1.5s", late = keep), name = "t05")]
    fn limited() -> Result<u32, Fault> {
        Ok(1)
    }
    #[resilient(retry(max = 2), name = "t05_off")]
    fn unlimited(clock: &ManualClock) -> Result<u64, Fault> {
        Ok(clock.readings())
    }
    let (clock, _world) = on_a_manual_clock();
    let before = clock.readings();
    assert_eq!((limited(), unlimited(&clock)), (Ok(1), Ok(before + 2)));
    assert_eq!(clock.readings(), before + 2, "without a limit, no clock");
    assert_eq!(setting(Kind::Timeout, "t05", "after"), Value::Duration(1_500 * MS));
    assert!(catalog().find(Kind::Timeout, "t05_off").is_none());
}

#[test]
fn to11_a_computed_zero_is_at_once_and_never_unlimited() {
    #[resilient(timeout(after = *limit, late = timeout), name = "to11")]
    fn call(calls: &Calls, clock: &ManualClock, limit: &Duration) -> Result<u32, Fault> {
        takes(clock, 10 * MS, Ok(calls.begin()))
    }
    let (clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    assert_eq!(refusal(call(&calls, &clock, &Duration::ZERO)), Some((Reason::TimedOut, "to11")));
    assert_eq!((calls.count(), world.ms()), (0, 0), "the body does not start");
    assert_eq!(refusal(call(&calls, &clock, &(9 * MS))), Some((Reason::TimedOut, "to11")));
    assert_eq!(call(&calls, &clock, &(10 * MS)), Ok(2));
    assert_eq!(call(&calls, &clock, &Duration::MAX), Ok(3));
}

#[test]
fn what_is_disabled_makes_nothing_late() {
    #[resilient(deadline = "100ms", timeout("50ms", late = timeout), name = "disabled")]
    fn call(clock: &ManualClock) -> Result<Deadline, Fault> {
        let deadline = Deadline::current();
        takes(clock, 1_000 * MS, Ok(deadline))
    }
    let (clock, _world) = on_a_manual_clock();
    let of = |kind| catalog().find(kind, "disabled").expect("listed");
    of(Kind::Timeout).disable();
    assert_eq!(refusal(call(&clock)), Some((Reason::DeadlineExceeded, "disabled")));
    of(Kind::Deadline).disable();
    assert_eq!(call(&clock), Ok(Deadline::NEVER));
    of(Kind::Timeout).enable();
    assert_eq!(refusal(call(&clock)), Some((Reason::TimedOut, "disabled")));
}

// ---- attempts -------------------------------------------------------------------------------------------------------------

#[test]
fn to05_each_attempt_has_its_own_time() {
    #[resilient(
        timeout = "100ms",
        retry(max = 3, backoff = constant("0s"), jitter = none, on_timeout),
        name = "to05"
    )]
    fn call(calls: &Calls, clock: &ManualClock) -> Result<u32, Fault> {
        let number = calls.begin();
        let left = Deadline::current().remaining();
        assert_eq!(left, Some(100 * MS), "attempt {number}");
        takes(clock, 150 * MS, Err(Fault::Down(number)))
    }
    let (clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    assert_eq!(refusal(call(&calls, &clock)), Some((Reason::TimedOut, "to05")));
    assert_eq!((calls.begun(), world.ms()), (vec![0, 150, 300], 450));
    assert_eq!(counted("to05"), [3, 0, 0]);
}

#[test]
fn t07_a_timeout_is_not_retried_unless_that_is_said() {
    #[resilient(timeout = "100ms", retry(max = 3), name = "t07")]
    fn call(calls: &Calls, clock: &ManualClock, outcome: Result<u32, Fault>) -> Result<u32, Fault> {
        calls.begin();
        takes(clock, 150 * MS, outcome)
    }
    #[resilient(timeout = "100ms", retry(max = 3, on_timeout), name = "t07_keeps")]
    fn keeps(calls: &Calls, clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 150 * MS, Ok(calls.begin()))
    }
    let (clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    let failed = call(&calls, &clock, Err(Fault::Down(1)));
    assert_eq!((refusal(failed), calls.count()), (Some((Reason::TimedOut, "t07")), 1));
    assert_eq!((call(&calls, &clock, Ok(7)), calls.count()), (Ok(7), 2));
    assert_eq!(setting(Kind::Retry, "t07", "on_timeout"), Value::Word("false"));
    assert_eq!((keeps(&calls, &clock), calls.count()), (Ok(3), 3), "a late value is never retried");
}

#[test]
fn t07_where_late_is_a_timeout_a_value_may_be_retried() {
    #[resilient(
        timeout("100ms", late = timeout),
        retry(max = 3, backoff = constant("0s"), jitter = none, on_timeout),
        name = "t07_value"
    )]
    fn call(calls: &Calls, clock: &ManualClock) -> Result<u32, Fault> {
        let number = calls.begin();
        takes(clock, if number < 3 { 150 * MS } else { MS }, Ok(number))
    }
    let (clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    assert_eq!((call(&calls, &clock), world.ms()), (Ok(3), 301));
    assert_eq!(count(Kind::Retry, "t07_value", "recovered"), 1);
}

// ---- nesting --------------------------------------------------------------------------------------------------------------

#[resilient(timeout = "50ms", name = "inner_50")]
fn inner_50(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
    takes(clock, lasts, Err(Fault::Down(1)))
}

#[test]
fn to07_an_inner_timeout_is_passed_on_as_the_inner_one() {
    #[resilient(timeout = "200ms", circuit_breaker, name = "to07_outer")]
    fn outer(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        inner_50(clock, lasts)
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(refusal(outer(&clock, 60 * MS)), Some((Reason::TimedOut, "inner_50")));
    assert_eq!((counted("to07_outer"), votes("to07_outer")), ([0; 3], vec![("ignored", 1)]));
    assert_eq!(refusal(outer(&clock, 300 * MS)), Some((Reason::TimedOut, "to07_outer")));
    assert_eq!(votes("to07_outer"), [("failure", 1), ("ignored", 1)]);
}

#[test]
fn to08_of_equal_nested_timeouts_both_fire_and_the_outer_one_is_named_every_time() {
    #[resilient(timeout = "100ms", name = "to08_inner")]
    fn inner(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 150 * MS, Err(Fault::Down(1)))
    }
    #[resilient(timeout = "100ms", name = "to08_outer")]
    fn outer(clock: &ManualClock) -> Result<u32, Fault> {
        inner(clock)
    }
    listen();
    let (clock, _world) = on_a_manual_clock();
    for _ in 0..1_000 {
        assert_eq!(refusal(outer(&clock)), Some((Reason::TimedOut, "to08_outer")));
    }
    assert_eq!((heard("to08_inner").len(), heard("to08_outer").len()), (1_000, 1_000));
}

#[test]
fn t04_a_call_within_has_no_more_time_than_is_left_outside() {
    #[resilient(timeout = "1s", retry(max = 9, backoff = constant("40ms"), jitter = none), name = "t04_inner")]
    fn inner(calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        assert!(Deadline::current().remaining() <= Some(100 * MS));
        Err(Fault::Down(number))
    }
    #[resilient(timeout = "100ms", name = "t04_outer")]
    fn outer(calls: &Calls) -> Result<u32, Fault> {
        inner(calls)
    }
    let (_clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    assert_eq!(outer(&calls), Err(Fault::Down(3)), "a fourth could only begin at 120 ms");
    assert_eq!((calls.begun(), world.ms()), (vec![0, 40, 80], 80));
}

#[test]
fn b28_what_was_late_only_for_the_caller_is_judged_by_what_it_came_to() {
    #[resilient(timeout = "1m", circuit_breaker(min_calls = 10), name = "b28_below")]
    fn below(clock: &ManualClock) -> Result<u32, Fault> {
        takes(clock, 150 * MS, Ok(7))
    }
    #[resilient(timeout = "100ms", circuit_breaker(min_calls = 10), name = "b28_above")]
    fn above(clock: &ManualClock) -> Result<u32, Fault> {
        below(clock)?;
        Err(Fault::Mine)
    }
    let (clock, _world) = on_a_manual_clock();
    assert_eq!(refusal(above(&clock)), Some((Reason::TimedOut, "b28_above")));
    assert_eq!(votes("b28_above"), [("failure", 1)], "whose time it was");
    assert_eq!((votes("b28_below"), counted("b28_below")), (vec![("success", 1)], [0; 3]));
}

#[test]
fn b28_b29_a_body_that_never_began_is_nobodys_failure() {
    #[resilient(timeout = "1s", circuit_breaker(min_calls = 10), name = "b28_unbegun")]
    fn inner(calls: &Calls) -> Result<u32, Fault> {
        Ok(calls.begin())
    }
    #[resilient(timeout = "100ms", name = "b28_late_caller")]
    fn outer(
        calls: &Calls,
        clock: &ManualClock,
        seen: &Cell<Option<(Reason, &'static str)>>,
    ) -> Result<u32, Fault> {
        clock.advance("100ms");
        seen.set(refusal(inner(calls)));
        Ok(0)
    }
    let ((clock, world), seen) = (on_a_manual_clock(), Cell::new(None));
    let calls = Calls::new(&world);
    assert_eq!(outer(&calls, &clock, &seen), Ok(0));
    assert_eq!(seen.get(), Some((Reason::DeadlineExceeded, "b28_unbegun")));
    assert_eq!((calls.count(), counted("b28_unbegun")), (0, [0, 1, 0]));
    assert_eq!(votes("b28_unbegun"), [("ignored", 1)]);
}

#[test]
fn b27_a_panic_is_a_failure_and_leaves_no_deadline_behind() {
    #[resilient(timeout = "100ms", circuit_breaker(min_calls = 10), name = "b27")]
    fn call() -> Result<u32, Fault> {
        panic!("in the body")
    }
    let (_clock, _world) = on_a_manual_clock();
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    assert_eq!((votes("b27"), Deadline::current()), (vec![("failure", 1)], Deadline::NEVER));
}

// ---- neighbours -----------------------------------------------------------------------------------------------------------

#[test]
fn to06_one_call_timing_out_leaves_its_neighbours_alone() {
    #[resilient(timeout("200ms", late = timeout), name = "to06")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        takes(clock, lasts, Ok(7))
    }
    let on_its_own_clock = |lasts| {
        let (clock, _world) = on_a_manual_clock();
        call(&clock, lasts)
    };
    let [first, second] = std::thread::scope(|scope| {
        let threads =
            [300 * MS, 150 * MS].map(|lasts| scope.spawn(move || on_its_own_clock(lasts)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!((refusal(first), second), (Some((Reason::TimedOut, "to06")), Ok(7)));
}

#[test]
fn to09_an_earlier_call_leaves_nothing_to_a_later_one() {
    #[resilient(timeout("100ms", late = timeout), name = "to09")]
    fn call(clock: &ManualClock, lasts: Duration) -> Result<u32, Fault> {
        assert_eq!(Deadline::current().remaining(), Some(100 * MS));
        takes(clock, lasts, Ok(7))
    }
    let rounds = || {
        let (clock, _world) = on_a_manual_clock();
        for _ in 0..5_000 {
            assert!(call(&clock, 99 * MS).is_ok() && call(&clock, 50 * MS).is_ok());
            clock.advance("500us");
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(rounds);
        }
    });
    assert_eq!(counted("to09"), [0; 3]);
}
