//! Retry budgets: faults from the field, by hand, and in an operator's hands.

use resil::{
    Attempts, Budget, Deadline, Judgement, Ratio, Reason, Rejected, Retry, RetryBudget, Withdrawal,
};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tests::budget::{moves, outcome, paid_by_calls};
use tests::{Calls, Fault, poll_once, worlds};

const SECOND: Duration = Duration::from_secs(1);

// ---- the cases from the field ---------------------------------------------------------------------------------------------

worlds! {
    rt13_no_rounding_hands_out_more_than_the_ratio:
    with {
        static BUDGET: RetryBudget = paid_by_calls("", 0);
    }
    [retry(max = 9_999, backoff = constant("0s"), jitter = none, budget = self::BUDGET)]
    (good: bool, calls: &Calls) -> Result<u32, Fault> { outcome(good, calls) }
    |world| {
        for (ratio, after_ten, after_a_thousand) in [
            (0.1, 1, 100), (0.15, 1, 150), (0.3, 3, 300), (0.6, 6, 600), (0.67, 6, 670), (0.9, 9, 900), (1.0, 10, 1_000),
        ] {
            BUDGET.set_ratio(Ratio::of(ratio)).unwrap();
            for (deposits, retries) in [(10, after_ten), (1_000, after_a_thousand)] {
                BUDGET.reset();
                let calls = Calls::new(&world);
                for _ in 1..deposits {
                    call(true, &calls).await.unwrap();
                }
                call(false, &calls).await.unwrap_err();
                assert_eq!(calls.count() - deposits, retries, "{deposits} × {ratio}");
            }
        }
    }
}

worlds! {
    rt14_a_day_of_success_buys_one_full_budget_and_a_day_of_failure_leaves_no_debt:
    with {
        static BUDGET: RetryBudget = RetryBudget::builder("").ratio(Ratio::percent(10)).min_per_sec(1).build();
    }
    [retry(max = 9_999, backoff = constant("0s"), jitter = none, budget = self::BUDGET)]
    (good: bool, calls: &Calls) -> Result<u32, Fault> { outcome(good, calls) }
    |world| {
        let full = 10 + 1_000;
        let calls = Calls::new(&world);
        for successes in [10_000_u32, 30_000] {
            for _ in 0..successes {
                call(true, &calls).await.unwrap();
            }
            let before = calls.count();
            assert_eq!(BUDGET.balance(), full);
            call(false, &calls).await.unwrap_err();
            assert_eq!(u64::from(calls.count() - before - 1), full, "after {successes}");
        }
        // A thousand failures more: they pay for a hundred retries among themselves, and owe nothing.
        for _ in 0..1_000 {
            call(false, &calls).await.unwrap_err();
        }
        assert_eq!((moves(&BUDGET)[0], BUDGET.balance()), (2 * full + 100, 0));
        for retries in [0, 1] {
            for _ in 0..8 + retries {
                call(true, &calls).await.unwrap();
            }
            let before = calls.count();
            call(false, &calls).await.unwrap_err();
            assert_eq!(calls.count() - before - 1, retries, "the tenth call pays for one");
            BUDGET.reset();
            call(false, &calls).await.unwrap_err();
            while BUDGET.withdraw() == Withdrawal::Taken {}
        }
    }
}

worlds! {
    rt14_a_reading_that_is_no_ratio_is_refused:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    [retry(max = 2, budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        for nonsense in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.1, 1.5] {
            assert_eq!(Ratio::try_of(nonsense), None);
        }
        call(&Calls::new(&world)).await.unwrap();
        assert_eq!(BUDGET.balance(), 1);
    }
}

worlds! {
    rt15_a_drained_budget_is_refilled_by_calls:
    with { static BUDGET: RetryBudget = paid_by_calls("", 20); }
    [retry(max = 3, backoff = constant("0s"), jitter = none, budget = self::BUDGET)]
    (good: bool, calls: &Calls) -> Result<u32, Fault> { outcome(good, calls) }
    |world| {
        let calls = Calls::new(&world);
        let retries = async |good| {
            let before = calls.count();
            let _ = call(good, &calls).await;
            calls.count() - before - 1
        };
        // (a) after 5 calls there is one again, after 5 more another.
        for _ in 0..20 {
            for _ in 0..4 {
                assert_eq!(retries(true).await, 0);
            }
            assert_eq!(retries(false).await, 1);
        }
        // (d) a thousand failing calls are not retried twice each.
        let before = calls.count();
        for _ in 0..1_000 {
            retries(false).await;
        }
        assert_eq!(calls.count() - before, 1_000 + 200);
    }
}

