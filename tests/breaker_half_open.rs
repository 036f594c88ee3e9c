//! The circuit breaker by hand: open, half-open, and the time between.

use resil::testing::pause;
use resil::{Event, Judgement, Ratio, Reason, State, TripReason, Window};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use tests::breaker::{
    MS, Mode, SECOND, counter, fail, half_open, ignore, is_refused, open, succeed, transitions,
};
use tests::{heard, listen, modes, windows};

fn b08_half_open_decides_as_soon_as_the_outcome_is_fixed(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b08").probes(3).build();
    half_open(&breaker, &clock);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::HalfOpen, "two failures would still open");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "one failure would not");

    half_open(&breaker, &clock);
    fail(&breaker, 2);
    assert_eq!(breaker.state(), State::Open, "two of three are more than half");
}
modes!(b08_half_open_decides_as_soon_as_the_outcome_is_fixed);

fn b08_slow_probes_open_again(mode: Mode) {
    let clock = pause();
    let breaker = mode
        .builder("b08_slow")
        .slow_call(100 * MS)
        .slow_rate(Ratio::percent(50))
        .probes(2)
        .build();
    half_open(&breaker, &clock);
    let probe = breaker.acquire().unwrap();
    clock.advance("200ms");
    probe.success();
    assert_eq!(breaker.state(), State::Open);
}
windows!(b08_slow_probes_open_again);

fn b09_probes_are_a_total_not_a_concurrency(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b09").probes(4).build();
    half_open(&breaker, &clock);
    let (first, second) = (breaker.acquire().unwrap(), breaker.acquire().unwrap());
    first.failure();
    second.success();
    let _third = breaker.acquire().expect("one of each decides nothing of four");
    let _fourth = breaker.acquire().expect("four were asked for");
    let refused = breaker.acquire().expect_err("though only two are out");
    assert_eq!((refused.reason(), refused.retry_after()), (Reason::CircuitOpen, None));
}
modes!(b09_probes_are_a_total_not_a_concurrency);

