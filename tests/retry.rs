//! Retry through the attribute: the rows of the semantics, each sync, on tokio and without a runtime.

use resil::{Classify, Judgement, Kind, Reason, Rejected, Stop, Value, resilient};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Context;
use std::time::Duration;
use tests::{Calls, Fault, Wakes, count, counts, listen, on_a_manual_clock, setting, worlds};
use tests::{scheduled, stops};

const MS: Duration = Duration::from_millis(1);

// ---- how often ------------------------------------------------------------------------------------------------------------

worlds! {
    r01_max_counts_the_first_call:
    [retry(max = 3, backoff = constant("10ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(3)));
        assert_eq!(calls.begun(), [0, 10, 20]);
        assert_eq!(setting(Kind::Retry, NAME, "max"), Value::Count(3));
    }
}

worlds! {
    r01_max_retries_does_not_count_it:
    [retry(max_retries = 3, backoff = constant("10ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(4)));
        assert_eq!(setting(Kind::Retry, NAME, "max"), Value::Count(4));
    }
}

worlds! {
    r01_a_bare_retry_makes_three_attempts:
    [retry]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(3)));
    }
}

worlds! {
    r21_the_first_attempt_is_never_delayed:
    [retry(max = 2, backoff = constant("1h"), jitter = none, within = "2h")]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(1));
        assert_eq!((calls.begun(), world.ms()), (vec![0], 0));
    }
}

worlds! {
    r17_calls_and_attempts_are_counted_apart:
    [retry(max = 3, backoff = constant("10ms"), jitter = none)]
    (calls: &Calls, good_from: u32) -> Result<u32, Fault> {
        let number = calls.begin();
        if number >= good_from { Ok(number) } else { Err(Fault::Down(number)) }
    }
    |world| {
        for (good_from, attempts) in [(1, 1), (2, 2), (9, 3)] {
            let calls = Calls::new(&world);
            let _ = call(&calls, good_from).await;
            assert_eq!(calls.count(), attempts);
        }
        let counted = counts(Kind::Retry, NAME);
        let expected = [("calls", 3), ("attempts", 6), ("first_try", 1), ("recovered", 1), ("exhausted", 1), ("retries", 3)];
        assert_eq!(counted, expected);
    }
}

worlds! {
    r18_what_a_call_has_used_up_another_one_has_not:
    [retry(max = 3, backoff = exponential("10ms", cap = "1s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        for _ in 0..3 {
            let (calls, begin) = (Calls::new(&world), world.ms());
            assert_eq!(call(&calls).await, Err(Fault::Down(3)));
            assert_eq!(calls.begun(), [begin, begin + 10, begin + 30]);
        }
    }
}

// ---- how long it waits ----------------------------------------------------------------------------------------------------

worlds! {
    r02_rt02_no_draw_exceeds_the_cap_and_draws_at_the_cap_spread:
    [retry(max = 12, backoff = exponential("100ms", cap = "1s"), jitter = plus_minus("20%"))]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        for _ in 0..20 {
            call(&Calls::new(&world)).await.unwrap_err();
        }
        let waits = scheduled(NAME);
        assert_eq!(waits.len(), 20 * 11);
        assert!(waits.iter().all(|(_, wait)| *wait <= 1_000 * MS));
        let mut at_the_cap: Vec<_> = waits.iter().filter(|(attempt, _)| *attempt > 5).map(|(_, wait)| *wait).collect();
        at_the_cap.sort_unstable();
        let apart = at_the_cap[at_the_cap.len() - 1].abs_diff(at_the_cap[0]);
        assert!(apart > 150 * MS, "of the 333 ms that they may be apart");
    }
}

