//! The circuit breaker by hand, by a window of time: what counts for how long, and when it is looked at.

use resil::testing::{Paused, pause};
use resil::{
    CircuitBreaker, CircuitBreakerBuilder, Criterion, Policy, Ratio, State, Value, Window,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tests::breaker::{MS, Mode, SECOND, counter, fail, half_open, is_refused, succeed};

/// A window of 10 s that nothing fills.
fn wide(name: &str) -> CircuitBreakerBuilder {
    Mode::Time.builder(name).min_calls(1_000)
}

/// A clock at the beginning of a bucket.
fn at_zero() -> Paused {
    let clock = pause();
    clock.set("0s");
    clock
}

fn window(calls: u32, failures: u32) -> Window {
    Window { calls, failures, slow: 0 }
}

// ---- how long an outcome counts -------------------------------------------------------------------------------------------

#[test]
fn b36_a_window_of_time_has_ten_buckets() {
    let clock = at_zero();
    for (span, bucket) in
        [("100ms", 10 * MS), ("1s", 100 * MS), ("10s", SECOND), ("24h", 8_640 * SECOND)]
    {
        let whole = 10 * bucket;
        let breaker = wide(&format!("b36 {span}")).window_for(whole).build();
        clock.set("0s");
        for _ in 0..30 {
            fail(&breaker, 1);
            clock.advance(bucket);
        }
        assert_eq!(breaker.window(), window(9, 9), "those of the last nine buckets: {span}");
        fail(&breaker, 1);
        assert_eq!(breaker.window(), window(10, 10), "{span}");
        clock.advance(whole.saturating_sub(bucket));
        assert_eq!(breaker.window(), window(1, 1), "{span}");
        clock.advance(bucket);
        assert_eq!(breaker.window(), window(0, 0), "{span}");
    }
}

#[test]
fn b36_an_outcome_counts_for_nine_tenths_of_the_window_and_not_for_longer_than_that() {
    for at in ["0ms", "1ms", "500ms", "999ms"] {
        let clock = at_zero();
        clock.advance(at);
        let breaker = wide(&format!("b36 at {at}")).build();
        fail(&breaker, 1);
        clock.advance("9s");
        assert_eq!(breaker.window().calls, 1, "of {at}");
        clock.advance("1s");
        assert_eq!(breaker.window().calls, 0, "of {at}");
    }
}

#[test]
fn b37_what_is_late_counts_when_it_comes() {
    let clock = at_zero();
    let breaker = wide("b37").build();
    let (early, late) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
    early.failure();
    clock.advance("9999ms");
    late.failure();
    assert_eq!(breaker.window(), window(2, 2));
    clock.advance("1ms");
    assert_eq!(breaker.window(), window(1, 1));
}

/// Buckets that begin while two threads count: nothing is lost, nothing counts twice, and nothing stays.
#[test]
fn b37_no_outcome_is_lost_where_buckets_begin() {
    const CALLS: u32 = 20_000;
    let clock = at_zero();
    let breaker =
        wide("b37 threads").window_for(24 * 3_600 * SECOND).failure_rate(Ratio::ONE).build();
    let (breaker, clock) = (&breaker, &clock);
    let met = AtomicBool::new(false);
    thread::scope(|scope| {
        for thread in 0..2 {
            let met = &met;
            scope.spawn(move || {
                let _clock = clock.install();
                for call in 0..CALLS {
                    let before = breaker.window().calls;
                    match (call + thread) % 3 {
                        0 => fail(breaker, 1),
                        _ => succeed(breaker, 1),
                    }
                    // Sixteen hours in all: two buckets are begun and none is forgotten.
                    clock.advance(3 * SECOND / 2);
                    if breaker.window().calls > before + 1 {
                        met.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert!(met.into_inner(), "the threads never met");
    let failures = (0..2)
        .map(|thread| (0..CALLS).filter(|call| (call + thread) % 3 == 0).count())
        .sum::<usize>();
    assert_eq!(breaker.window(), window(2 * CALLS, u32::try_from(failures).unwrap()));
    assert_eq!(counter(breaker, "success") + counter(breaker, "failure"), u64::from(2 * CALLS));
    clock.advance("24h");
    assert_eq!(breaker.window(), window(0, 0));
    succeed(breaker, 1);
    assert_eq!(breaker.window(), window(1, 0));
}

#[test]
fn cb14_the_shortest_look_back_survives_every_advance() {
    for shortest in [SECOND, 100 * MS] {
        let clock = at_zero();
        let breaker = wide(&format!("cb14 {shortest:?}")).window_for(shortest).build();
        for at in ["0s", "1s", "2s", "3500ms", "1000000s", "36500d", "36500d"] {
            clock.set(at);
            breaker.reset();
            fail(&breaker, 1);
            assert_eq!(
                breaker.window().calls,
                1,
                "only what is younger than {shortest:?}, at {at}"
            );
        }
        let kept = wide(&format!("cb14 kept {shortest:?}")).window_for(shortest).build();
        for at in ["0s", "1s", "2s", "3500ms", "1000000s", "36500d"] {
            clock.set(at);
            fail(&kept, 1);
            assert_eq!(
                kept.window(),
                window(1, 1),
                "only what is younger than {shortest:?}, at {at}"
            );
        }
    }
}

#[test]
fn cb15_what_leaves_the_window_of_time_leaves_every_count() {
    let clock = at_zero();
    let breaker = wide("cb15").slow_call(99 * MS).build();
    for failed in [true, false] {
        let slow = breaker.acquire().unwrap();
        clock.advance("150ms");
        if failed { slow.failure() } else { slow.success() }
    }
    assert_eq!(breaker.window(), Window { calls: 2, failures: 1, slow: 2 });
    clock.advance("9600ms");
    succeed(&breaker, 2);
    assert_eq!(breaker.window(), Window { calls: 4, failures: 1, slow: 2 });
    clock.advance("400ms");
    succeed(&breaker, 2);
    assert_eq!(breaker.window(), Window { calls: 4, failures: 0, slow: 0 });
}

#[test]
fn cb19_min_calls_are_of_one_window() {
    let clock = at_zero();
    let breaker = wide("cb19").window_for(2 * SECOND).min_calls(100).build();
    for begin in ["0s", "10s"] {
        clock.set(begin);
        for _ in 0..60 {
            fail(&breaker, 1);
            clock.advance("33ms");
        }
        assert_eq!(
            (breaker.state(), breaker.failure_rate()),
            (State::Closed, None),
            "not enough to judge by"
        );
    }
    clock.set("20s");
    fail(&breaker, 49);
    succeed(&breaker, 51);
    assert_eq!(breaker.failure_rate(), Some(Ratio::percent(49)));
    fail(&breaker, 2);
    assert_eq!((breaker.state(), breaker.failure_rate()), (State::Open, None), "51 of 102");
}

#[test]
fn cb25_a_clock_that_jumps_about_leaves_no_bucket_behind() {
    let clock = at_zero();
    let breaker = wide("cb25").build();
    for (failures, at) in (1..).zip(["100s", "99s", "101s", "95s", "102s"]) {
        clock.set(at);
        fail(&breaker, 1);
        assert_eq!(breaker.window(), window(failures, failures), "at {at}");
    }
    clock.set("111999ms");
    assert_eq!(breaker.window(), window(1, 1));
    clock.set("120s");
    assert_eq!(breaker.window(), window(0, 0));
}

#[test]
fn b15_a_clock_that_stays_back_does_not_blind_it() {
    let clock = at_zero();
    let breaker = Mode::Time.builder("b15 back").min_calls(4).build();
    clock.set("1h");
    fail(&breaker, 1);
    clock.set("0s");
    for _ in 0..3 {
        clock.advance("1m");
        fail(&breaker, 1);
    }
    assert_eq!(breaker.state(), State::Open);
}

// ---- when it is looked at -------------------------------------------------------------------------------------------------

#[test]
fn b06_successes_that_leave_the_window_open_it_with_the_next_outcome() {
    for outcome in [CircuitBreaker::acquire, CircuitBreaker::acquire_gated] {
        let clock = at_zero();
        let breaker = Mode::Time.builder("b06 expired").build();
        succeed(&breaker, 5);
        clock.advance("5s");
        fail(&breaker, 4);
        assert_eq!(breaker.state(), State::Closed, "4 of 9");
        clock.advance("4999ms");
        succeed(&breaker, 1);
        assert_eq!(breaker.state(), State::Closed, "4 of 10");
        clock.advance("1ms");
        assert_eq!(breaker.state(), State::Closed, "nobody has looked");
        outcome(&breaker).unwrap().success();
        assert_eq!(breaker.state(), State::Open, "4 of 6");
    }
}

#[test]
fn b06_the_success_that_completes_min_calls_again_opens() {
    let clock = at_zero();
    let breaker = Mode::Time.builder("b06 again").min_calls(4).build();
    succeed(&breaker, 9);
    clock.advance("5s");
    fail(&breaker, 2);
    clock.advance("5s");
    succeed(&breaker, 1);
    assert_eq!(
        (breaker.state(), breaker.window()),
        (State::Closed, window(3, 2)),
        "three are not enough"
    );
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "2 of 4");
}

#[test]
fn b06_slow_calls_that_stay_open_it_as_well() {
    let clock = at_zero();
    let breaker =
        Mode::Time.builder("b06 slow").slow_call(100 * MS).slow_rate(Ratio::percent(50)).build();
    succeed(&breaker, 3);
    clock.advance("5s");
    for _ in 0..2 {
        let slow = breaker.acquire().unwrap();
        clock.advance("101ms");
        slow.success();
    }
    assert_eq!(breaker.state(), State::Closed, "2 of 5");
    clock.advance("5s");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "2 of 3");
}

#[test]
fn b12_all_of_the_window_may_be_asked_for() {
    let clock = at_zero();
    let breaker = Mode::Time.builder("b12").failure_rate(Ratio::ONE).build();
    succeed(&breaker, 1);
    clock.advance("1s");
    fail(&breaker, 100);
    assert_eq!(breaker.state(), State::Closed, "100 of 101");
    clock.advance("9s");
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn b23_a_window_is_not_full_because_many_calls_came() {
    let clock = at_zero();
    let builder = Mode::Time.builder("b23 many").probes(1);
    let breaker = builder.open_for_exponential(5 * SECOND, 2, 60 * SECOND).build();
    fail(&breaker, 2);
    clock.advance("5s");
    succeed(&breaker, 1);
    for _ in 0..9 {
        succeed(&breaker, 1_000);
        clock.advance("1s");
    }
    fail(&breaker, 10_000 - 1_000);
    assert_eq!(breaker.retry_after(), Some(10 * SECOND), "closed for 9 s");
}

#[test]
fn b24_the_next_window_begins_where_the_state_does() {
    let clock = at_zero();
    let breaker = Mode::Time.builder("b24").open_for(MS).build();
    for _ in 0..50 {
        succeed(&breaker, 1);
        fail(&breaker, 1);
        assert_eq!(breaker.state(), State::Open, "1 of 2, whatever was before");
        clock.advance("1ms");
        succeed(&breaker, 2);
        assert_eq!((breaker.state(), breaker.window()), (State::Closed, window(0, 0)));
    }
    half_open(&breaker, &clock);
}

// ---- live -----------------------------------------------------------------------------------------------------------------

#[test]
fn b35_a_live_window_of_time_keeps_what_it_counted() {
    let clock = at_zero();
    let breaker = wide("b35").build();
    for _ in 0..10 {
        fail(&breaker, 1);
        clock.advance("1s");
    }
    let generation = breaker.generation();
    breaker.set_window_for(60 * SECOND).unwrap();
    assert_eq!(breaker.window(), window(10, 10), "a longer one goes on with it");
    clock.advance("30s");
    succeed(&breaker, 1);
    assert_eq!(breaker.window(), window(11, 10));
    breaker.set_window_for(10 * SECOND).unwrap();
    assert_eq!(breaker.window(), window(1, 0), "a shorter one keeps the newest");
    assert_eq!((breaker.generation(), breaker.state()), (generation, State::Closed));
    assert_eq!(breaker.options().criterion, Criterion::Time(resil::time::Nanos::from_ms(10_000)));
}

#[test]
fn b35_a_shorter_window_is_judged_by_with_the_next_outcome() {
    let clock = at_zero();
    let breaker = Mode::Time.builder("b35 judged").build();
    succeed(&breaker, 9);
    clock.advance("5s");
    fail(&breaker, 2);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "2 of 12");
    breaker.set_window_for(3 * SECOND).unwrap();
    assert_eq!(breaker.state(), State::Closed, "outcomes decide, not setters");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "2 of 4");
}

#[test]
fn the_window_is_shown_as_the_duration_it_is() {
    let breaker = wide("shown").build();
    let mut settings = Vec::new();
    breaker.settings(&mut |setting| settings.push((setting.name, setting.value)));
    assert_eq!(
        settings[..2],
        [("window", Value::Duration(Duration::from_secs(10))), ("min_calls", Value::Count(1_000)),]
    );
}

/// Two threads, the clock running: closed while nothing fails, open soon after everything does, again and again.
#[test]
fn b37_two_threads_open_and_close_it() {
    let clock = at_zero();
    let breaker = Mode::Time.builder("b37 stress").min_calls(20).open_for(MS).build();
    let (breaker, clock) = (&breaker, &clock);
    for round in 0..50 {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _clock = clock.install();
                    for call in 0..200_u32 {
                        if call % 10 == 0 {
                            clock.advance("50ms");
                        }
                        breaker.acquire().expect("it is closed").success();
                    }
                });
            }
        });
        assert_eq!(breaker.state(), State::Closed);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _clock = clock.install();
                    while let Ok(permit) = breaker.acquire() {
                        permit.failure();
                    }
                });
            }
        });
        assert_eq!(breaker.state(), State::Open, "round {round}");
        clock.advance("1ms");
        succeed(breaker, 2);
        assert!(!is_refused(breaker));
    }
    let total: u64 = ["success", "failure", "refused", "lost", "abandoned"]
        .iter()
        .map(|name| counter(breaker, name))
        .sum();
    assert_eq!(counter(breaker, "success"), 50 * (400 + 2));
    assert_eq!(counter(breaker, "abandoned"), 50);
    assert!(total >= 50 * (400 + 2 + 2 + 2 + 1), "{total}");
}