worlds! {
    rt15_no_way_out_of_a_call_leaks:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    async [retry(max = 3, backoff = constant("0s"), jitter = none, abort = Err(Fault::Mine), budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> {
        match calls.begin() {
            1 => Err(Fault::Down(1)),
            2 => Err(Fault::Mine),
            _ => Ok(3),
        }
    }
    |world| {
        // (b) a retry, then an error that is not retried; (c) a retry, then the future is dropped.
        for _ in 0..1_000 {
            assert_eq!(call(&Calls::new(&world)).await, Err(Fault::Mine));
            assert_eq!(BUDGET.balance(), 0, "one in, one out");
        }
        for dropped in 1..=1_000 {
            let calls = Calls::new(&world);
            assert!(poll_once(pin!(call(&calls))).is_pending());
            assert_eq!(BUDGET.balance(), dropped, "what was not launched is there");
        }
    }
}

// ---- by hand --------------------------------------------------------------------------------------------------------------

/// A budget of somebody else's, which writes down what it is asked.
#[derive(Default)]
struct Ledger {
    entries: Mutex<Vec<&'static str>>,
    empty: AtomicBool,
}

impl Ledger {
    fn entries(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.entries.lock().unwrap())
    }
}

impl Budget for Ledger {
    fn deposit(&self) {
        self.entries.lock().unwrap().push("deposit");
    }

    fn withdraw(&self) -> Withdrawal {
        self.entries.lock().unwrap().push("withdraw");
        if self.empty.load(Relaxed) { Withdrawal::Refused } else { Withdrawal::Taken }
    }

    fn give_back(&self) {
        self.entries.lock().unwrap().push("give back");
    }

    fn name(&self) -> &'static str {
        "ledger"
    }
}

/// By hand, with every way that an attempt may go, through `dyn Budget`.
#[test]
fn g03_g08_by_hand_each_attempt_is_entered_once() {
    static RETRY: Retry = Retry::builder("ledger").max_attempts(4).on_rejected(true).build();
    let (_clock, _world) = tests::on_a_manual_clock();
    let ledger = Ledger::default();
    let start = || RETRY.start_within_budget::<dyn Budget>(&ledger);
    let failed =
        |attempts: &mut Attempts<'_, _>| attempts.next(Judgement::TRANSIENT, Deadline::NEVER);
    let busy = Rejected::new(Reason::CircuitOpen, "gate").after(SECOND);
    let refused = |attempts: &mut Attempts<'_, _>| attempts.refused(busy, Deadline::NEVER);

    let mut attempts = start();
    attempts.admitted();
    assert_eq!(ledger.entries(), ["deposit"], "before the attempt runs");
    assert!(failed(&mut attempts).is_some());
    assert_eq!(ledger.entries(), ["withdraw"], "before the wait");
    attempts.admitted();
    attempts.admitted();
    assert_eq!(attempts.next(Judgement::SUCCESS, Deadline::NEVER), None);
    drop(attempts);
    assert_eq!(ledger.entries(), [""; 0], "it is spent");

    let mut attempts = start();
    assert!(failed(&mut attempts).is_some() && failed(&mut attempts).is_some());
    assert_eq!(ledger.entries(), ["deposit", "withdraw", "withdraw"], "what ended was admitted");
    assert!(refused(&mut attempts).is_some());
    assert_eq!(ledger.entries(), ["give back", "withdraw"], "and another one is scheduled");
    assert!(refused(&mut attempts).is_none(), "that was the last");
    drop(attempts);
    assert_eq!(ledger.entries(), ["give back"]);

    let mut attempts = start();
    assert!(refused(&mut attempts).is_some() && refused(&mut attempts).is_some());
    assert_eq!(ledger.entries(), [""; 0], "nobody was called");
    attempts.admitted();
    assert_eq!(ledger.entries(), ["deposit"]);
    drop(attempts);

    let mut attempts = start();
    assert!(failed(&mut attempts).is_some());
    attempts.out_of_time();
    attempts.out_of_time();
    drop(attempts);
    assert_eq!(ledger.entries(), ["deposit", "withdraw", "give back"]);

    ledger.empty.store(true, Relaxed);
    let mut attempts = start();
    assert!(failed(&mut attempts).is_none() && failed(&mut attempts).is_none());
    drop(attempts);
    assert_eq!(ledger.entries(), ["deposit", "withdraw"]);
}

// ---- operating ------------------------------------------------------------------------------------------------------------