worlds! {
    r03_delays_saturate_at_the_cap:
    [retry(max = 100, backoff = exponential("1ms", cap = "1s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        let begun = calls.begun();
        let waits: Vec<_> = begun.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(waits[..10], [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]);
        assert!(waits[10..].iter().all(|wait| *wait == 1_000), "also where 2ⁿ ms would wrap to nothing: {waits:?}");
    }
}

worlds! {
    r04_the_wait_in_the_event_is_the_wait_that_is_slept:
    [retry(max = 10, backoff = exponential("10ms", cap = "1s"), jitter = full)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        let told: Duration = scheduled(NAME).iter().map(|(_, wait)| *wait).sum();
        // Tasks are woken on whole milliseconds.
        let slept = world.now();
        assert!(told <= slept && slept <= told + 9 * MS, "{told:?} were told, {slept:?} were slept");
    }
}

#[test]
fn r04_a_sync_sleep_is_exactly_as_long_as_was_told() {
    #[resilient(retry(max = 10, jitter = full), name = "r04_sync")]
    fn call(calls: &Calls) -> Result<u32, Fault> {
        Err(Fault::Down(calls.begin()))
    }
    listen();
    let (_clock, world) = on_a_manual_clock();
    call(&Calls::new(&world)).unwrap_err();
    let told: Duration = scheduled("r04_sync").iter().map(|(_, wait)| *wait).sum();
    assert_eq!(world.now(), told);
}

worlds! {
    r06_a_wait_of_zero_is_no_wait:
    [retry(max = 50, backoff = constant("0s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(50)));
        assert_eq!(world.now(), Duration::ZERO);
    }
}

worlds! {
    r06_a_wait_of_zero_yields_once_to_other_tasks:
    async [retry(max = 3, backoff = constant("0s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        let (wakes, waker) = Wakes::pair();
        let (mut cx, mut future) = (Context::from_waker(&waker), pin!(call(&calls)));
        for yielded in 1..3 {
            assert!(future.as_mut().poll(&mut cx).is_pending());
            assert_eq!((calls.count(), wakes.times()), (yielded, u64::from(yielded)));
        }
        assert!(future.as_mut().poll(&mut cx).is_ready());
    }
}

worlds! {
    r06_a_delay_may_be_computed_from_the_attempt:
    [retry(max = 4, attempt = n, backoff = by(MS * n * n))]
    (calls: &Calls) -> Result<u32, Fault> {
        assert_eq!(n, calls.begin(), "the body knows its number");
        Err(Fault::Down(n))
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(4)));
        assert_eq!(calls.begun(), [0, 1, 5, 14]);
    }
}

worlds! {
    r19_the_same_seed_gives_the_same_waits:
    [retry(max = 10, backoff = exponential("10ms", cap = "1s"), jitter = full)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let mut runs = Vec::new();
        for seed in [7, 7, 8] {
            resil::testing::seed(seed);
            let before = scheduled(NAME).len();
            call(&Calls::new(&world)).await.unwrap_err();
            runs.push(scheduled(NAME)[before..].to_vec());
        }
        assert_eq!(runs[0], runs[1]);
        assert_ne!(runs[0], runs[2]);
    }
}

/// An error that says how long to leave its sender alone.
#[derive(Debug, PartialEq, Classify)]
enum Busy {
    #[resil(transient, retry_after = "0")]
    After(Duration),
}

worlds! {
    r10_a_hint_is_never_undercut_and_never_shortens_the_backoff:
    [retry(max = 3, backoff = constant("100ms"), jitter = none)]
    (calls: &Calls, hints: [Duration; 2]) -> Result<u32, Busy> {
        match calls.begin() {
            3 => Ok(3),
            number => Err(Busy::After(hints[number as usize - 1])),
        }
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls, [2_000 * MS, 10 * MS]).await, Ok(3));
        assert_eq!(calls.begun(), [0, 2_000, 2_100], "as asked, then as the backoff says");
    }
}

worlds! {
    r10_rt20_a_hint_beyond_the_cap_ends_the_call_at_once:
    [retry(max = 3, backoff = constant("100ms"), jitter = none, max_pushback = "5s")]
    (calls: &Calls, hint: Duration) -> Result<u32, Busy> { calls.begin(); Err(Busy::After(hint)) }
    |world| {
        listen();
        for hint in [5_001 * MS, Duration::MAX] {
            let calls = Calls::new(&world);
            assert_eq!(call(&calls, hint).await, Err(Busy::After(hint)), "the callee's own error");
            assert_eq!((calls.count(), world.ms()), (1, 0));
        }
        assert_eq!(stops(NAME), [(1, Stop::Pushback); 2]);
        let calls = Calls::new(&world);
        call(&calls, 5_000 * MS).await.unwrap_err();
        assert_eq!(calls.begun(), [0, 5_000, 10_000], "the cap itself is borne");
    }
}

worlds! {
    r11_a_hint_leaves_the_growth_of_the_backoff_alone:
    [retry(max = 4, backoff = exponential("100ms", cap = "10s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Busy> {
        let hint = if calls.begin() == 2 { 500 * MS } else { Duration::ZERO };
        Err(Busy::After(hint))
    }
    |world| {
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        assert_eq!(calls.begun(), [0, 100, 600, 1_000], "100, the hint instead of 200, 400");
    }
}

// ---- what is retried, and what is returned --------------------------------------------------------------------------------

worlds! {
    r12_newest_outcome_is_returned:
    [retry(max = 3, backoff = constant("10ms"), jitter = none, abort = Err(Fault::Mine))]
    (calls: &Calls, last: Result<u32, Fault>) -> Result<u32, Fault> {
        match calls.begin() {
            3 => last,
            number => Err(Fault::Down(number)),
        }
    }
    |world| {
        for last in [Ok(3), Err(Fault::Down(3)), Err(Fault::Mine)] {
            assert_eq!(call(&Calls::new(&world), last).await, last);
        }
    }
}

worlds! {
    r12_a_gates_refusal_never_hides_an_earlier_outcome:
    [retry(max = 3, backoff = constant("10ms"), jitter = none), circuit_breaker(window = 2, min_calls = 1)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)), "the second attempt was refused");
        let refused = call(&calls).await.unwrap_err().refusal().expect("nothing but a refusal");
        assert_eq!((refused.reason(), calls.count()), (Reason::CircuitOpen, 1));
        assert_eq!(count(Kind::CircuitBreaker, NAME, "refused"), 2);
    }
}

worlds! {
    r13_exhausted_on_a_value_returns_the_value:
    [retry(max = 3, backoff = constant("10ms"), jitter = none, on = Ok(500..))]
    (calls: &Calls) -> Result<u32, Fault> { Ok(500 + calls.begin()) }
    |world| {
        listen();
        assert_eq!(call(&Calls::new(&world)).await, Ok(503));
        assert_eq!(stops(NAME), [(3, Stop::Attempts)]);
        assert_eq!(count(Kind::Retry, NAME, "exhausted"), 1);
    }
}

worlds! {
    r15_abort_comes_before_on:
    [retry(max = 3, on = Err(_), abort = Err(Fault::Mine))]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); Err(Fault::Mine) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Mine));
        assert_eq!((calls.count(), world.ms()), (1, 0));
        assert_eq!(count(Kind::Retry, NAME, "not_retried"), 1);
    }
}

