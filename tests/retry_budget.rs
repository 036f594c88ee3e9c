//! Retry budgets: what fills one, what draws on it, and what a call does that finds it empty.

use resil::{CircuitBreaker, Kind, Ratio, RetryBudget, Stop, Value, resilient};
use std::pin::pin;
use std::thread;
use std::time::Duration;
use tests::budget::{moves, outcome, paid_by_calls};
use tests::{Calls, Fault, count, counts, listen, poll_once, scheduled, setting, stops, worlds};

const SECOND: Duration = Duration::from_secs(1);

mod policies {
    resil::registry! {
        /// What the two functions of G6 share.
        retry_budget shared { ratio = "50%", min_per_sec = 0, ttl = "1h" }
    }
}

// ---- what it comes to -----------------------------------------------------------------------------------------------------

worlds! {
    g01_a_share_of_the_calls_is_retried_and_what_is_old_pays_for_nothing:
    with {
        static BUDGET: RetryBudget = RetryBudget::builder("").ratio(Ratio::percent(20)).min_per_sec(0).ttl(SECOND).build();
    }
    [retry(max = 3, backoff = constant("0s"), jitter = none, budget = self::BUDGET)]
    (good: bool, calls: &Calls) -> Result<u32, Fault> { outcome(good, calls) }
    |world| {
        let calls = Calls::new(&world);
        for _ in 0..100 {
            call(false, &calls).await.unwrap_err();
        }
        assert_eq!(calls.count(), 120, "one in five");
        for _ in 0..100 {
            call(true, &calls).await.unwrap();
        }
        assert_eq!(BUDGET.balance(), 20);
        world.sleep("1m").await;
        assert_eq!(BUDGET.balance(), 0);
        let before = calls.count();
        call(false, &calls).await.unwrap_err();
        assert_eq!(calls.count() - before, 1, "what was saved up a minute ago is forgotten");
    }
}

worlds! {
    g04_only_launched_retries_are_paid_for:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    [retry(max = 3, backoff = constant("1ms"), jitter = none, abort = Err(Fault::Mine), budget = self::BUDGET)]
    (calls: &Calls, script: &[Result<u32, Fault>]) -> Result<u32, Fault> { script[calls.begin() as usize - 1] }
    |world| {
        let down = Err(Fault::Down(0));
        for (script, paid) in [
            (&[Ok(1)][..], 0),
            (&[Err(Fault::Mine)], 0),
            (&[down, Ok(2)], 1),
            (&[down, Err(Fault::Mine)], 1),
            (&[down, down, down], 2),
        ] {
            let ([before, ..], there) = (moves(&BUDGET), BUDGET.balance());
            let _ = call(&Calls::new(&world), script).await;
            let [after, ..] = moves(&BUDGET);
            assert_eq!((after - before, there + 1 - BUDGET.balance()), (paid, paid), "{script:?}");
        }
        assert_eq!(moves(&BUDGET)[1..], [0, 0]);
    }
}

worlds! {
    g05_who_hardly_calls_may_retry_from_the_first_call_on:
    with { static BUDGET: RetryBudget = RetryBudget::builder("").build(); }
    [retry(max = 3, backoff = constant("100ms"), jitter = none, budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        // An outage without an end: two retries a second, of ten.
        for _ in 0..60 {
            assert_eq!(call(&Calls::new(&world)).await, Err(Fault::Down(3)));
            world.sleep("800ms").await;
        }
        assert_eq!(moves(&BUDGET)[1], 0);
    }
}

worlds! {
    g09_r08_an_empty_budget_ends_the_call_before_it_waits_with_the_last_outcome:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    [retry(max = 9, backoff = constant("1h"), jitter = none, budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(2)), "the callee's own error, of the one retry that was paid");
        assert_eq!((calls.begun(), world.ms()), (vec![0, 3_600_000], 3_600_000));
        assert_eq!((stops(NAME), scheduled(NAME).len()), (vec![(2, Stop::Budget)], 1));
        assert_eq!((count(Kind::Retry, NAME, "exhausted"), moves(&BUDGET)), (1, [1, 1, 0]));
    }
}