worlds! {
    a_disabled_budget_grants_everything_and_is_left_alone:
    with { static BUDGET: RetryBudget = paid_by_calls("", 50); }
    [retry(max = 3, backoff = constant("10ms"), jitter = none, budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        assert_eq!(call(&Calls::new(&world)).await, Err(Fault::Down(1)));
        BUDGET.disable();
        for _ in 0..10 {
            assert_eq!(call(&Calls::new(&world)).await, Err(Fault::Down(3)));
        }
        assert_eq!((BUDGET.is_enabled(), moves(&BUDGET)), (false, [0, 1, 0]));
        BUDGET.enable();
        assert_eq!(call(&Calls::new(&world)).await, Err(Fault::Down(2)), "two halves were paid in while it was enabled");
        assert_eq!(BUDGET.balance(), 0);
    }
}

#[test]
fn what_was_free_is_not_given_back() {
    static BUDGET: RetryBudget = paid_by_calls("free", 100);
    static RETRY: Retry = Retry::builder("free").build();
    let (_clock, _world) = tests::on_a_manual_clock();
    BUDGET.disable();
    let mut attempts = RETRY.start_within_budget(&BUDGET);
    attempts.next(Judgement::TRANSIENT, Deadline::NEVER).expect("free");
    BUDGET.enable();
    drop(attempts);
    assert_eq!((moves(&BUDGET), BUDGET.balance()), ([0; 3], 0));
}

#[test]
fn rg19_options_that_make_no_sense_change_nothing() {
    static BUDGET: RetryBudget = RetryBudget::builder("rg19").build();
    let (_clock, _world) = tests::on_a_manual_clock();
    let (options, balance) = (BUDGET.options(), BUDGET.balance());
    for (refused, field) in [
        (BUDGET.set_ttl(Duration::ZERO), "ttl"),
        (BUDGET.set_ttl(Duration::from_millis(99)), "ttl"),
        (BUDGET.set_ttl(Duration::MAX), "ttl"),
        (BUDGET.set_min_per_sec(u32::MAX), "min_per_sec"),
        (BUDGET.set_ttl(Duration::from_secs(86_400)), "min_per_sec"),
    ] {
        let invalid = refused.unwrap_err();
        assert_eq!(invalid.field(), field);
        assert!(invalid.problem().contains(field), "{invalid}");
    }
    assert_eq!((BUDGET.options(), BUDGET.balance()), (options, balance));
}

#[test]
fn rg05_options_change_while_calls_run_and_what_was_paid_in_stays() {
    static BUDGET: RetryBudget = RetryBudget::builder("rg05").min_per_sec(10).build();
    let (clock, _world) = tests::on_a_manual_clock();
    (0..50).for_each(|_| BUDGET.deposit());
    assert_eq!(BUDGET.balance(), 110);

    BUDGET.set_ratio(Ratio::ONE).unwrap();
    (0..10).for_each(|_| BUDGET.deposit());
    assert_eq!(BUDGET.balance(), 120);

    BUDGET.set_min_per_sec(100).unwrap();
    assert_eq!(BUDGET.balance(), 120, "a larger reserve is no gift");
    clock.advance("1s");
    assert!(BUDGET.balance().abs_diff(220) <= 2, "it fills up by and by: {}", BUDGET.balance());

    clock.advance("1m");
    assert_eq!(BUDGET.balance(), 1_000);
    BUDGET.set_min_per_sec(0).unwrap();
    assert_eq!(BUDGET.balance(), 1_000, "as full as it may be");
    BUDGET.set_ttl(SECOND).unwrap();
    (0..9).for_each(|_| BUDGET.deposit());
    assert_eq!(BUDGET.withdraw(), Withdrawal::Taken);
    clock.advance("10m");
    assert_eq!(BUDGET.balance(), 0, "and now nothing brings it back");

    BUDGET.reset();
    assert_eq!(BUDGET.withdraw(), Withdrawal::Refused);
}

#[test]
fn g05_a_floor_that_is_raised_does_not_count_for_time_before() {
    static BUDGET: RetryBudget = RetryBudget::builder("floor").min_per_sec(1).build();
    let (clock, _world) = tests::on_a_manual_clock();
    while BUDGET.withdraw() == Withdrawal::Taken {}
    clock.advance("5s");
    BUDGET.set_min_per_sec(1_000).unwrap();
    assert!(BUDGET.balance() <= 5, "{}", BUDGET.balance());
    clock.advance("1s");
    assert!(BUDGET.balance().abs_diff(1_005) <= 16, "{}", BUDGET.balance());
}
