//! The circuit breaker by hand: forced, changed while it works, counted and listened to.

use resil::testing::pause;
use resil::{Event, Policy, Ratio, State, Stop, TripReason, Window};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use tests::breaker::{
    MS, Mode, SECOND, counter, fail, half_open, is_refused, open, succeed, transitions,
};
use tests::{heard, listen, modes, windows};

fn b33_observe_only_says_what_it_would_have_done(mode: Mode) {
    listen();
    let breaker = mode.builder("b33").build();
    breaker.observe_only();
    fail(&breaker, 2);
    assert_eq!(breaker.state(), State::ObserveOnly);
    fail(&breaker, 1);
    let would: Vec<_> = heard(breaker.name())
        .into_iter()
        .filter(|event| matches!(event, Event::WouldOpen { .. }))
        .collect();
    let [Event::WouldOpen { reason, window, .. }] = would[..] else {
        panic!("once, not {would:?}")
    };
    assert_eq!((reason, window.failures), (mode.reason(), 2));
    assert!(!is_refused(&breaker));
}
modes!(b33_observe_only_says_what_it_would_have_done);

fn a_disabled_breaker_admits_all_and_judges_none(mode: Mode) {
    let breaker = mode.builder("disabled").build();
    open(&breaker);
    breaker.disable();
    fail(&breaker, 100);
    assert_eq!((breaker.state(), breaker.window().calls), (State::Disabled, 0));
    assert_eq!(counter(&breaker, "failure"), 102);
}
modes!(a_disabled_breaker_admits_all_and_judges_none);

fn a_forced_open_breaker_stays_open_whatever_the_time(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("forced").build();
    breaker.force_open();
    clock.advance("365d");
    let refused = breaker.acquire().expect_err("forced");
    assert_eq!((refused.retry_after(), refused.is_never()), (None, false));
}
modes!(a_forced_open_breaker_stays_open_whatever_the_time);

#[test]
fn b35_a_live_window_of_calls_keeps_what_it_counted() {
    let breaker = Mode::Calls.builder("b35").window(100).min_calls(100).build();
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

fn live_probes_that_are_already_in_decide(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("live_probes").probes(5).build();
    half_open(&breaker, &clock);
    succeed(&breaker, 2);
    assert_eq!(breaker.state(), State::HalfOpen);
    breaker.set_probes(2).unwrap();
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "two good probes are all that is asked for");
}
modes!(live_probes_that_are_already_in_decide);

fn a_change_that_makes_no_sense_changes_nothing(mode: Mode) {
    let breaker = mode.builder("nonsense").build();
    let before = breaker.options();
    let mut refused = vec![
        (breaker.set_window(0), "window"),
        (breaker.set_window_for(99 * MS), "window"),
        (breaker.set_consecutive(0), "consecutive"),
        (breaker.set_min_calls(0), "min_calls"),
        (breaker.set_failure_rate(Ratio::ZERO), "failure_rate"),
        (breaker.set_slow_rate(Ratio::ZERO), "slow_rate"),
        (breaker.set_open_for(Duration::ZERO), "open_for"),
        (breaker.set_slow_call(Some(Duration::ZERO)), "slow_call"),
        (breaker.set_probes(512), "probes"),
        (breaker.set_probe_timeout(Duration::ZERO), "probe_timeout"),
    ];
    // What makes sense, but not for this one.
    match mode {
        Mode::Calls => refused.extend([
            (breaker.set_window_for(SECOND), "window"),
            (breaker.set_consecutive(5), "consecutive"),
        ]),
        Mode::Time => refused.extend([
            (breaker.set_window(5), "window"),
            (breaker.set_consecutive(5), "consecutive"),
        ]),
        Mode::Consecutive => refused.extend([
            (breaker.set_window(5), "window"),
            (breaker.set_window_for(SECOND), "window"),
            (breaker.set_min_calls(5), "min_calls"),
            (breaker.set_failure_rate(Ratio::ONE), "failure_rate"),
            (breaker.set_slow_rate(Ratio::ONE), "slow_rate"),
        ]),
    }
    for (change, field) in refused {
        let invalid = change.expect_err(field);
        assert_eq!(invalid.field(), field);
        assert!(invalid.problem().contains(&format!("`{field}`")), "{invalid}");
    }
    assert_eq!(breaker.options(), before);
}
modes!(a_change_that_makes_no_sense_changes_nothing);

