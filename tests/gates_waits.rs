//! Waiting at gates: what it counts towards, what ends it, and what becomes of the call then.

use resil::testing::pause;
use resil::{Deadline, Kind, Policy, Reason, RetryBudget, resilient};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use tests::{
    Calls, Fault, World, at_once, breaker_of, bulkhead_of, count, counts, limiter_of, poll_once,
    run, scheduled, stops, worlds,
};

/// The reason of a refusal that must have come.
fn reason<T: std::fmt::Debug>(outcome: Result<T, Fault>) -> Reason {
    outcome.unwrap_err().refusal().expect("a refusal").reason()
}

/// When the body began each time, in hundredths of a second: a limiter rounds up.
fn hundredths(calls: &Calls) -> Vec<u64> {
    calls.begun().into_iter().map(|ms| ms / 10).collect()
}

// ---- what it counts towards -----------------------------------------------------------------------------------------------

worlds! {
    b38_who_waits_for_cells_is_not_slow:
    [circuit_breaker(slow_call = "50ms"), rate_limiter(rate = "10/s", burst = 1, wait = "1s")]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let calls = Calls::new(&world);
        for number in 1..=3 {
            assert_eq!(call(&calls).await, Ok(number));
        }
        assert_eq!(hundredths(&calls), [0, 10, 20]);
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("success", 3)]);
    }
}

worlds! {
    b38_nor_who_waits_for_cells_inside_of_retry:
    [
        circuit_breaker(slow_call = "50ms"), rate_limiter(rate = "10/s", burst = 1, wait = "1s"), retry(max = 2),
        order = [circuit_breaker, retry, rate_limiter],
    ]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!((call(&calls).await, call(&calls).await), (Ok(1), Ok(2)));
        assert_eq!((hundredths(&calls), counts(Kind::CircuitBreaker, NAME)), (vec![0, 10], vec![("success", 2)]));
    }
}

worlds! {
    b38_nor_who_waits_outside_of_the_breaker:
    [
        circuit_breaker(slow_call = "50ms"), rate_limiter(rate = "10/s", burst = 1, wait = "1s"),
        order = [rate_limiter, circuit_breaker],
    ]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!((call(&calls).await, call(&calls).await), (Ok(1), Ok(2)));
        assert_eq!((hundredths(&calls), counts(Kind::CircuitBreaker, NAME)), (vec![0, 10], vec![("success", 2)]));
    }
}

/// Calls while the bulkhead is full, and makes room after 100 ms.
macro_rules! after_a_wait {
    ($call:expr, $world:expr, $name:expr) => {{
        let slot = bulkhead_of($name).acquire().expect("room");
        let mut future = pin!($call);
        assert!(poll_once(future.as_mut()).is_pending());
        $world.sleep("100ms").await;
        drop(slot);
        future.await
    }};
}

worlds! {
    b38_t08_who_waits_for_a_place_is_neither_slow_nor_out_of_time:
    async [
        circuit_breaker(slow_call = "40ms"),
        rate_limiter(rate = "10/s"),
        bulkhead(max_concurrent = 1, wait = "1s"),
        timeout = "50ms",
    ]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep("30ms").await;
        Ok(number)
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(after_a_wait!(call(&calls), world, NAME), Ok(1));
        assert_eq!((calls.begun(), world.ms()), (vec![100], 130));
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("success", 1)]);
    }
}

worlds! {
    t08_who_waits_for_cells_after_a_place_is_not_out_of_time:
    async [
        rate_limiter(rate = "10/s", burst = 1, wait = "1s"),
        bulkhead(max_concurrent = 1),
        timeout = "50ms",
        order = [bulkhead, rate_limiter, timeout],
    ]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep("30ms").await;
        Ok(number)
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!((call(&calls).await, call(&calls).await), (Ok(1), Ok(2)));
        assert_eq!(hundredths(&calls), [0, 10]);
    }
}

#[test]
fn t08_nor_is_a_sync_call() {
    #[resilient(
        rate_limiter(rate = "10/s", burst = 1, wait = "1s"),
        timeout = "50ms",
        name = "t08_sync"
    )]
    fn call(calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        at_once(calls.world().sleep("30ms"));
        Ok(number)
    }
    let clock = pause();
    let world = World::sync(&clock);
    let calls = Calls::new(&world);
    assert_eq!((call(&calls), call(&calls)), (Ok(1), Ok(2)));
    assert_eq!((hundredths(&calls), counts(Kind::Timeout, "t08_sync")), (vec![0, 10], vec![]));
}

/// A first poll that takes 60 ms, and then nothing.
async fn blocks_and_hangs(clock: &resil::testing::ManualClock) {
    let mut blocked = false;
    poll_fn(|_| {
        if !std::mem::replace(&mut blocked, true) {
            clock.advance("60ms");
        }
        Poll::<()>::Pending
    })
    .await;
}