worlds! {
    g09_what_else_ends_a_call_is_asked_first_and_costs_nothing:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    [retry(max = 2, backoff = constant("1s"), jitter = none, within = "900ms", budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        call(&Calls::new(&world)).await.unwrap_err();
        assert_eq!((stops(NAME), moves(&BUDGET)), (vec![(1, Stop::Within)], [0; 3]));
    }
}

// ---- shared ---------------------------------------------------------------------------------------------------------------

#[resilient(retry(max = 2, backoff = constant("0s"), jitter = none, budget = "shared"), name = "g06_pays")]
fn pays() -> Result<u32, Fault> {
    Ok(0)
}

#[resilient(retry(max = 9, backoff = constant("0s"), jitter = none, budget = "shared"), name = "g06_draws")]
async fn draws(calls: &Calls) -> Result<u32, Fault> {
    outcome(false, calls)
}

#[test]
fn g06_one_budget_serves_many_functions_sync_and_async() {
    let (_clock, world) = tests::on_a_manual_clock();
    for _ in 0..7 {
        pays().unwrap();
    }
    let calls = Calls::new(&world);
    let mut call = pin!(draws(&calls));
    while poll_once(call.as_mut()).is_pending() {}
    assert_eq!(calls.count(), 5, "itself the eighth, four are paid for");
    let entry = resil::catalog().find(Kind::RetryBudget, "shared").expect("it is listed");
    assert_eq!(entry.retry_budget().expect("it is one").balance(), 0);
    assert_eq!(counts(Kind::RetryBudget, "shared"), [("withdrawn", 4), ("refused", 1)]);
    assert_eq!(setting(Kind::Retry, "g06_pays", "budget"), Value::Word("shared"));
    assert_eq!(setting(Kind::Retry, "g02", "budget"), Value::Word("self::TENTH"));
    assert!(entry.to_string().contains("ratio = 50%, min_per_sec = 0, ttl = 3600s"), "{entry}");
}

static TENTH: RetryBudget = paid_by_calls("tenth", 10);

/// Everybody fails at once. Each call pays before it asks, so what there is in the end is less than a retry.
#[test]
fn g02_threads_together_are_granted_what_was_paid_and_no_more() {
    const THREADS: u64 = 4;
    const CALLS: u64 = 5_000;
    #[resilient(retry(max = 3, backoff = constant("0s"), jitter = none, budget = self::TENTH), name = "g02")]
    fn call() -> Result<u32, Fault> {
        Err(Fault::Mine)
    }
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..CALLS).for_each(|_| assert!(call().is_err())));
        }
    });
    let granted = THREADS * CALLS / 10;
    assert_eq!((moves(&TENTH)[0], TENTH.balance()), (granted, 0));
    assert_eq!(count(Kind::Retry, "g02", "attempts"), THREADS * CALLS + granted);
}

// ---- what fills it --------------------------------------------------------------------------------------------------------

worlds! {
    g03_a_call_that_a_gate_refused_deposits_nothing:
    with {
        static BUDGET: RetryBudget = paid_by_calls("", 100);
        static GATE: CircuitBreaker = CircuitBreaker::builder("").build();
    }
    [retry(max = 3, budget = self::BUDGET), circuit_breaker = self::GATE]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        GATE.force_open();
        let calls = Calls::new(&world);
        for _ in 0..10 {
            assert!(call(&calls).await.unwrap_err().refusal().is_some());
        }
        assert_eq!((calls.count(), BUDGET.balance()), (0, 0));
        GATE.close();
        call(&calls).await.unwrap();
        assert_eq!(BUDGET.balance(), 1);
    }
}

worlds! {
    g03_only_the_first_attempt_deposits_whatever_becomes_of_it:
    with { static BUDGET: RetryBudget = paid_by_calls("", 40); }
    [retry(max = 9, backoff = constant("0s"), jitter = none, abort = Err(Fault::Mine), budget = self::BUDGET)]
    (calls: &Calls, bad: u32, panics: bool) -> Result<u32, Fault> {
        let number = calls.begin();
        assert!(!panics, "a bug");
        if number > bad { Ok(number) } else { Err(Fault::Down(number)) }
    }
    |world| {
        for (bad, panics, there) in [(0, true, 0), (0, false, 0), (0, false, 1), (1, false, 0), (0, false, 1), (9, false, 0)] {
            let _ = tests::trial::caught(call(&Calls::new(&world), bad, panics)).await;
            assert_eq!(BUDGET.balance(), there, "after {bad} failures, panic: {panics}");
        }
        assert_eq!(moves(&BUDGET), [2, 1, 0], "2.4 were paid in");
    }
}

