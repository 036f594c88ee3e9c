//! The circuit breaker by hand, by failures in a row.

use resil::testing::pause;
use resil::{Criterion, Event, Judgement, Policy, State, TripReason, Value, Window};
use std::sync::Barrier;
use std::thread;
use tests::breaker::{MS, Mode, SECOND, counter, fail, half_open, ignore, succeed, transitions};
use tests::{heard, listen};

fn row(failures: u32) -> Window {
    Window { calls: failures, failures, slow: 0 }
}

#[test]
fn it_opens_after_so_many_failures_in_a_row() {
    for failures in [1, 2, 5, 1_024] {
        let breaker = Mode::Consecutive.opening_after(failures, "row").build();
        fail(&breaker, failures - 1);
        assert_eq!((breaker.state(), breaker.window()), (State::Closed, row(failures - 1)));
        fail(&breaker, 1);
        assert_eq!(breaker.state(), State::Open);
    }
}

#[test]
fn a_success_ends_the_row() {
    let breaker = Mode::Consecutive.opening_after(3, "ended").build();
    for _ in 0..100 {
        fail(&breaker, 2);
        succeed(&breaker, 1);
        assert_eq!((breaker.state(), breaker.window()), (State::Closed, row(0)));
    }
    assert_eq!(breaker.failure_rate(), None, "it has none");
}

#[test]
fn b25_an_ignored_outcome_neither_counts_nor_ends_the_row() {
    let breaker = Mode::Consecutive.opening_after(3, "ignored").build();
    fail(&breaker, 2);
    ignore(&breaker, 10);
    drop(breaker.acquire().unwrap());
    assert_eq!((breaker.state(), breaker.window()), (State::Closed, row(2)));
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn b06_a_slow_call_is_as_bad_as_a_failed_one() {
    listen();
    let clock = pause();
    let breaker = Mode::Consecutive.opening_after(3, "slow").slow_call(100 * MS).build();
    let call = |span: &'static str, judgement| {
        let permit = breaker.acquire().unwrap();
        clock.advance(span);
        permit.settle(judgement);
    };
    call("101ms", Judgement::SUCCESS);
    call("100ms", Judgement::SUCCESS);
    assert_eq!(breaker.window(), row(0), "equal is not slow");
    call("101ms", Judgement::SUCCESS);
    call("1ms", Judgement::FAILURE);
    call("101ms", Judgement::SUCCESS);
    assert_eq!(
        transitions(breaker.name()),
        [(State::Closed, State::Open, TripReason::Consecutive)]
    );
    assert_eq!((counter(&breaker, "slow_success"), counter(&breaker, "failure")), (3, 1));
}

#[test]
fn b08_a_slow_probe_is_a_failed_one() {
    let clock = pause();
    let breaker = Mode::Consecutive.builder("slow probes").slow_call(100 * MS).build();
    half_open(&breaker, &clock);
    let probe = breaker.acquire().unwrap();
    clock.advance("101ms");
    probe.success();
    assert_eq!(breaker.state(), State::Open, "one of two");
    assert_eq!(counter(&breaker, "slow_success"), 1);
}

#[test]
fn b28_b38_the_wait_at_an_inner_gate_is_no_part_of_the_row() {
    let clock = pause();
    let breaker = Mode::Consecutive.builder("gated").slow_call(SECOND).build();
    let mut gated = breaker.acquire_gated().unwrap();
    clock.advance("1h");
    gated.begin(None);
    clock.advance("1s");
    gated.success();
    assert_eq!(breaker.window(), row(0));
    let late = breaker.acquire().unwrap();
    clock.advance("1001ms");
    drop(late);
    assert_eq!(breaker.window(), row(1), "given up on after it was slow");
}

/// CB12: the third failure opens only if no success came before it, and three at once always do.
#[test]
fn cb12_a_row_is_in_a_row() {
    listen();
    for round in 0..200 {
        let breaker = Mode::Consecutive.opening_after(3, &format!("cb12 {round}")).build();
        fail(&breaker, 2);
        let together = Barrier::new(2);
        let (failing, succeeding) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
        thread::scope(|scope| {
            scope.spawn(|| {
                together.wait();
                failing.failure();
            });
            together.wait();
            succeeding.success();
        });
        match breaker.state() {
            State::Closed => assert_eq!(breaker.window(), row(1), "the success came first"),
            state => assert_eq!((state, counter(&breaker, "lost")), (State::Open, 1)),
        }
    }
}

#[test]
fn b16_the_row_is_in_the_event() {
    listen();
    let breaker = Mode::Consecutive.opening_after(3, "b16").build();
    fail(&breaker, 2);
    succeed(&breaker, 1);
    fail(&breaker, 3);
    let [Event::Transition { window, reason, .. }] = heard(breaker.name())[..] else {
        panic!("one transition")
    };
    assert_eq!((window, reason), (row(3), TripReason::Consecutive));
}

#[test]
fn b35_a_row_goes_on_when_its_length_changes() {
    let breaker = Mode::Consecutive.opening_after(10, "b35").build();
    fail(&breaker, 6);
    let generation = breaker.generation();
    breaker.set_consecutive(5).unwrap();
    assert_eq!(
        (breaker.state(), breaker.window()),
        (State::Closed, row(6)),
        "outcomes decide, not setters"
    );
    breaker.set_consecutive(8).unwrap();
    fail(&breaker, 1);
    assert_eq!((breaker.state(), breaker.generation()), (State::Closed, generation));
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);

    breaker.reset();
    fail(&breaker, 6);
    breaker.set_consecutive(3).unwrap();
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "longer than it takes now");
}

#[test]
fn b35_slowness_may_begin_to_count_in_the_middle_of_a_row() {
    let clock = pause();
    let breaker = Mode::Consecutive.opening_after(2, "b35 slow").build();
    let call = || {
        let permit = breaker.acquire().unwrap();
        clock.advance("1s");
        permit.success();
    };
    call();
    breaker.set_slow_call(Some(100 * MS)).unwrap();
    call();
    assert_eq!(breaker.window(), row(1));
    breaker.set_slow_call(None).unwrap();
    call();
    assert_eq!(breaker.window(), row(0));
}

#[test]
fn it_shows_no_rates() {
    let breaker = Mode::Consecutive.opening_after(5, "shown").slow_call(SECOND).build();
    let mut settings = Vec::new();
    breaker.settings(&mut |setting| settings.push((setting.name, setting.value)));
    assert_eq!(
        settings[..2],
        [("consecutive", Value::Count(5)), ("slow_call", Value::Duration(SECOND))]
    );
    assert!(
        !settings
            .iter()
            .any(|(name, _)| ["window", "min_calls", "failure_rate", "slow_rate"].contains(name))
    );
    assert_eq!(breaker.options().criterion, Criterion::Consecutive(5));
}

/// B23: what is a window elsewhere is here as many outcomes as a row has.
#[test]
fn b23_flapping_goes_on_until_as_many_outcomes_as_a_row_has() {
    let clock = pause();
    let builder = Mode::Consecutive.opening_after(3, "b23").probes(1);
    let breaker = builder.open_for_exponential(5 * SECOND, 2, 60 * SECOND).build();
    fail(&breaker, 3);
    clock.advance("5s");
    succeed(&breaker, 1);
    succeed(&breaker, 1);
    fail(&breaker, 3);
    assert_eq!(breaker.retry_after(), Some(5 * SECOND), "one and two are as many as a row");

    clock.advance("5s");
    succeed(&breaker, 1);
    fail(&breaker, 3);
    assert_eq!(breaker.retry_after(), Some(10 * SECOND), "it opened with the third");
}