#[test]
fn t01_the_time_of_an_attempt_begins_at_the_reading_of_its_last_gate() {
    #[resilient(retry(max = 2, backoff = constant("10ms"), jitter = none), rate_limiter(rate = "100/s"), timeout = "100ms")]
    async fn alone(calls: &Calls, clock: &resil::testing::ManualClock) -> Result<u32, Fault> {
        calls.begin();
        blocks_and_hangs(clock).await;
        Ok(0)
    }
    #[resilient(retry(max = 2, backoff = constant("10ms"), jitter = none), circuit_breaker, rate_limiter(rate = "100/s"), timeout = "100ms")]
    async fn beside_a_breaker(
        calls: &Calls,
        clock: &resil::testing::ManualClock,
    ) -> Result<u32, Fault> {
        calls.begin();
        blocks_and_hangs(clock).await;
        Ok(0)
    }
    let clock = pause();
    for number in 0..2 {
        let world = World::manual(&clock);
        let calls = Calls::new(&world);
        let ended = run(&clock, async {
            if number == 0 {
                alone(&calls, &clock).await
            } else {
                beside_a_breaker(&calls, &clock).await
            }
        });
        assert_eq!(reason(ended), Reason::TimedOut);
        assert_eq!((calls.begun(), world.ms()), (vec![0, 110], 210), "not 60 ms later");
    }
}

worlds! {
    to05_t01_cells_for_all_attempts_shorten_no_timeout:
    async [
        rate_limiter(rate = "10/s"), retry(max = 3, backoff = constant("50ms"), jitter = none), timeout = "100ms",
        order = [rate_limiter, retry, timeout],
    ]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(reason(call(&calls).await), Reason::TimedOut);
        assert_eq!(calls.begun(), [0, 150, 300]);
    }
}

// ---- what ends it ---------------------------------------------------------------------------------------------------------

worlds! {
    l14_l01_a_wait_for_cells_that_does_not_fit_the_deadline_is_not_begun:
    [deadline = "100ms", rate_limiter(rate = "1/s", burst = 1, wait = "10s"), allow(wait_reaches_deadline)]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(1));
        assert_eq!((reason(call(&calls).await), world.ms()), (Reason::RateLimited, 0));
        world.sleep("950ms").await;
        assert_eq!(call(&calls).await, Ok(2), "50 ms fit");
        assert_eq!(hundredths(&calls), [0, 100]);
    }
}

worlds! {
    l14_a_wait_for_a_place_ends_with_the_deadline:
    [deadline = "100ms", bulkhead(max_concurrent = 1, wait = "10s"), allow(wait_reaches_deadline)]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let _inside = bulkhead_of(NAME).acquire();
        let calls = Calls::new(&world);
        assert_eq!((reason(call(&calls).await), world.ms()), (Reason::BulkheadFull, 100));
        assert_eq!(calls.count(), 0);
    }
}

worlds! {
    l14_and_with_the_deadline_of_who_calls:
    async [deadline = "100ms"]
    () -> Result<u32, Fault> {
        #[resilient(bulkhead(max_concurrent = 0, wait = "10s"), rate_limiter(rate = "1/s", burst = 1, wait = "10s"))]
        async fn inner() -> Result<u32, Fault> {
            assert_ne!(Deadline::current(), Deadline::NEVER);
            Ok(1)
        }
        inner().await
    }
    |world| {
        assert_eq!((reason(call().await), world.ms()), (Reason::BulkheadFull, 0));
    }
}

// ---- what becomes of the call ---------------------------------------------------------------------------------------------

/// Closes one of the gates.
fn shut(name: &str, gate: &str) {
    match gate {
        "circuit_breaker" => breaker_of(name).force_open(),
        "rate_limiter" => limiter_of(name).drain(),
        _ => bulkhead_of(name).set_max_concurrent(0).unwrap(),
    }
}

const REFUSALS: [(&str, Reason); 3] = [
    ("circuit_breaker", Reason::CircuitOpen),
    ("rate_limiter", Reason::RateLimited),
    ("bulkhead", Reason::BulkheadFull),
];

/// Opens all of them.
fn open(name: &str) {
    breaker_of(name).reset();
    limiter_of(name).reset();
    bulkhead_of(name).set_max_concurrent(1).unwrap();
}

