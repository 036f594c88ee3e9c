//! The breaker outside of the retry: `order = [circuit_breaker, retry]` is one admission and one vote for all attempts.

use resil::{Kind, Reason, State, resilient};
use std::future::pending;
use std::pin::pin;
use tests::trial::{Then, Trial, caught};
use tests::{Calls, Fault, breaker_of, count, counts, poll_once, run, without_a_runtime, worlds};

worlds! {
    all_attempts_are_one_vote:
    [retry(max = 3, backoff = constant("1ms"), jitter = none), circuit_breaker(window = 4, min_calls = 2), order = [circuit_breaker, retry]]
    (calls: &Calls, good_from: u32) -> Result<u32, Fault> {
        let number = calls.begin();
        if number < good_from { Err(Fault::Down(number)) } else { Ok(number) }
    }
    |world| {
        for (good_from, outcome) in [(3, Ok(3)), (9, Err(Fault::Down(3)))] {
            assert_eq!(call(&Calls::new(&world), good_from).await, outcome);
        }
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("success", 1), ("failure", 1)]);
        assert_eq!(breaker_of(NAME).state(), State::Open);
        let calls = Calls::new(&world);
        let refused = call(&calls, 1).await.unwrap_err().refusal().expect("refused");
        assert_eq!((refused.reason(), calls.count(), world.ms()), (Reason::CircuitOpen, 0, 4));
        let outcomes = ["recovered", "exhausted", "refused"].map(|outcome| count(Kind::Retry, NAME, outcome));
        assert_eq!(outcomes, [1, 1, 0], "a refused call has not come to the retry");
    }
}

worlds! {
    one_probe_may_make_all_its_attempts:
    [
        retry(max = 3, backoff = constant("1ms"), jitter = none, before = seen.borrow_mut().push(breaker_of(name).acquire().is_ok())),
        circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
        order = [circuit_breaker, retry],
    ]
    (calls: &Calls, name: &str, seen: &std::cell::RefCell<Vec<bool>>) -> Result<u32, Fault> {
        let _ = (name, seen);
        Err(Fault::Down(calls.begin()))
    }
    |world| {
        let (mut trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        let seen = std::cell::RefCell::default();
        call(&calls, NAME, &seen).await.unwrap_err();
        assert_eq!((calls.count(), seen.into_inner()), (3, vec![true, true]), "the other place stayed free");
        trial.asked += 2;
        trial.is_over(1, Then::Free(1)).await;
    }
}

worlds! {
    a_panic_in_the_last_attempt_is_its_failure:
    [
        retry(max = 3, backoff = constant("1ms"), jitter = none),
        circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
        order = [circuit_breaker, retry],
    ]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        assert!(number < 2, "a bug");
        Err(Fault::Down(number))
    }
    |world| {
        let (trial, calls) = (Trial::begin(&world, NAME).await, Calls::new(&world));
        assert!(caught(call(&calls)).await.is_err());
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 2), ("abandoned", 1), ("retries", 1)]);
        trial.is_over(1, Then::Free(1)).await;
    }
}

#[test]
fn dropped_between_two_attempts_it_is_abandoned_and_gives_its_place_back() {
    #[resilient(
        retry(max = 3, backoff = constant("1s"), jitter = none),
        circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
        order = [circuit_breaker, retry],
        name = "between"
    )]
    async fn call(calls: &Calls) -> Result<u32, Fault> {
        Err(Fault::Down(calls.begin()))
    }
    let (clock, world) = without_a_runtime();
    run(&clock, async {
        let (trial, calls) = (Trial::begin(&world, "between").await, Calls::new(&world));
        {
            let mut future = pin!(call(&calls));
            assert!(poll_once(future.as_mut()).is_pending());
            let held = breaker_of("between").acquire().expect("the second place");
            assert!(breaker_of("between").acquire().is_err(), "it holds the first while it waits");
            held.ignore();
        }
        assert_eq!(count(Kind::CircuitBreaker, "between", "abandoned"), 1);
        let Trial { asked, .. } = trial;
        assert_eq!(asked, 2);
    });
}

worlds! {
    a_timeout_inside_is_the_vote:
    async [
        retry(max = 2, backoff = constant("1ms"), jitter = none),
        circuit_breaker,
        timeout = "100ms",
        order = [circuit_breaker, retry, timeout],
    ]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        let calls = Calls::new(&world);
        let refused = call(&calls).await.unwrap_err().refusal().expect("a timeout");
        assert_eq!((refused.reason(), calls.begun()), (Reason::TimedOut, vec![0, 101]));
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 1)]);
    }
}

worlds! {
    to05_a_breaker_around_all_attempts_shortens_no_timeout:
    async [
        retry(max = 3, backoff = constant("50ms"), jitter = none),
        circuit_breaker(slow_call = "10s"),
        timeout = "100ms",
        order = [circuit_breaker, retry, timeout],
        allow(slow_call_reaches_timeout),
    ]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); pending().await }
    |world| {
        // Once it has failed, the breaker looks at the clock.
        for _ in 0..2 {
            let calls = Calls::new(&world);
            let (begun, refused) = (world.ms(), call(&calls).await.unwrap_err().refusal());
            assert_eq!(refused.map(|refused| refused.reason()), Some(Reason::TimedOut));
            assert_eq!(calls.begun(), [0, 150, 300].map(|at| begun + at));
        }
    }
}