// ---- what is given back ---------------------------------------------------------------------------------------------------

worlds! {
    g08_a_retry_that_a_gate_refuses_is_given_back:
    with {
        static BUDGET: RetryBudget = paid_by_calls("", 100);
        static GATE: CircuitBreaker = CircuitBreaker::builder("").build();
    }
    [retry(max = 3, backoff = constant("10ms"), jitter = none, before = GATE.force_open(), budget = self::BUDGET), circuit_breaker = self::GATE]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)));
        assert_eq!((calls.count(), world.ms()), (1, 10), "it was scheduled, and refused");
        assert_eq!((moves(&BUDGET), BUDGET.balance()), ([1, 0, 1], 1));
    }
}

worlds! {
    g08_a_retry_that_is_abandoned_before_it_is_launched_is_given_back:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    [retry(max = 3, backoff = constant("10ms"), jitter = none, before = panic!("a bug"), budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        assert!(tests::trial::caught(call(&Calls::new(&world))).await.is_err());
        assert_eq!((moves(&BUDGET), BUDGET.balance()), ([1, 0, 1], 1));
    }
}

worlds! {
    g08_a_call_that_is_dropped_while_it_waits_gives_back_once:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    async [retry(max = 3, backoff = constant("10ms"), jitter = none, budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        {
            let calls = Calls::new(&world);
            let mut call = pin!(call(&calls));
            assert!(poll_once(call.as_mut()).is_pending());
            assert_eq!((moves(&BUDGET), BUDGET.balance()), ([1, 0, 0], 0), "it waits for its second attempt");
        }
        assert_eq!((moves(&BUDGET), BUDGET.balance()), ([1, 0, 1], 1));
    }
}

worlds! {
    g08_what_was_launched_is_paid_also_if_it_is_dropped:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    async [retry(max = 3, backoff = constant("0s"), jitter = none, budget = self::BUDGET)]
    (calls: &Calls) -> Result<u32, Fault> {
        if calls.begin() == 2 {
            std::future::pending::<()>().await;
        }
        Err(Fault::Down(0))
    }
    |world| {
        {
            let calls = Calls::new(&world);
            let mut call = pin!(call(&calls));
            while calls.count() < 2 {
                assert!(poll_once(call.as_mut()).is_pending());
            }
        }
        assert_eq!((moves(&BUDGET), BUDGET.balance()), ([1, 0, 0], 0));
    }
}

worlds! {
    g08_a_retry_that_the_deadline_overtakes_is_given_back:
    with { static BUDGET: RetryBudget = paid_by_calls("", 100); }
    async [
        deadline = "1s",
        retry(max = 3, backoff = constant("10ms"), jitter = none, before = calls.world().sleep("2s").await, budget = self::BUDGET),
    ]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)));
        assert_eq!((calls.count(), world.ms()), (1, 1_000));
        assert_eq!((moves(&BUDGET), BUDGET.balance()), ([1, 0, 1], 1));
    }
}

worlds! {
    g08_asking_a_gate_again_costs_nothing_until_it_admits:
    with {
        static BUDGET: RetryBudget = paid_by_calls("", 50);
        static GATE: CircuitBreaker = CircuitBreaker::builder("").window(1).open_for(SECOND).build();
    }
    [retry(max = 3, backoff = constant("0s"), jitter = none, on_rejected = true, budget = self::BUDGET), circuit_breaker = self::GATE]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        GATE.acquire().unwrap().failure();
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(1), "it came back when it was told to");
        assert!(calls.begun()[0] >= 1_000);
        assert_eq!(moves(&BUDGET), [0; 3], "for the callee this was a first attempt");
        call(&calls).await.unwrap();
        assert_eq!(BUDGET.balance(), 1, "and it paid like one");
    }
}