worlds! {
    r12_a_refusal_hides_no_earlier_outcome:
    [
        retry(max = 3, backoff = constant("10ms"), jitter = none, before = shut(name, gate)),
        circuit_breaker, rate_limiter(rate = "1/h", burst = 100), bulkhead(max_concurrent = 1),
    ]
    (calls: &Calls, name: &str, gate: &str) -> Result<u32, Fault> {
        let _ = (name, gate);
        Err(Fault::Down(calls.begin()))
    }
    |world| {
        for (gate, _) in REFUSALS {
            open(NAME);
            let calls = Calls::new(&world);
            assert_eq!(call(&calls, NAME, gate).await, Err(Fault::Down(1)), "{gate}");
            assert_eq!(bulkhead_of(NAME).in_flight(), 0);
        }
        assert_eq!(count(Kind::Retry, NAME, "refused"), 3);
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 3), ("ignored", 2), ("refused", 1)]);
    }
}

worlds! {
    r12_nor_does_one_with_a_breaker_around_all_attempts:
    [
        retry(max = 3, backoff = constant("10ms"), jitter = none, before = shut(name, gate)),
        circuit_breaker, rate_limiter(rate = "1/h", burst = 100), bulkhead(max_concurrent = 1),
        order = [fallback, circuit_breaker, retry, rate_limiter, bulkhead],
        fallback(rejected = |_| Ok(99)),
    ]
    (calls: &Calls, name: &str, gate: &str) -> Result<u32, Fault> {
        let _ = (name, gate);
        Err(Fault::Down(calls.begin()))
    }
    |world| {
        for (gate, _) in &REFUSALS[1..] {
            open(NAME);
            assert_eq!(call(&Calls::new(&world), NAME, gate).await, Err(Fault::Down(1)), "{gate}");
        }
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 2)], "of the callee, twice");
    }
}

worlds! {
    b29_a_call_that_gates_inside_of_retry_refuse_is_nobodys_failure:
    [
        retry(max = 3),
        circuit_breaker, rate_limiter(rate = "1/s", burst = 1),
        order = [fallback, circuit_breaker, retry, rate_limiter],
        fallback(error = |_| Ok(98), rejected = |_| Ok(99)),
    ]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(1));
        assert_eq!((call(&calls).await, calls.count()), (Ok(99), 1));
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("success", 1), ("ignored", 1)]);
    }
}

worlds! {
    r12_a_deadline_that_passes_at_a_gate_hides_no_earlier_outcome:
    [
        deadline = "100ms",
        retry(max = 3, backoff = constant("0s"), jitter = none),
        circuit_breaker,
        rate_limiter(rate = "10/s", burst = 1, wait = "1s"),
        bulkhead(max_concurrent = 1),
        allow(wait_reaches_deadline),
    ]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)), "the next cells come when it is over");
        assert_eq!((calls.count(), bulkhead_of(NAME).in_flight()), (1, 0));
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 1), ("ignored", 1)]);
        assert_eq!(count(Kind::Deadline, NAME, "exceeded"), 0, "no attempt was ended");
    }
}

worlds! {
    b30_on_rejected_a_refused_attempt_is_made_again_when_the_limiter_says_so:
    [
        retry(max = 5, backoff = constant("10ms"), jitter = none, on_rejected = true),
        circuit_breaker(min_calls = 100),
        rate_limiter(rate = "10/s", burst = 1),
        bulkhead(max_concurrent = 1),
    ]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        tests::listen();
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(3)));
        assert_eq!(hundredths(&calls), [0, 10, 20], "attempts 1, 3 and 5");
        let waits: Vec<_> = scheduled(NAME).into_iter().map(|(attempt, wait)| (attempt, wait.as_millis())).collect();
        assert_eq!(waits, [(2, 10), (3, 90), (4, 10), (5, 90)]);
        assert_eq!(stops(NAME), [(5, resil::Stop::Attempts)]);
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 3), ("ignored", 2)]);
    }
}

worlds! {
    a_fallback_answers_each_refusal:
    [
        fallback(rejected = |refused| Ok(REFUSALS.iter().position(|(_, reason)| *reason == refused.reason()).unwrap())),
        circuit_breaker, rate_limiter(rate = "1/h", burst = 100), bulkhead(max_concurrent = 1),
    ]
    () -> Result<usize, Fault> { Ok(99) }
    |_world| {
        for (number, (gate, _)) in REFUSALS.iter().enumerate() {
            open(NAME);
            assert_eq!(call().await, Ok(99));
            shut(NAME, gate);
            assert_eq!(call().await, Ok(number));
        }
        assert_eq!(counts(Kind::Fallback, NAME), [("rejected", 3)]);
    }
}

