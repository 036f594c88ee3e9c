//! The circuit breaker by hand: the rows of the semantics (B…) and faults from the field (CB…), on the manual clock.

use resil::testing::{Paused, pause};
use resil::{
    CircuitBreaker, CircuitBreakerBuilder, Event, Judgement, Policy, Ratio, Reason, State, Stop,
    TripReason, Window,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use tests::{heard, listen};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn builder(name: &'static str) -> CircuitBreakerBuilder {
    CircuitBreaker::builder(name).window(4).min_calls(2).open_for(10 * SECOND).probes(2)
}

fn fail(breaker: &CircuitBreaker, times: u32) {
    for _ in 0..times {
        breaker.acquire().expect("admitted").failure();
    }
}

fn succeed(breaker: &CircuitBreaker, times: u32) {
    for _ in 0..times {
        breaker.acquire().expect("admitted").success();
    }
}

fn ignore(breaker: &CircuitBreaker, times: u32) {
    for _ in 0..times {
        breaker.acquire().expect("admitted").ignore();
    }
}

fn is_refused(breaker: &CircuitBreaker) -> bool {
    breaker.acquire().is_err()
}

fn counter(breaker: &CircuitBreaker, name: &str) -> u64 {
    let mut value = None;
    breaker
        .counters(&mut |counter| value = value.or((counter.name == name).then_some(counter.value)));
    value.expect("a counter of that name")
}

fn transitions(policy: &str) -> Vec<(State, State, TripReason)> {
    let transition = |event| match event {
        Event::Transition { from, to, reason, .. } => Some((from, to, reason)),
        _ => None,
    };
    heard(policy).into_iter().filter_map(transition).collect()
}

fn open(breaker: &CircuitBreaker) {
    fail(breaker, 2);
    assert_eq!(breaker.state(), State::Open);
}

fn half_open(breaker: &CircuitBreaker, clock: &Paused) {
    open(breaker);
    clock.advance("10s");
}

// ---- what an outcome may change -------------------------------------------------------------------------------------------

#[test]
fn b01_stale_outcome_changes_nothing() {
    let clock = pause();
    let breaker = builder("b01").build();
    let (stale_failure, stale_success) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
    half_open(&breaker, &clock);
    let probe = breaker.acquire().expect("a probe");
    stale_failure.failure();
    stale_success.success();
    assert_eq!((breaker.state(), breaker.window().calls), (State::HalfOpen, 0));
    assert_eq!(counter(&breaker, "lost"), 2);
    probe.success();
    succeed(&breaker, 1);
    assert_eq!((breaker.state(), breaker.window().calls), (State::Closed, 0));
}

#[test]
fn b02_stale_release_frees_no_probe_of_another_period() {
    let clock = pause();
    let breaker = builder("b02").probes(1).build();
    let stale = breaker.acquire().unwrap();
    half_open(&breaker, &clock);
    let _probe = breaker.acquire().expect("the probe");
    stale.ignore();
    assert!(is_refused(&breaker), "the only probe is out");
}

#[test]
fn b03_probe_of_one_half_open_period_does_not_judge_the_next() {
    let clock = pause();
    let breaker = builder("b03").probes(2).build();
    half_open(&breaker, &clock);
    let first_period = breaker.acquire().unwrap();
    let generation = breaker.generation();
    breaker.acquire().unwrap().failure();
    assert_eq!(breaker.state(), State::Open, "1 of 2 is 50 %");
    clock.advance("10s");
    let _probe = breaker.acquire().unwrap();
    assert_eq!((breaker.state(), breaker.generation()), (State::HalfOpen, generation + 2));
    first_period.failure();
    assert_eq!(breaker.state(), State::HalfOpen);
    assert_eq!(counter(&breaker, "lost"), 1);
}

#[test]
fn b03_every_transition_counts_forced_ones_and_resets_too() {
    let breaker = builder("b03_all").build();
    assert_eq!(breaker.generation(), 1);
    breaker.force_open();
    breaker.disable();
    breaker.observe_only();
    breaker.close();
    breaker.reset();
    assert_eq!(breaker.generation(), 6);
    breaker.close();
    assert_eq!(breaker.generation(), 6, "it was closed");
}

#[test]
fn b04_ignored_probe_votes_nothing() {
    let clock = pause();
    let breaker = builder("b04").probes(1).build();
    half_open(&breaker, &clock);
    ignore(&breaker, 10);
    assert_eq!((breaker.state(), breaker.window().calls), (State::HalfOpen, 0));
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn cb01_ignored_probe_returns_its_permit() {
    let clock = pause();
    let breaker = builder("cb01").build();
    half_open(&breaker, &clock);
    ignore(&breaker, 1);
    clock.advance("100ms");
    ignore(&breaker, 1);
    for _ in 0..2 {
        clock.advance("100ms");
        succeed(&breaker, 1);
    }
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn b05_dropped_probe_returns_its_permit_without_a_vote() {
    let clock = pause();
    let breaker = builder("b05").probes(1).build();
    half_open(&breaker, &clock);
    drop(breaker.acquire().expect("the probe"));
    assert_eq!((breaker.state(), counter(&breaker, "abandoned")), (State::HalfOpen, 1));
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn cb03_a_thousand_dropped_probes_wedge_nothing_and_close_nothing() {
    let clock = pause();
    let breaker = builder("cb03").probes(1).build();
    half_open(&breaker, &clock);
    for _ in 0..1_000 {
        let probe = breaker.acquire().expect("a place is free");
        clock.advance("1s");
        drop(probe);
        clock.advance("100ms");
        assert_eq!(breaker.state(), State::HalfOpen);
    }
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
}

// ---- when it opens --------------------------------------------------------------------------------------------------------

#[test]
fn b06_success_that_completes_min_calls_opens() {
    let breaker = builder("b06").min_calls(4).build();
    fail(&breaker, 3);
    assert_eq!(breaker.state(), State::Closed);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn cb11_open_right_after_the_fourth_call() {
    let breaker = builder("cb11").min_calls(4).failure_rate(Ratio::percent(75)).build();
    fail(&breaker, 3);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn b06_slow_successes_open() {
    let clock = pause();
    let breaker = builder("b06_slow").slow_call(100 * MS).slow_rate(Ratio::percent(50)).build();
    for slow in [false, true] {
        let permit = breaker.acquire().unwrap();
        clock.advance(if slow { "101ms" } else { "100ms" });
        permit.success();
    }
    assert_eq!(breaker.state(), State::Open, "one of two was slower than 100 ms, equal is not");
}

#[test]
fn b06_first_outcome_after_a_change_is_judged_by_it() {
    let breaker = builder("b06_live").window(4).min_calls(4).build();
    succeed(&breaker, 3);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
    breaker.set_failure_rate(Ratio::percent(25)).unwrap();
    assert_eq!(breaker.state(), State::Closed, "outcomes decide, not setters");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn b11_rate_is_reached_by_equality_and_slowness_is_not() {
    let breaker = builder("b11").window(10).min_calls(10).build();
    fail(&breaker, 4);
    succeed(&breaker, 5);
    assert_eq!(breaker.state(), State::Closed);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "5 of 10 at 50 %");
}

#[test]
fn b12_rate_of_100_percent_is_allowed_and_0_is_not() {
    let breaker = builder("b12").failure_rate(Ratio::ONE).build();
    fail(&breaker, 1);
    succeed(&breaker, 1);
    fail(&breaker, 2);
    assert_eq!(breaker.state(), State::Closed, "3 of 4");
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "the success is still in the window");
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
    assert_eq!(
        builder("b12").failure_rate(Ratio::ZERO).try_build().unwrap_err().field(),
        "failure_rate"
    );
}

#[test]
fn b07_min_calls_beyond_the_window_are_refused() {
    assert_eq!(builder("b07").window(4).min_calls(5).try_build().unwrap_err().field(), "min_calls");
}

#[test]
fn b16_the_outcome_that_trips_is_in_the_event_of_the_trip() {
    listen();
    let breaker = builder("b16").build();
    fail(&breaker, 2);
    let [Event::Transition { window, generation, .. }] = heard("b16")[..] else {
        panic!("one transition")
    };
    assert_eq!((window, generation), (Window { calls: 2, failures: 2, slow: 0 }, 2));
}

#[test]
fn b25_any_failure_counts_and_ignored_does_not() {
    let breaker = builder("b25").build();
    ignore(&breaker, 100);
    assert_eq!((breaker.window().calls, counter(&breaker, "ignored")), (0, 100));
    breaker.acquire().unwrap().settle(Judgement::TRANSIENT);
    breaker.acquire().unwrap().settle(Judgement::FAILURE);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn cb07_eight_failures_at_once_trip_once() {
    listen();
    for round in 0..50 {
        let name: &'static str = Box::leak(format!("cb07_{round}").into_boxed_str());
        let clock = pause();
        let breaker = builder(name).window(10).min_calls(5).failure_rate(Ratio::ONE).build();
        let together = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _clock = clock.install();
                    let permit = breaker.acquire().expect("admitted before the first failure");
                    together.wait();
                    permit.failure();
                });
            }
        });
        assert_eq!(transitions(name), [(State::Closed, State::Open, TripReason::FailureRate)]);
        clock.advance("10s");
        assert!(!is_refused(&breaker), "a probe at t = 10");
    }
}

#[test]
fn cb12_failures_on_three_threads_always_open_at_three() {
    for _ in 0..200 {
        let breaker = builder("cb12").min_calls(3).failure_rate(Ratio::ONE).build();
        thread::scope(|scope| {
            for _ in 0..3 {
                let permit = breaker.acquire().unwrap();
                scope.spawn(move || permit.failure());
            }
        });
        assert_eq!(breaker.state(), State::Open);
    }
}

#[test]
fn cb15_what_leaves_the_window_leaves_every_count() {
    let clock = pause();
    let breaker = builder("cb15").window(2).slow_call(99 * MS).failure_rate(Ratio::ONE).build();
    let slow_failure = breaker.acquire().unwrap();
    clock.advance("150ms");
    slow_failure.failure();
    assert_eq!(breaker.window(), Window { calls: 1, failures: 1, slow: 1 });
    succeed(&breaker, 4);
    assert_eq!(breaker.window(), Window { calls: 2, failures: 0, slow: 0 });
}

// ---- half-open ------------------------------------------------------------------------------------------------------------

#[test]
fn b08_half_open_decides_as_soon_as_the_outcome_is_fixed() {
    let clock = pause();
    let breaker = builder("b08").probes(3).build();
    half_open(&breaker, &clock);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::HalfOpen, "two failures would still open");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "one failure would not");

    half_open(&breaker, &clock);
    fail(&breaker, 2);
    assert_eq!(breaker.state(), State::Open, "two of three are more than half");
}

