//! The circuit breaker by hand: what an outcome may change, when it opens, what a new window knows of the old one.

use resil::testing::pause;
use resil::{Event, Judgement, Ratio, State, Window};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use tests::breaker::{
    MS, Mode, SECOND, counter, fail, half_open, ignore, is_refused, succeed, transitions,
};
use tests::{heard, listen, modes, windows};

fn b01_stale_outcome_changes_nothing(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b01").build();
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
modes!(b01_stale_outcome_changes_nothing);

fn b02_stale_release_frees_no_probe_of_another_period(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b02").probes(1).build();
    let stale = breaker.acquire().unwrap();
    half_open(&breaker, &clock);
    let _probe = breaker.acquire().expect("the probe");
    stale.ignore();
    assert!(is_refused(&breaker), "the only probe is out");
}
modes!(b02_stale_release_frees_no_probe_of_another_period);

fn b03_probe_of_one_half_open_period_does_not_judge_the_next(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b03").probes(2).build();
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
modes!(b03_probe_of_one_half_open_period_does_not_judge_the_next);

fn b03_every_transition_counts_forced_ones_and_resets_too(mode: Mode) {
    let breaker = mode.builder("b03_all").build();
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
modes!(b03_every_transition_counts_forced_ones_and_resets_too);

fn b04_ignored_probe_votes_nothing(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b04").probes(1).build();
    half_open(&breaker, &clock);
    ignore(&breaker, 10);
    assert_eq!((breaker.state(), breaker.window().calls), (State::HalfOpen, 0));
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
}
modes!(b04_ignored_probe_votes_nothing);

fn cb01_ignored_probe_returns_its_permit(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("cb01").build();
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
modes!(cb01_ignored_probe_returns_its_permit);

fn b05_dropped_probe_returns_its_permit_without_a_vote(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b05").probes(1).build();
    half_open(&breaker, &clock);
    drop(breaker.acquire().expect("the probe"));
    assert_eq!((breaker.state(), counter(&breaker, "abandoned")), (State::HalfOpen, 1));
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
}
modes!(b05_dropped_probe_returns_its_permit_without_a_vote);

fn cb03_a_thousand_dropped_probes_wedge_nothing_and_close_nothing(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("cb03").probes(1).build();
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
modes!(cb03_a_thousand_dropped_probes_wedge_nothing_and_close_nothing);

fn b06_success_that_completes_min_calls_opens(mode: Mode) {
    let breaker = mode.builder("b06").min_calls(4).build();
    fail(&breaker, 3);
    assert_eq!(breaker.state(), State::Closed);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}
windows!(b06_success_that_completes_min_calls_opens);

fn cb11_open_right_after_the_fourth_call(mode: Mode) {
    let breaker = mode.builder("cb11").min_calls(4).failure_rate(Ratio::percent(75)).build();
    fail(&breaker, 3);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}
windows!(cb11_open_right_after_the_fourth_call);

fn b06_slow_successes_open(mode: Mode) {
    let clock = pause();
    let breaker =
        mode.builder("b06_slow").slow_call(100 * MS).slow_rate(Ratio::percent(50)).build();
    for slow in [false, true] {
        let permit = breaker.acquire().unwrap();
        clock.advance(if slow { "101ms" } else { "100ms" });
        permit.success();
    }
    assert_eq!(breaker.state(), State::Open, "one of two was slower than 100 ms, equal is not");
}
windows!(b06_slow_successes_open);

fn b06_first_outcome_after_a_change_is_judged_by_it(mode: Mode) {
    let breaker = mode.builder("b06_live").min_calls(4).build();
    succeed(&breaker, 3);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
    breaker.set_failure_rate(Ratio::percent(20)).unwrap();
    assert_eq!(breaker.state(), State::Closed, "outcomes decide, not setters");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}
windows!(b06_first_outcome_after_a_change_is_judged_by_it);

fn b11_rate_is_reached_by_equality_and_slowness_is_not(mode: Mode) {
    let breaker = mode.opening_after(10, "b11").build();
    fail(&breaker, 4);
    succeed(&breaker, 5);
    assert_eq!(breaker.state(), State::Closed);
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "5 of 10 at 50 %");
}
windows!(b11_rate_is_reached_by_equality_and_slowness_is_not);

#[test]
fn b12_rate_of_100_percent_is_allowed() {
    let breaker = Mode::Calls.builder("b12").failure_rate(Ratio::ONE).build();
    fail(&breaker, 1);
    succeed(&breaker, 1);
    fail(&breaker, 2);
    assert_eq!(breaker.state(), State::Closed, "3 of 4");
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "the success is still in the window");
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

fn b12_rate_of_0_percent_is_refused(mode: Mode) {
    let invalid = mode.builder("b12_zero").failure_rate(Ratio::ZERO).try_build().unwrap_err();
    assert_eq!(invalid.field(), "failure_rate");
}
windows!(b12_rate_of_0_percent_is_refused);

#[test]
fn b07_min_calls_beyond_the_window_are_refused() {
    let invalid = Mode::Calls.builder("b07").window(4).min_calls(5).try_build().unwrap_err();
    assert_eq!(invalid.field(), "min_calls");
}

fn b16_the_outcome_that_trips_is_in_the_event_of_the_trip(mode: Mode) {
    listen();
    let breaker = mode.builder("b16").build();
    fail(&breaker, 2);
    let [Event::Transition { window, generation, .. }] = heard(breaker.name())[..] else {
        panic!("one transition")
    };
    assert_eq!((window, generation), (Window { calls: 2, failures: 2, slow: 0 }, 2));
}
modes!(b16_the_outcome_that_trips_is_in_the_event_of_the_trip);

fn b25_any_failure_counts_and_ignored_does_not(mode: Mode) {
    let breaker = mode.builder("b25").build();
    ignore(&breaker, 100);
    assert_eq!((breaker.window().calls, counter(&breaker, "ignored")), (0, 100));
    breaker.acquire().unwrap().settle(Judgement::TRANSIENT);
    breaker.acquire().unwrap().settle(Judgement::FAILURE);
    assert_eq!(breaker.state(), State::Open);
}
modes!(b25_any_failure_counts_and_ignored_does_not);

fn cb07_eight_failures_at_once_trip_once(mode: Mode) {
    listen();
    for round in 0..50 {
        let clock = pause();
        let breaker = mode.opening_after(5, &format!("cb07_{round}")).build();
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
        assert_eq!(transitions(breaker.name()), [(State::Closed, State::Open, mode.reason())]);
        clock.advance("10s");
        assert!(!is_refused(&breaker), "a probe at t = 10");
    }
}
modes!(cb07_eight_failures_at_once_trip_once);

fn cb12_failures_on_three_threads_always_open_at_three(mode: Mode) {
    for _ in 0..200 {
        let breaker = mode.opening_after(3, "cb12").build();
        thread::scope(|scope| {
            for _ in 0..3 {
                let permit = breaker.acquire().unwrap();
                scope.spawn(move || permit.failure());
            }
        });
        assert_eq!(breaker.state(), State::Open);
    }
}
modes!(cb12_failures_on_three_threads_always_open_at_three);

#[test]
fn cb15_what_leaves_the_window_leaves_every_count() {
    let clock = pause();
    let breaker =
        Mode::Calls.builder("cb15").window(2).slow_call(99 * MS).failure_rate(Ratio::ONE).build();
    let slow_failure = breaker.acquire().unwrap();
    clock.advance("150ms");
    slow_failure.failure();
    assert_eq!(breaker.window(), Window { calls: 1, failures: 1, slow: 1 });
    succeed(&breaker, 4);
    assert_eq!(breaker.window(), Window { calls: 2, failures: 0, slow: 0 });
}

fn b24_old_failures_do_not_reopen(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b24").build();
    half_open(&breaker, &clock);
    succeed(&breaker, 2);
    assert_eq!((breaker.state(), breaker.window()), (State::Closed, Window::default()));
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "one outcome is less than min_calls");
}
modes!(b24_old_failures_do_not_reopen);

fn cb13_half_open_samples_do_not_reach_the_new_window(mode: Mode) {
    let clock = pause();
    let breaker = mode.opening_after(10, "cb13").probes(10).build();
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
modes!(cb13_half_open_samples_do_not_reach_the_new_window);

fn b27_a_permit_dropped_by_a_siblings_panic_is_no_failure(mode: Mode) {
    let breaker = mode.builder("b27").build();
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
modes!(b27_a_permit_dropped_by_a_siblings_panic_is_no_failure);

fn b28_a_drop_that_comes_too_late_is_a_failure(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b28").slow_call(SECOND).build();
    let (patient, impatient) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
    clock.advance("1s");
    drop(impatient);
    assert_eq!(breaker.window().calls, 0, "not longer than slow_call: ignored");
    clock.advance("1ns");
    drop(patient);
    assert_eq!((breaker.window().calls, breaker.window().failures), (1, 1));
    assert_eq!((counter(&breaker, "abandoned"), counter(&breaker, "slow_failure")), (1, 1));
}
modes!(b28_a_drop_that_comes_too_late_is_a_failure);

fn b38_the_wait_at_an_inner_gate_is_nobodys_latency(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b38").slow_call(SECOND).build();
    let mut gated = breaker.acquire_gated().unwrap();
    clock.advance("1h");
    gated.begin(None);
    clock.advance("1s");
    gated.success();
    assert_eq!(breaker.window(), Window { calls: 1, failures: 0, slow: 0 });

    let mut slow = breaker.acquire_gated().unwrap();
    let admitted_at = clock.now();
    clock.advance("1ns");
    slow.begin(Some(admitted_at));
    slow.begin(None); // it has begun
    clock.advance("1s");
    slow.success();
    assert_eq!(breaker.window(), Window { calls: 2, failures: 0, slow: 1 });
}
windows!(b38_the_wait_at_an_inner_gate_is_nobodys_latency);

fn b38_b29_a_call_that_an_inner_gate_refuses_has_never_begun(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b38_refused").slow_call(SECOND).build();
    for _ in 0..3 {
        let (dropped, ignored) =
            (breaker.acquire_gated().unwrap(), breaker.acquire_gated().unwrap());
        clock.advance("1h");
        drop(dropped);
        ignored.ignore();
    }
    assert_eq!((breaker.state(), breaker.window()), (State::Closed, Window::default()));
    assert_eq!((counter(&breaker, "abandoned"), counter(&breaker, "ignored")), (3, 3));
}
modes!(b38_b29_a_call_that_an_inner_gate_refuses_has_never_begun);

fn b38_a_gated_call_is_a_probe_like_any_other(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b38_probe").slow_call(SECOND).probes(1).build();
    half_open(&breaker, &clock);
    let mut probe = breaker.acquire_gated().expect("the probe");
    assert!(breaker.acquire_gated().is_err() && is_refused(&breaker), "the only one");
    clock.advance("2s");
    probe.begin(None);
    probe.success();
    assert_eq!((breaker.state(), counter(&breaker, "success")), (State::Closed, 1));
}
modes!(b38_a_gated_call_is_a_probe_like_any_other);

/// Where slowness does not count, nothing begins; nor does a call that began before it counted.
fn b38_without_slow_call_there_is_nothing_to_begin(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b38_off").build();
    let mut gated = breaker.acquire_gated().unwrap();
    breaker.set_slow_call(Some(MS)).unwrap();
    gated.begin(None);
    clock.advance("1s");
    gated.success();
    assert_eq!(breaker.window().slow, 0, "it was admitted while slowness did not count");
}
windows!(b38_without_slow_call_there_is_nothing_to_begin);

fn b31_cancellation_is_nobodys_failure(mode: Mode) {
    let breaker = mode.builder("b31").build();
    for _ in 0..100 {
        drop(breaker.acquire().unwrap());
    }
    assert_eq!((breaker.state(), breaker.window().calls), (State::Closed, 0));
}
modes!(b31_cancellation_is_nobodys_failure);

/// The clean window's no-op is exact: a failure that comes into a full window leaves it again, and not before its time.
#[test]
fn a_failure_stays_in_a_full_window_for_as_many_calls_as_it_has() {
    let breaker = Mode::Calls.builder("full_window").failure_rate(Ratio::ONE).build();
    succeed(&breaker, 6);
    for _ in 0..3 {
        fail(&breaker, 1);
        for failures in [1, 1, 1, 1, 0, 0] {
            assert_eq!(breaker.window(), Window { calls: 4, failures, slow: 0 });
            succeed(&breaker, 1);
        }
    }
}