worlds! {
    b29_a_refusal_inside_a_nested_call_is_nobodys_failure:
    [circuit_breaker(min_calls = 1, window = 1), retry(max = 3)]
    (calls: &Calls) -> Result<u32, Fault> {
        #[resilient(rate_limiter(rate = "1/h", burst = 1), bulkhead(max_concurrent = 0), order = [bulkhead, rate_limiter])]
        fn inner() -> Result<u32, Fault> {
            Ok(1)
        }
        calls.begin();
        inner()
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!((reason(call(&calls).await), calls.count()), (Reason::BulkheadFull, 1), "nor retried");
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("ignored", 1)]);
    }
}

// ---- budgets --------------------------------------------------------------------------------------------------------------

/// Each call that is let through pays for a whole retry.
mod budgets {
    use resil::{Ratio, RetryBudget};

    pub(super) static SYNC: RetryBudget =
        RetryBudget::builder("sync").ratio(Ratio::percent(100)).min_per_sec(0).build();
    pub(super) static DROPPED: RetryBudget =
        RetryBudget::builder("dropped").ratio(Ratio::percent(100)).min_per_sec(0).build();
    pub(super) static ASYNC: RetryBudget =
        RetryBudget::builder("async").ratio(Ratio::percent(100)).min_per_sec(0).build();
}

/// The same with either budget.
fn pays_for_what_the_gates_let_through(
    budget: &RetryBudget,
    name: &str,
    call: impl Fn(bool, bool) -> Result<u32, Fault>,
) {
    shut(name, "bulkhead");
    (0..5).for_each(|_| assert_eq!(reason(call(true, false)), Reason::BulkheadFull));
    assert_eq!(budget.balance(), 0, "who is refused has no right to retry");
    open(name);
    (0..2).for_each(|_| assert_eq!(call(true, false), Ok(1)));
    assert_eq!(budget.balance(), 2);
    assert_eq!(call(false, true), Err(Fault::Down(1)));
    assert_eq!(budget.balance(), 3, "the refused attempt was no load");
    open(name);
    assert_eq!(call(false, false), Err(Fault::Down(1)));
    assert_eq!(budget.balance(), 3, "one in, one out");
    let counted = |at| {
        let mut value = 0;
        budget.counters(&mut |counter| {
            if counter.name == at {
                value = counter.value;
            }
        });
        value
    };
    assert_eq!(["withdrawn", "given_back"].map(counted), [2, 1]);
}

#[test]
fn g03_g08_a_budget_counts_what_the_gates_let_through() {
    #[resilient(
        retry(max = 2, backoff = constant("0s"), jitter = none, before = if shuts { shut("g03", "bulkhead") }, budget = self::budgets::SYNC),
        circuit_breaker(min_calls = 100), rate_limiter(rate = "1/h", burst = 100), bulkhead(max_concurrent = 1),
        name = "g03"
    )]
    fn call(good: bool, shuts: bool) -> Result<u32, Fault> {
        let _ = shuts;
        if good { Ok(1) } else { Err(Fault::Down(1)) }
    }
    let _clock = pause();
    pays_for_what_the_gates_let_through(&budgets::SYNC, "g03", call);
}

#[test]
fn g03_g08_and_so_it_does_in_async_functions() {
    #[resilient(
        retry(max = 2, backoff = constant("0s"), jitter = none, before = if shuts { shut("g03_async", "bulkhead") }, budget = self::budgets::ASYNC),
        circuit_breaker(min_calls = 100), rate_limiter(rate = "1/h", burst = 100), bulkhead(max_concurrent = 1),
        name = "g03_async"
    )]
    async fn call(good: bool, shuts: bool) -> Result<u32, Fault> {
        let _ = shuts;
        if good { Ok(1) } else { Err(Fault::Down(1)) }
    }
    let clock = pause();
    pays_for_what_the_gates_let_through(&budgets::ASYNC, "g03_async", |good, shuts| {
        run(&clock, call(good, shuts))
    });
}

#[test]
fn g08_an_attempt_that_was_let_through_is_paid_for_whatever_becomes_of_it() {
    #[resilient(
        retry(max = 2, backoff = constant("0s"), jitter = none, budget = self::budgets::DROPPED),
        bulkhead(max_concurrent = 1)
    )]
    async fn call(calls: &Calls, hangs_at: u32) -> Result<u32, Fault> {
        let number = calls.begin();
        if number == hangs_at {
            return pending().await;
        }
        Err(Fault::Down(number))
    }
    let (_clock, world) = tests::without_a_runtime();
    let dropped_at = |number| {
        let calls = Calls::new(&world);
        let mut future = pin!(call(&calls, number));
        while calls.count() < number {
            assert!(poll_once(future.as_mut()).is_pending());
        }
    };
    dropped_at(1);
    assert_eq!(budgets::DROPPED.balance(), 1, "it was a call");
    dropped_at(2);
    assert_eq!(budgets::DROPPED.balance(), 1, "one in, one out");
}