fn slow_calls_may_be_switched_on_and_off(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("live_slow").slow_rate(Ratio::percent(50)).build();
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
windows!(slow_calls_may_be_switched_on_and_off);

fn b32_rg14_counters_only_rise(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b32").probes(1).build();
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
modes!(b32_rg14_counters_only_rise);

fn rg12_every_call_is_in_exactly_one_counter(mode: Mode) {
    const THREADS: u64 = 8;
    const CALLS: u64 = 5_000;
    let clock = pause();
    // Three of seven fail: never fifty in a row.
    let failures = if mode == Mode::Consecutive { 3 } else { 50 };
    let breaker =
        mode.opening_after(failures, "rg12").slow_call(SECOND).open_for(MS).probes(2).build();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (breaker, clock) = (&breaker, &clock);
            scope.spawn(move || {
                let _clock = clock.install();
                let mut under_way = None;
                for call in 0..CALLS {
                    let admitted = breaker.acquire();
                    if admitted.is_err() {
                        clock.advance("100us");
                    }
                    // The one before ends after the next has begun, so that some come too late.
                    let Some(permit) = std::mem::replace(&mut under_way, admitted.ok()) else {
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
modes!(rg12_every_call_is_in_exactly_one_counter);

fn b20_rg10_one_event_a_transition_in_order(mode: Mode) {
    listen();
    let clock = pause();
    let breaker = mode.builder("b20").probes(1).build();
    half_open(&breaker, &clock);
    fail(&breaker, 1);
    clock.advance("10s");
    succeed(&breaker, 1);
    breaker.force_open();
    assert_eq!(
        transitions(breaker.name()),
        [
            (State::Closed, State::Open, mode.reason()),
            (State::Open, State::HalfOpen, TripReason::WaitOver),
            (State::HalfOpen, State::Open, TripReason::FailureRate),
            (State::Open, State::HalfOpen, TripReason::WaitOver),
            (State::HalfOpen, State::Closed, TripReason::Recovered),
            (State::Closed, State::ForcedOpen, TripReason::Manual),
        ]
    );
}
modes!(b20_rg10_one_event_a_transition_in_order);

fn rg10_both_rates_passed_by_one_call_are_one_event(mode: Mode) {
    listen();
    let clock = pause();
    let breaker = mode.builder("rg10").slow_call(MS).slow_rate(Ratio::percent(50)).build();
    for _ in 0..2 {
        let permit = breaker.acquire().unwrap();
        clock.advance("2ms");
        permit.failure();
    }
    assert_eq!(
        transitions(breaker.name()),
        [(State::Closed, State::Open, TripReason::FailureRate)]
    );
}
windows!(rg10_both_rates_passed_by_one_call_are_one_event);

fn b22_rg09_the_last_event_names_the_state_whoever_tells_it(mode: Mode) {
    listen();
    let breaker = mode.builder("rg09").build();
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
                            breaker.force_open();
                        } else {
                            breaker.disable();
                        }
                        breaker.close();
                    }
                });
            }
        });
        told = transitions(breaker.name());
        if told.iter().any(crossed) {
            break;
        }
    }
    assert!(told.iter().any(crossed), "the threads never met");
    assert!(told.windows(2).all(|pair| pair[0].1 == pair[1].0), "each begins where the last ended");
    assert_eq!(told.last().expect("some").1, breaker.state());
    assert_eq!(told.len(), breaker.generation() as usize - 1, "none is missing");
}
modes!(b22_rg09_the_last_event_names_the_state_whoever_tells_it);

#[test]
fn the_words_of_states_and_stops_are_those_of_the_field() {
    let words: Vec<_> = [State::Closed, State::Open, State::HalfOpen].map(State::as_str).into();
    assert_eq!(words, ["closed", "open", "half-open"]);
    assert_ne!(Stop::Attempts, Stop::Deadline);
}