worlds! {
    r15_what_on_does_not_match_is_not_retried:
    [retry(max = 3, on = Err(Fault::Mine))]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| { assert_eq!(call(&Calls::new(&world)).await, Err(Fault::Down(1))); }
}

worlds! {
    r15_an_ignored_outcome_is_not_retried:
    [retry(max = 3), ignore = Err(Fault::Mine)]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); Err(Fault::Mine) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!((call(&calls).await, calls.count()), (Err(Fault::Mine), 1));
    }
}

/// Counts how often it is judged.
#[derive(Debug)]
struct Judged<'a>(&'a Cell<u32>);

impl Classify for Judged<'_> {
    fn classify(&self) -> Judgement {
        self.0.set(self.0.get() + 1);
        Judgement::TRANSIENT
    }
}

worlds! {
    r07_exhaustion_is_judged_by_nobody_again:
    [retry(max = 3, backoff = constant("10ms"), jitter = none), circuit_breaker]
    (judged: &Cell<u32>) -> Result<u32, Judged<'_>> { Err(Judged(judged)) }
    |_world| {
        listen();
        let judged = Cell::new(0);
        assert!(call(&judged).await.is_err(), "the body's own error");
        assert_eq!(judged.get(), 3, "once an attempt");
        assert_eq!(stops(NAME), [(3, Stop::Attempts)]);
        assert_eq!(count(Kind::CircuitBreaker, NAME, "failure"), 3);
    }
}