fn b34_exactly_probes_calls_reach_a_sick_backend(mode: Mode) {
    for _ in 0..50 {
        let clock = pause();
        let breaker = mode.builder("b34").probes(3).build();
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
modes!(b34_exactly_probes_calls_reach_a_sick_backend);

fn b10_probe_that_never_returns_opens_again_for_a_full_wait(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b10").probes(1).probe_timeout(30 * SECOND).build();
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
modes!(b10_probe_that_never_returns_opens_again_for_a_full_wait);

fn cb04_hung_probe_ends_with_its_lease(mode: Mode) {
    listen();
    let clock = pause();
    let breaker = mode.builder("cb04").probes(1).probe_timeout(30 * SECOND).build();
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
    let reasons: Vec<_> =
        transitions(breaker.name()).into_iter().map(|(_, _, reason)| reason).collect();
    assert_eq!(
        reasons,
        [
            mode.reason(),
            TripReason::WaitOver,
            TripReason::ProbeTimeout,
            TripReason::WaitOver,
            TripReason::Recovered
        ]
    );
}
modes!(cb04_hung_probe_ends_with_its_lease);

fn b10_the_wait_after_a_lost_probe_begins_when_its_lease_ended(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b10_late").probes(1).probe_timeout(30 * SECOND).build();
    half_open(&breaker, &clock);
    let _hung = breaker.acquire().expect("the probe");
    // Nobody comes for so long that lease (30 s) and wait (10 s) are both over.
    clock.advance("40s");
    assert!(!is_refused(&breaker), "a new probe at once");
}
modes!(b10_the_wait_after_a_lost_probe_begins_when_its_lease_ended);

fn b10_a_later_probe_prolongs_the_lease(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b10_renewed").probes(3).probe_timeout(30 * SECOND).build();
    half_open(&breaker, &clock);
    let _first = breaker.acquire().unwrap();
    clock.advance("29s");
    let _second = breaker.acquire().unwrap();
    clock.advance("29s");
    let _third = breaker.acquire().expect("29 s after the last admission");
    assert_eq!(breaker.state(), State::HalfOpen);
}
modes!(b10_a_later_probe_prolongs_the_lease);

fn cb10_every_failed_probe_starts_a_full_wait(mode: Mode) {
    let clock = pause();
    let breaker = mode.opening_after(10, "cb10").probes(1).build();
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
modes!(cb10_every_failed_probe_starts_a_full_wait);

fn cb21_neutral_outcomes_do_not_keep_it_open(mode: Mode) {
    let clock = pause();
    let builder = mode.builder("cb21").probes(5);
    // Of five, the first failure would decide at 20 %; without a rate to set, the third at 50 %.
    let (builder, good) = match mode {
        Mode::Calls | Mode::Time => (builder.failure_rate(Ratio::percent(20)), 5),
        Mode::Consecutive => (builder, 3),
    };
    let breaker = builder.build();
    half_open(&breaker, &clock);
    for nth in 0..good {
        assert_ne!(breaker.state(), State::Closed, "before success {nth}");
        for _ in 0..4 {
            clock.advance("20s"); // longer than the lease, but no probe is out
            ignore(&breaker, 1);
        }
        succeed(&breaker, 1);
    }
    assert_eq!(breaker.state(), State::Closed);
}
modes!(cb21_neutral_outcomes_do_not_keep_it_open);

fn cb26_unrelated_finisher_does_not_move_half_open(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("cb26").probes(1).build();
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
modes!(cb26_unrelated_finisher_does_not_move_half_open);

fn b23_flapping_grows_the_wait_and_a_full_window_shrinks_it(mode: Mode) {
    let clock = pause();
    let builder = mode.builder("b23").probes(1);
    let breaker = builder.open_for_exponential(5 * SECOND, 2, 60 * SECOND).build();
    open(&breaker);
    for wait in [5, 10, 20, 40, 60, 60] {
        assert_eq!(breaker.retry_after(), Some(wait * SECOND));
        clock.advance(breaker.retry_after().unwrap());
        fail(&breaker, 1);
    }
    clock.advance("60s");
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed);
    open(&breaker); // closed for less than a window
    assert_eq!(breaker.retry_after(), Some(60 * SECOND), "it flaps");
    clock.advance("60s");
    succeed(&breaker, 1);
    mode.pass_a_window(&breaker, &clock);
    open(&breaker);
    assert_eq!(breaker.retry_after(), Some(5 * SECOND), "it was closed for a full window");
}
modes!(b23_flapping_grows_the_wait_and_a_full_window_shrinks_it);

fn b23_manual_opening_does_not_count(mode: Mode) {
    let clock = pause();
    let breaker =
        mode.builder("b23_manual").open_for_exponential(5 * SECOND, 2, 60 * SECOND).build();
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
modes!(b23_manual_opening_does_not_count);

fn b13_the_end_of_the_wait_is_inclusive(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b13").build();
    open(&breaker);
    clock.advance("9999999999ns");
    let refused = breaker.acquire().expect_err("a nanosecond is left");
    assert_eq!(refused.retry_after(), Some(Duration::from_nanos(1)));
    clock.advance("1ns");
    assert!(!is_refused(&breaker));
}
modes!(b13_the_end_of_the_wait_is_inclusive);

fn b13_a_wait_shorter_than_the_words_unit_is_rounded_up(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b13_short").open_for(Duration::from_micros(1_500)).build();
    clock.advance("300us");
    open(&breaker);
    clock.advance("1499us");
    assert!(is_refused(&breaker));
    clock.advance("201us");
    assert!(!is_refused(&breaker), "at 2 ms, the next whole millisecond");
}
modes!(b13_a_wait_shorter_than_the_words_unit_is_rounded_up);

fn b14_cb25_a_clock_that_goes_back_changes_nothing_for_the_worse(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b14").slow_call(SECOND).build();
    clock.set("100s");
    let permit = breaker.acquire().unwrap();
    clock.set("95s");
    permit.success();
    assert_eq!(counter(&breaker, "success"), 1, "a negative span is none");
    let end = 105 * SECOND;
    while breaker.state() == State::Closed {
        fail(&breaker, 1);
    }
    assert_eq!(breaker.retry_after(), Some(10 * SECOND));
    clock.set("90s");
    assert_eq!(
        breaker.acquire().expect_err("open").retry_after(),
        Some(end.saturating_sub(90 * SECOND))
    );
    clock.set("105s");
    assert!(!is_refused(&breaker), "the end did not move");
}
modes!(b14_cb25_a_clock_that_goes_back_changes_nothing_for_the_worse);

fn b15_a_clock_that_goes_back_empties_no_window(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b15").min_calls(4).slow_call(SECOND).build();
    clock.set("1h");
    fail(&breaker, 1);
    clock.set("1s");
    succeed(&breaker, 2);
    assert_eq!(breaker.window(), Window { calls: 3, failures: 1, slow: 0 });
    clock.set("3601s");
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "two of four");
}
windows!(b15_a_clock_that_goes_back_empties_no_window);

#[test]
fn b15_a_clock_that_goes_back_ends_no_row() {
    let clock = pause();
    let breaker = Mode::Consecutive.builder("b15").slow_call(SECOND).build();
    clock.set("1h");
    fail(&breaker, 1);
    clock.set("1s");
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

fn b17_hint_on_the_tripping_failure_lengthens_the_wait(mode: Mode) {
    let _clock = pause();
    let breaker = mode.builder("b17").max_open_for(60 * SECOND).build();
    let hinted = Judgement::FAILURE.after(30 * SECOND);
    breaker.acquire().unwrap().settle(hinted.after(50 * SECOND));
    breaker.acquire().unwrap().settle(hinted);
    assert_eq!(breaker.retry_after(), Some(30 * SECOND), "only the one that trips is heard");
    breaker.reset();
    fail(&breaker, 1);
    breaker.acquire().unwrap().settle(Judgement::FAILURE.after(Duration::MAX));
    assert_eq!(breaker.retry_after(), Some(60 * SECOND));
}
modes!(b17_hint_on_the_tripping_failure_lengthens_the_wait);

fn b18_state_and_admission_do_not_contradict_each_other(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b18").build();
    open(&breaker);
    clock.advance("10s");
    assert_eq!(breaker.retry_after(), None, "the wait is over");
    assert_eq!(breaker.state(), State::Open, "until somebody asks");
    let _probe = breaker.acquire().expect("and then it is half-open");
    assert_eq!(breaker.state(), State::HalfOpen);
}
modes!(b18_state_and_admission_do_not_contradict_each_other);

fn b19_one_refusal_is_one_event_and_one_count(mode: Mode) {
    listen();
    let breaker = mode.builder("b19").build();
    open(&breaker);
    for _ in 0..5 {
        assert!(is_refused(&breaker));
    }
    let refusals = heard(breaker.name())
        .into_iter()
        .filter(|event| matches!(event, Event::Refused(_)))
        .count();
    assert_eq!((refusals, counter(&breaker, "refused")), (5, 5));
}
modes!(b19_one_refusal_is_one_event_and_one_count);

fn b21_no_timer_acts_after_a_reset(mode: Mode) {
    let clock = pause();
    let breaker = mode.builder("b21").build();
    open(&breaker);
    breaker.reset();
    let generation = breaker.generation();
    clock.advance("1h");
    succeed(&breaker, 1);
    assert_eq!((breaker.state(), breaker.generation()), (State::Closed, generation));
}
modes!(b21_no_timer_acts_after_a_reset);

fn cb06_late_failures_do_not_prolong_the_wait(mode: Mode) {
    listen();
    let clock = pause();
    let breaker = mode.opening_after(3, "cb06").build();
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
    let opened =
        transitions(breaker.name()).into_iter().filter(|(_, to, _)| *to == State::Open).count();
    assert_eq!((opened, counter(&breaker, "lost")), (1, 4));
}
modes!(cb06_late_failures_do_not_prolong_the_wait);