#[test]
fn b08_slow_probes_open_again() {
    let clock = pause();
    let breaker =
        builder("b08_slow").slow_call(100 * MS).slow_rate(Ratio::percent(50)).probes(2).build();
    half_open(&breaker, &clock);
    let probe = breaker.acquire().unwrap();
    clock.advance("200ms");
    probe.success();
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn b09_probes_are_a_total_not_a_concurrency() {
    let clock = pause();
    let breaker = builder("b09").probes(3).failure_rate(Ratio::ONE).build();
    half_open(&breaker, &clock);
    let (first, second) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
    first.failure();
    second.failure();
    let _third = breaker.acquire().expect("two failures of three decide nothing at 100 %");
    let refused = breaker.acquire().expect_err("three were asked for");
    assert_eq!((refused.reason(), refused.retry_after()), (Reason::CircuitOpen, None));
}

#[test]
fn b34_exactly_probes_calls_reach_a_sick_backend() {
    for _ in 0..50 {
        let clock = pause();
        let breaker = builder("b34").probes(3).build();
        half_open(&breaker, &clock);
        let together = Barrier::new(8);
        let admitted: usize = thread::scope(|scope| {
            let call = || {
                let _clock = clock.install();
                together.wait();
                breaker.acquire().ok()
            };
            let calls: Vec<_> = (0..8).map(|_| scope.spawn(call)).collect();
            let permits: Vec<_> = calls.into_iter().map(|call| call.join().unwrap()).collect();
            permits.iter().flatten().count()
        });
        assert_eq!(admitted, 3);
    }
}

#[test]
fn b10_probe_that_never_returns_opens_again_for_a_full_wait() {
    let clock = pause();
    let breaker = builder("b10").probes(1).probe_timeout(30 * SECOND).build();
    half_open(&breaker, &clock);
    let late = breaker.acquire().expect("the probe");
    clock.advance("29999ms");
    assert!(is_refused(&breaker));
    assert_eq!(breaker.state(), State::HalfOpen);
    clock.advance("1ms");
    let refused = breaker.acquire().expect_err("the lease is over, the wait begins");
    assert_eq!((breaker.state(), refused.retry_after()), (State::Open, Some(10 * SECOND)));
    late.failure();
    assert_eq!(counter(&breaker, "lost"), 1);
}

#[test]
fn cb04_hung_probe_ends_with_its_lease() {
    listen();
    let clock = pause();
    let breaker = builder("cb04").probes(1).probe_timeout(30 * SECOND).build();
    open(&breaker); // t = 0
    clock.advance("10s");
    let hung = breaker.acquire().expect("the probe at 10");
    for _ in 11..40 {
        clock.advance("1s");
        assert!(is_refused(&breaker));
    }
    clock.advance("1100ms"); // 40.1
    assert!(is_refused(&breaker));
    clock.advance("10s"); // 50.1
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
    clock.advance("9900ms");
    hung.failure();
    assert_eq!((breaker.state(), breaker.window().calls), (State::Closed, 0));
    let reasons: Vec<_> = transitions("cb04").into_iter().map(|(_, _, reason)| reason).collect();
    assert_eq!(
        reasons,
        [
            TripReason::FailureRate,
            TripReason::WaitOver,
            TripReason::ProbeTimeout,
            TripReason::WaitOver,
            TripReason::Recovered
        ]
    );
}

#[test]
fn b10_the_wait_after_a_lost_probe_begins_when_its_lease_ended() {
    let clock = pause();
    let breaker = builder("b10_late").probes(1).probe_timeout(30 * SECOND).build();
    half_open(&breaker, &clock);
    let _hung = breaker.acquire().expect("the probe");
    // Nobody comes for so long that lease (30 s) and wait (10 s) are both over.
    clock.advance("40s");
    assert!(!is_refused(&breaker), "a new probe at once");
}

#[test]
fn b10_a_later_probe_prolongs_the_lease() {
    let clock = pause();
    let breaker = builder("b10_renewed")
        .probes(3)
        .failure_rate(Ratio::ONE)
        .probe_timeout(30 * SECOND)
        .build();
    half_open(&breaker, &clock);
    let _first = breaker.acquire().unwrap();
    clock.advance("29s");
    let _second = breaker.acquire().unwrap();
    clock.advance("29s");
    let _third = breaker.acquire().expect("29 s after the last admission");
    assert_eq!(breaker.state(), State::HalfOpen);
}

#[test]
fn cb10_every_failed_probe_starts_a_full_wait() {
    let clock = pause();
    let breaker = builder("cb10").window(10).min_calls(10).probes(1).build();
    fail(&breaker, 10);
    for _ in 0..2 {
        clock.advance("10s");
        fail(&breaker, 1);
        clock.advance("100ms");
        assert!(is_refused(&breaker));
        clock.advance("9899ms");
        assert!(is_refused(&breaker));
        clock.advance("1ms");
        let _ = breaker.window();
    }
    assert!(!is_refused(&breaker));
}

#[test]
fn cb21_neutral_outcomes_do_not_keep_it_open() {
    let clock = pause();
    let breaker = builder("cb21").probes(5).failure_rate(Ratio::percent(20)).build();
    half_open(&breaker, &clock);
    for nth in 0..5 {
        assert_ne!(breaker.state(), State::Closed, "before success {nth}");
        for _ in 0..4 {
            clock.advance("20s"); // longer than the lease, but no probe is out
            ignore(&breaker, 1);
        }
        succeed(&breaker, 1);
    }
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn cb26_unrelated_finisher_does_not_move_half_open() {
    let clock = pause();
    let breaker = builder("cb26").probes(1).build();
    let unrelated = breaker.acquire().unwrap();
    half_open(&breaker, &clock); // t = 10
    let probe = breaker.acquire().unwrap();
    clock.advance("1s");
    unrelated.failure();
    clock.advance("1s");
    probe.success();
    for wait in ["100ms", "8900ms", "1100ms"] {
        clock.advance(wait);
        succeed(&breaker, 1);
    }
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn b23_flapping_grows_the_wait_and_a_full_window_shrinks_it() {
    let clock = pause();
    let breaker = builder("b23").probes(1).open_for_exponential(5 * SECOND, 2, 60 * SECOND).build();
    open(&breaker);
    for wait in [5, 10, 20, 40, 60, 60] {
        assert_eq!(breaker.retry_after(), Some(wait * SECOND));
        clock.advance(breaker.retry_after().unwrap());
        fail(&breaker, 1);
    }
    clock.advance("60s");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
    succeed(&breaker, 1); // less than a window
    fail(&breaker, 1);
    assert_eq!(breaker.retry_after(), Some(60 * SECOND), "it flaps");
    clock.advance("60s");
    succeed(&breaker, 5);
    fail(&breaker, 2);
    assert_eq!(breaker.retry_after(), Some(5 * SECOND), "it was closed for a full window");
}

#[test]
fn b23_manual_opening_does_not_count() {
    let clock = pause();
    let breaker = builder("b23_manual").open_for_exponential(5 * SECOND, 2, 60 * SECOND).build();
    for _ in 0..3 {
        breaker.force_open();
        breaker.close();
    }
    open(&breaker);
    assert_eq!(breaker.retry_after(), Some(5 * SECOND));
    clock.advance("5s");
    breaker.reset();
    open(&breaker);
    assert_eq!(breaker.retry_after(), Some(5 * SECOND), "a reset starts small again");
}

// ---- open, and time -------------------------------------------------------------------------------------------------------

#[test]
fn b13_the_end_of_the_wait_is_inclusive() {
    let clock = pause();
    let breaker = builder("b13").build();
    open(&breaker);
    clock.advance("9999999999ns");
    let refused = breaker.acquire().expect_err("a nanosecond is left");
    assert_eq!(refused.retry_after(), Some(Duration::from_nanos(1)));
    clock.advance("1ns");
    assert!(!is_refused(&breaker));
}

#[test]
fn b13_a_wait_shorter_than_the_words_unit_is_rounded_up() {
    let clock = pause();
    let breaker = builder("b13_short").open_for(Duration::from_micros(1_500)).build();
    clock.advance("300us");
    open(&breaker);
    clock.advance("1499us");
    assert!(is_refused(&breaker));
    clock.advance("201us");
    assert!(!is_refused(&breaker), "at 2 ms, the next whole millisecond");
}

#[test]
fn b14_b15_cb25_a_clock_that_goes_back_changes_nothing_for_the_worse() {
    let clock = pause();
    let breaker = builder("b14").slow_call(SECOND).build();
    clock.set("100s");
    let permit = breaker.acquire().unwrap();
    clock.set("95s");
    permit.success();
    assert_eq!(
        breaker.window(),
        Window { calls: 1, failures: 0, slow: 0 },
        "a negative span is none"
    );
    fail(&breaker, 1); // open until 105
    clock.set("90s");
    assert_eq!(breaker.acquire().expect_err("open").retry_after(), Some(15 * SECOND));
    clock.set("105s");
    assert!(!is_refused(&breaker), "the end did not move");
}

#[test]
fn b17_hint_on_the_tripping_failure_lengthens_the_wait() {
    let _clock = pause();
    let breaker = builder("b17").max_open_for(60 * SECOND).build();
    let hinted = Judgement::FAILURE.after(30 * SECOND);
    breaker.acquire().unwrap().settle(hinted.after(50 * SECOND));
    breaker.acquire().unwrap().settle(hinted);
    assert_eq!(breaker.retry_after(), Some(30 * SECOND), "only the one that trips is heard");
    breaker.reset();
    fail(&breaker, 1);
    breaker.acquire().unwrap().settle(Judgement::FAILURE.after(Duration::MAX));
    assert_eq!(breaker.retry_after(), Some(60 * SECOND));
}

#[test]
fn b18_state_and_admission_do_not_contradict_each_other() {
    let clock = pause();
    let breaker = builder("b18").build();
    open(&breaker);
    clock.advance("10s");
    assert_eq!(breaker.retry_after(), None, "the wait is over");
    assert_eq!(breaker.state(), State::Open, "until somebody asks");
    let _probe = breaker.acquire().expect("and then it is half-open");
    assert_eq!(breaker.state(), State::HalfOpen);
}

#[test]
fn b19_one_refusal_is_one_event_and_one_count() {
    listen();
    let breaker = builder("b19").build();
    open(&breaker);
    for _ in 0..5 {
        assert!(is_refused(&breaker));
    }
    let refusals =
        heard("b19").into_iter().filter(|event| matches!(event, Event::Refused(_))).count();
    assert_eq!((refusals, counter(&breaker, "refused")), (5, 5));
}

#[test]
fn b21_no_timer_acts_after_a_reset() {
    let clock = pause();
    let breaker = builder("b21").build();
    open(&breaker);
    breaker.reset();
    let generation = breaker.generation();
    clock.advance("1h");
    succeed(&breaker, 1);
    assert_eq!((breaker.state(), breaker.generation()), (State::Closed, generation));
}

#[test]
fn cb06_late_failures_do_not_prolong_the_wait() {
    listen();
    let clock = pause();
    let breaker = builder("cb06").window(3).min_calls(3).build();
    let mut permits: Vec<_> = (0..7).map(|_| breaker.acquire().unwrap()).collect();
    for permit in permits.drain(..3) {
        permit.failure();
    }
    for (permit, wait) in permits.into_iter().zip(["3s", "3s", "3s", "900ms"]) {
        clock.advance(wait);
        permit.failure();
    }
    clock.advance("100ms");
    assert!(!is_refused(&breaker), "a probe at t = 10");
    let opened = transitions("cb06").into_iter().filter(|(_, to, _)| *to == State::Open).count();
    assert_eq!((opened, counter(&breaker, "lost")), (1, 4));
}

// ---- a new window ---------------------------------------------------------------------------------------------------------

#[test]
fn b24_old_failures_do_not_reopen() {
    let clock = pause();
    let breaker = builder("b24").build();
    half_open(&breaker, &clock);
    succeed(&breaker, 2);
    assert_eq!((breaker.state(), breaker.window()), (State::Closed, Window::default()));
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "one outcome is less than min_calls");
}

#[test]
fn cb13_half_open_samples_do_not_reach_the_new_window() {
    let clock = pause();
    let breaker = builder("cb13").window(10).min_calls(10).probes(10).build();
    fail(&breaker, 10);
    clock.advance("10s");
    fail(&breaker, 2);
    succeed(&breaker, 4);
    assert_eq!(breaker.state(), State::HalfOpen);
    succeed(&breaker, 2);
    assert_eq!(breaker.state(), State::Closed, "4 failures of 10 at most");
    fail(&breaker, 5);
    assert_eq!(breaker.state(), State::Closed, "5 outcomes are less than 10");
}

// ---- panics, drops --------------------------------------------------------------------------------------------------------

#[test]
fn b27_a_permit_dropped_by_a_siblings_panic_is_no_failure() {
    let breaker = builder("b27").build();
    for _ in 0..3 {
        let unwinding = catch_unwind(AssertUnwindSafe(|| {
            let _held = breaker.acquire().unwrap();
            panic!("somebody else's");
        }));
        assert!(unwinding.is_err());
    }
    assert_eq!((breaker.state(), breaker.window().calls), (State::Closed, 0));
    assert_eq!(counter(&breaker, "abandoned"), 3);
}

#[test]
fn b28_a_drop_that_comes_too_late_is_a_failure() {
    let clock = pause();
    let breaker = builder("b28").slow_call(SECOND).build();
    let (patient, impatient) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
    clock.advance("1s");
    drop(impatient);
    assert_eq!(breaker.window().calls, 0, "not longer than slow_call: ignored");
    clock.advance("1ns");
    drop(patient);
    assert_eq!(breaker.window(), Window { calls: 1, failures: 1, slow: 1 });
    assert_eq!((counter(&breaker, "abandoned"), counter(&breaker, "slow_failure")), (1, 1));
}

#[test]
fn b31_cancellation_is_nobodys_failure() {
    let breaker = builder("b31").build();
    for _ in 0..100 {
        drop(breaker.acquire().unwrap());
    }
    assert_eq!((breaker.state(), breaker.window().calls), (State::Closed, 0));
}

// ---- operating ------------------------------------------------------------------------------------------------------------

#[test]
fn b33_observe_only_says_what_it_would_have_done() {
    listen();
    let breaker = builder("b33").build();
    breaker.observe_only();
    fail(&breaker, 2);
    assert_eq!(breaker.state(), State::ObserveOnly);
    fail(&breaker, 1);
    let would: Vec<_> =
        heard("b33").into_iter().filter(|event| matches!(event, Event::WouldOpen { .. })).collect();
    let [Event::WouldOpen { reason, window, .. }] = would[..] else {
        panic!("once, not {would:?}")
    };
    assert_eq!((reason, window.failures), (TripReason::FailureRate, 2));
    assert!(!is_refused(&breaker));
}

#[test]
fn a_disabled_breaker_admits_all_and_judges_none() {
    let breaker = builder("disabled").build();
    open(&breaker);
    breaker.disable();
    fail(&breaker, 100);
    assert_eq!((breaker.state(), breaker.window().calls), (State::Disabled, 0));
    assert_eq!(counter(&breaker, "failure"), 102);
}

#[test]
fn a_forced_open_breaker_stays_open_whatever_the_time() {
    let clock = pause();
    let breaker = builder("forced").build();
    breaker.force_open();
    clock.advance("365d");
    let refused = breaker.acquire().expect_err("forced");
    assert_eq!((refused.retry_after(), refused.is_never()), (None, false));
}

#[test]
fn b35_a_live_window_keeps_what_it_counted() {
    let breaker = builder("b35").window(100).min_calls(100).build();
    fail(&breaker, 20);
    succeed(&breaker, 20);
    let generation = breaker.generation();
    breaker.set_window(1_000).unwrap();
    assert_eq!(breaker.window(), Window { calls: 40, failures: 20, slow: 0 });
    assert_eq!(breaker.set_window(50).unwrap_err().field(), "min_calls");
    breaker.set_min_calls(30).unwrap();
    breaker.set_window(30).unwrap();
    assert_eq!(breaker.window(), Window { calls: 30, failures: 10, slow: 0 }, "the newest 30");
    assert_eq!((breaker.generation(), breaker.state()), (generation, State::Closed));
}

#[test]
fn live_probes_that_are_already_in_decide() {
    let clock = pause();
    let breaker = builder("live_probes").probes(5).build();
    half_open(&breaker, &clock);
    succeed(&breaker, 2);
    assert_eq!(breaker.state(), State::HalfOpen);
    breaker.set_probes(2).unwrap();
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "two good probes are all that is asked for");
}

#[test]
fn a_change_that_makes_no_sense_changes_nothing() {
    let breaker = builder("nonsense").build();
    let before = breaker.options();
    assert_eq!(breaker.set_window(0).unwrap_err().field(), "window");
    assert_eq!(breaker.set_failure_rate(Ratio::ZERO).unwrap_err().field(), "failure_rate");
    assert_eq!(breaker.set_open_for(Duration::ZERO).unwrap_err().field(), "open_for");
    assert_eq!(breaker.set_slow_call(Some(Duration::ZERO)).unwrap_err().field(), "slow_call");
    assert_eq!(breaker.set_probes(512).unwrap_err().field(), "probes");
    assert_eq!(breaker.set_probe_timeout(Duration::ZERO).unwrap_err().field(), "probe_timeout");
    assert_eq!(breaker.options(), before);
}

#[test]
fn slow_calls_may_be_switched_on_and_off() {
    let clock = pause();
    let breaker = builder("live_slow").slow_rate(Ratio::percent(50)).build();
    let slow_call = || {
        let permit = breaker.acquire().unwrap();
        clock.advance("1s");
        permit.success();
    };
    slow_call();
    breaker.set_slow_call(Some(100 * MS)).unwrap();
    slow_call();
    assert_eq!(breaker.state(), State::Open, "one of two");
    breaker.reset();
    breaker.set_slow_call(None).unwrap();
    slow_call();
    assert_eq!(breaker.window().slow, 0);
}

// ---- counters and events --------------------------------------------------------------------------------------------------

#[test]
fn b32_rg14_counters_only_rise() {
    let clock = pause();
    let breaker = builder("b32").probes(1).build();
    let mut last = 0;
    for _ in 0..3 {
        half_open(&breaker, &clock);
        succeed(&breaker, 1);
        open(&breaker);
        assert!(is_refused(&breaker));
        breaker.reset();
        let refused = counter(&breaker, "refused");
        assert!(refused > last);
        last = refused;
    }
    assert_eq!((last, counter(&breaker, "failure"), counter(&breaker, "success")), (3, 12, 3));
}

#[test]
fn rg12_every_call_is_in_exactly_one_counter() {
    let clock = pause();
    let breaker =
        builder("rg12").window(100).min_calls(50).slow_call(SECOND).open_for(MS).probes(2).build();
    const THREADS: u64 = 8;
    const CALLS: u64 = 5_000;
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (breaker, clock) = (&breaker, &clock);
            scope.spawn(move || {
                let _clock = clock.install();
                for call in 0..CALLS {
                    let Ok(permit) = breaker.acquire() else {
                        clock.advance("100us");
                        continue;
                    };
                    match (thread + call) % 7 {
                        0..3 => permit.failure(),
                        3 => permit.ignore(),
                        4 => drop(permit),
                        _ => permit.success(),
                    }
                }
            });
        }
    });
    let mut sum = 0;
    breaker.counters(&mut |counter| sum += counter.value);
    assert_eq!(sum, THREADS * CALLS);
    assert!(
        counter(&breaker, "refused") > 0 && counter(&breaker, "lost") > 0,
        "the rare paths were taken"
    );
}