/// A refusal has no place to be judged in.
impl From<Rejected> for Judged<'_> {
    fn from(rejected: Rejected) -> Self {
        panic!("nothing refuses here: {rejected}")
    }
}

worlds! {
    r16_a_panicking_pattern_propagates_and_leaks_nothing:
    [retry(max = 3, on = Err(_) if panics(calls)), circuit_breaker]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        let mut future = std::pin::pin!(call(&calls));
        let unwound = catch_unwind(AssertUnwindSafe(|| tests::poll_once(future.as_mut())));
        assert!(unwound.is_err() && calls.count() == 1);
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("abandoned", 1)]);
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("abandoned", 1)], "the body itself had ended");
    }
}

fn panics(calls: &Calls) -> bool {
    assert!(calls.count() == 0, "the bug must stay visible");
    true
}

// ---- between attempts -----------------------------------------------------------------------------------------------------

worlds! {
    r22_the_next_attempt_sees_what_the_failed_one_left:
    [retry(max = 3, backoff = constant("10ms"), jitter = none)]
    (left: &mut Vec<u32>) -> Result<u32, Fault> {
        left.push(u32::try_from(left.len()).unwrap());
        Err(Fault::Down(0))
    }
    |_world| {
        let mut left = Vec::new();
        call(&mut left).await.unwrap_err();
        assert_eq!(left, [0, 1, 2]);
    }
}

worlds! {
    r22_the_hook_may_rebuild_it:
    [retry(max = 3, backoff = constant("10ms"), jitter = none, before = left.clear())]
    (left: &mut Vec<u32>) -> Result<u32, Fault> {
        left.push(u32::try_from(left.len()).unwrap());
        Err(Fault::Down(0))
    }
    |_world| {
        let mut left = vec![5];
        call(&mut left).await.unwrap_err();
        assert_eq!(left, [0], "cleared before each retry, not before the first attempt");
    }
}

worlds! {
    r22_the_hook_runs_after_the_wait:
    [retry(max = 3, backoff = constant("10ms"), jitter = none, before = hooks.borrow_mut().push(calls.world().ms()))]
    (calls: &Calls, hooks: &std::cell::RefCell<Vec<u64>>) -> Result<u32, Fault> {
        let _ = hooks.borrow();
        Err(Fault::Down(calls.begin()))
    }
    |world| {
        let (calls, hooks) = (Calls::new(&world), std::cell::RefCell::default());
        call(&calls, &hooks).await.unwrap_err();
        assert_eq!((calls.begun(), hooks.into_inner()), (vec![0, 10, 20], vec![10, 20]));
    }
}

worlds! {
    r20_a_retry_inside_a_retry_multiplies_and_is_visible:
    [retry(max = 4, backoff = constant("1ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> {
        #[resilient(retry(max = 3, backoff = constant("0s"), jitter = none), name = "r20_inner")]
        fn inner(calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
        inner(calls)
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(12)));
        let most = [NAME, "r20_inner"].map(|name| setting(Kind::Retry, name, "max"));
        assert_eq!(most, [Value::Count(4), Value::Count(3)], "12 at worst, says the catalogue");
    }
}