#[test]
fn b20_rg10_one_event_a_transition_in_order() {
    listen();
    let clock = pause();
    let breaker = builder("b20").probes(1).build();
    half_open(&breaker, &clock);
    fail(&breaker, 1);
    clock.advance("10s");
    succeed(&breaker, 1);
    breaker.force_open();
    assert_eq!(
        transitions("b20"),
        [
            (State::Closed, State::Open, TripReason::FailureRate),
            (State::Open, State::HalfOpen, TripReason::WaitOver),
            (State::HalfOpen, State::Open, TripReason::FailureRate),
            (State::Open, State::HalfOpen, TripReason::WaitOver),
            (State::HalfOpen, State::Closed, TripReason::Recovered),
            (State::Closed, State::ForcedOpen, TripReason::Manual),
        ]
    );
}

#[test]
fn rg10_both_rates_passed_by_one_call_are_one_event() {
    listen();
    let clock = pause();
    let breaker = builder("rg10").slow_call(MS).slow_rate(Ratio::percent(50)).build();
    for _ in 0..2 {
        let permit = breaker.acquire().unwrap();
        clock.advance("2ms");
        permit.failure();
    }
    assert_eq!(transitions("rg10"), [(State::Closed, State::Open, TripReason::FailureRate)]);
}

#[test]
fn rg09_the_last_event_names_the_state_whoever_tells_it() {
    listen();
    let breaker = builder("rg09").build();
    let crossed =
        |told: &(State, State, TripReason)| told.0 != State::Closed && told.1 != State::Closed;
    let mut told = Vec::new();
    // Until one has forced the breaker from the state that the other had forced it to: then they have met.
    for _ in 0..1_000 {
        let together = Barrier::new(2);
        thread::scope(|scope| {
            for forced in [true, false] {
                let (breaker, together) = (&breaker, &together);
                scope.spawn(move || {
                    together.wait();
                    for _ in 0..500 {
                        if forced {
                            breaker.force_open()
                        } else {
                            breaker.disable()
                        }
                        breaker.close();
                    }
                });
            }
        });
        told = transitions("rg09");
        if told.iter().any(crossed) {
            break;
        }
    }
    assert!(told.iter().any(crossed), "the threads never met");
    assert!(told.windows(2).all(|pair| pair[0].1 == pair[1].0), "each begins where the last ended");
    assert_eq!(told.last().expect("some").1, breaker.state());
    assert_eq!(told.len() as u32, breaker.generation() - 1, "none is missing");
}

#[test]
fn the_words_of_states_and_stops_are_those_of_the_field() {
    let words: Vec<_> = [State::Closed, State::Open, State::HalfOpen].map(State::as_str).into();
    assert_eq!(words, ["closed", "open", "half-open"]);
    assert_ne!(Stop::Attempts, Stop::Deadline);
}
