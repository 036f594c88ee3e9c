//! Policies that are disabled and enabled while calls go on, one by one.

use resil::testing::pause;
use resil::{Entry, Event, Kind, Reason, State, catalog, resilient};
use std::cell::Cell;
use std::future::pending;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tests::breaker::{builder, fail, is_refused, open, transitions};
use tests::{
    Calls, Fault, count, counts, heard, listen, poll_once, run, without_a_runtime, worlds,
};

/// The policy of this kind and name.
fn entry(kind: Kind, name: &str) -> Entry {
    catalog().find(kind, name).unwrap_or_else(|| panic!("no {kind} `{name}`"))
}

/// Disables a policy, and looks at it.
fn disable(kind: Kind, name: &str) {
    entry(kind, name).disable();
    assert_eq!((entry(kind, name).is_enabled(), entry(kind, name).state()), (false, "disabled"));
}

/// Enables it again.
fn enable(kind: Kind, name: &str) {
    entry(kind, name).enable();
    assert!(entry(kind, name).is_enabled() && entry(kind, name).state() != "disabled");
}

// ---- retry ----------------------------------------------------------------------------------------------------------------

worlds! {
    a_disabled_retry_makes_one_attempt:
    [retry(max = 3, backoff = constant("10ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        disable(Kind::Retry, NAME);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)));
        assert_eq!((world.ms(), heard(NAME)), (0, vec![]), "no wait, and no word of exhaustion");
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 1), ("not_retried", 1)]);
        enable(Kind::Retry, NAME);
        assert_eq!(call(&calls).await, Err(Fault::Down(4)));
        assert_eq!(count(Kind::Retry, NAME, "exhausted"), 1);
    }
}

worlds! {
    a_retry_that_is_disabled_during_a_call_makes_no_further_attempt:
    [retry(max = 3, backoff = constant("10ms"), jitter = none)]
    (calls: &Calls, name: &str) -> Result<u32, Fault> {
        let number = calls.begin();
        if number == 2 {
            disable(Kind::Retry, name);
        }
        Err(Fault::Down(number))
    }
    |world| {
        assert_eq!(call(&Calls::new(&world), NAME).await, Err(Fault::Down(2)));
        enable(Kind::Retry, NAME);
    }
}

worlds! {
    a_disabled_retry_does_not_wait_for_a_refusal_to_end:
    [retry(max = 3, on_rejected), circuit_breaker(window = 2, min_calls = 2, open_for = "1s")]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Retry, NAME);
        for number in 1..=2 {
            assert_eq!(call(&calls).await, Err(Fault::Down(number)));
        }
        let refused = call(&calls).await.unwrap_err().refusal().expect("the breaker is open");
        assert_eq!((refused.reason(), world.ms()), (Reason::CircuitOpen, 0));
        assert_eq!(count(Kind::Retry, NAME, "refused"), 1);
    }
}

// ---- timeout and deadline -------------------------------------------------------------------------------------------------

worlds! {
    a_disabled_timeout_sets_no_limit:
    async [timeout = "100ms"]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep("1s").await;
        Ok(number)
    }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Timeout, NAME);
        assert_eq!((call(&calls).await, world.ms()), (Ok(1), 1_000));
        enable(Kind::Timeout, NAME);
        let ended = call(&calls).await.unwrap_err().refusal().expect("it timed out");
        assert_eq!((ended.reason(), world.ms()), (Reason::TimedOut, 1_100));
        assert_eq!(counts(Kind::Timeout, NAME), [("timed_out", 1)]);
    }
}

worlds! {
    a_disabled_timeout_sets_no_limit_that_is_computed_either:
    async [timeout(after = std::time::Duration::from_millis(after))]
    (calls: &Calls, after: u64) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep("1s").await;
        Ok(number)
    }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Timeout, NAME);
        assert_eq!(call(&calls, 100).await, Ok(1));
        assert_eq!(call(&calls, 0).await, Ok(2), "a limit of nothing is no limit either");
        enable(Kind::Timeout, NAME);
        assert!(call(&calls, 100).await.is_err());
    }
}

worlds! {
    a_disabled_deadline_sets_no_limit:
    async [deadline = "100ms", retry(max = 3, backoff = constant("150ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        assert_eq!(resil::Deadline::current() == resil::Deadline::NEVER, number < 4);
        calls.world().sleep("150ms").await;
        if number.is_multiple_of(3) { Ok(number) } else { Err(Fault::Down(number)) }
    }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Deadline, NAME);
        assert_eq!((call(&calls).await, world.ms()), (Ok(3), 750), "neither attempts nor waits are cut");
        enable(Kind::Deadline, NAME);
        let ended = call(&calls).await.unwrap_err().refusal().expect("it took too long");
        assert_eq!((ended.reason(), world.ms()), (Reason::DeadlineExceeded, 850));
        assert_eq!(counts(Kind::Deadline, NAME), [("exceeded", 1)]);
    }
}

worlds! {
    a_disabled_deadline_leaves_the_timeout_in_force:
    async [deadline = "300ms", timeout = "100ms"]
    (_calls: &Calls) -> Result<u32, Fault> { pending().await }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Deadline, NAME);
        let ended = call(&calls).await.unwrap_err().refusal().expect("it timed out");
        assert_eq!((ended.reason(), world.ms()), (Reason::TimedOut, 100));
        disable(Kind::Timeout, NAME);
        enable(Kind::Deadline, NAME);
        let ended = call(&calls).await.unwrap_err().refusal().expect("it took too long");
        assert_eq!((ended.reason(), world.ms()), (Reason::DeadlineExceeded, 400));
    }
}

#[test]
fn an_attempt_under_way_keeps_the_limit_it_began_with() {
    #[resilient(timeout = "100ms", name = "keeps_its_limit")]
    async fn call() -> Result<u32, Fault> {
        pending().await
    }
    let (clock, _world) = without_a_runtime();
    let mut before = pin!(call());
    assert!(poll_once(before.as_mut()).is_pending());
    disable(Kind::Timeout, "keeps_its_limit");
    let mut after = pin!(call());
    assert!(poll_once(after.as_mut()).is_pending());
    enable(Kind::Timeout, "keeps_its_limit");
    clock.advance("1s");
    assert!(matches!(poll_once(before), Poll::Ready(Err(_))), "it began under a limit");
    assert!(poll_once(after).is_pending(), "it began under none");
    assert!(run(&clock, call()).is_err());
}

// ---- circuit breaker ------------------------------------------------------------------------------------------------------

#[test]
fn a_disabled_breaker_is_closed_again_when_it_is_enabled() {
    listen();
    let breaker = builder("enabled").build();
    open(&breaker);
    breaker.disable();
    breaker.disable();
    fail(&breaker, 100);
    assert!(!breaker.is_enabled());
    breaker.enable();
    assert_eq!((breaker.state(), breaker.window().calls), (State::Closed, 0));
    breaker.enable();
    open(&breaker);
    let states: Vec<_> = transitions("enabled").into_iter().map(|(_, to, _)| to).collect();
    assert_eq!(states, [State::Open, State::Disabled, State::Closed, State::Open]);
}

#[test]
fn to_enable_a_breaker_that_is_not_disabled_changes_nothing() {
    for state in [State::ForcedOpen, State::ObserveOnly, State::Open] {
        let breaker = builder("not_disabled").build();
        match state {
            State::ForcedOpen => breaker.force_open(),
            State::ObserveOnly => breaker.observe_only(),
            _ => open(&breaker),
        }
        let generation = breaker.generation();
        breaker.enable();
        assert_eq!((breaker.state(), breaker.generation()), (state, generation));
    }
}

#[test]
fn what_was_ordered_before_a_breaker_was_disabled_holds_when_it_is_enabled() {
    let breaker = builder("ordered").build();
    breaker.force_open();
    breaker.disable();
    assert!(!is_refused(&breaker));
    breaker.enable();
    assert_eq!((breaker.state(), is_refused(&breaker)), (State::ForcedOpen, true));

    breaker.observe_only();
    fail(&breaker, 1);
    breaker.disable();
    breaker.enable();
    assert_eq!((breaker.state(), breaker.window().calls), (State::ObserveOnly, 0));

    breaker.disable();
    breaker.force_open();
    breaker.enable();
    assert_eq!(breaker.state(), State::ForcedOpen, "the newer order ends the older one");
    breaker.close();
    breaker.disable();
    breaker.enable();
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn an_outcome_of_a_call_that_was_admitted_while_disabled_is_lost_once_it_is_enabled() {
    let breaker = builder("between").build();
    breaker.disable();
    let permits = [breaker.acquire(), breaker.acquire()];
    breaker.enable();
    for permit in permits {
        permit.expect("disabled").failure();
    }
    assert_eq!((breaker.state(), breaker.window().calls), (State::Closed, 0));
    assert_eq!(tests::breaker::counter(&breaker, "lost"), 2);
}

#[test]
fn events_of_a_breaker_that_is_enabled_say_that_somebody_did_it() {
    listen();
    let breaker = builder("told").build();
    breaker.disable();
    breaker.enable();
    let told = heard("told");
    let [_, Event::Transition { from, to, reason, .. }] = told[..] else {
        panic!("two transitions, not {told:?}")
    };
    assert_eq!((from, to, reason), (State::Disabled, State::Closed, resil::TripReason::Manual));
}

// ---- fallback -------------------------------------------------------------------------------------------------------------

worlds! {
    a_disabled_fallback_lets_errors_and_refusals_through:
    [fallback = |_| Ok(0), circuit_breaker(window = 2, min_calls = 2)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Fallback, NAME);
        assert_eq!(call(&calls).await, Err(Fault::Down(1)));
        enable(Kind::Fallback, NAME);
        assert_eq!(call(&calls).await, Ok(0));
        disable(Kind::Fallback, NAME);
        let refused = call(&calls).await.unwrap_err().refusal().expect("the breaker is open");
        assert_eq!(refused.reason(), Reason::CircuitOpen);
        enable(Kind::Fallback, NAME);
        assert_eq!(call(&calls).await, Ok(0));
        assert_eq!(counts(Kind::Fallback, NAME), [("error", 1), ("rejected", 1)]);
    }
}

worlds! {
    a_disabled_fallback_by_cause_lets_refusals_through:
    [fallback(rejected = |_| Ok(0)), circuit_breaker(window = 1)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert!(call(&calls).await.is_err());
        disable(Kind::Fallback, NAME);
        assert!(call(&calls).await.unwrap_err().refusal().is_some());
        enable(Kind::Fallback, NAME);
        assert_eq!(call(&calls).await, Ok(0));
        assert_eq!(counts(Kind::Fallback, NAME), [("rejected", 1)]);
    }
}

worlds! {
    a_disabled_fallback_answers_where_nothing_else_could_be_returned:
    [fallback = |_| 7, circuit_breaker(window = 1), failure = 0]
    (calls: &Calls) -> u32 { calls.begin() - 1 }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Fallback, NAME);
        assert_eq!(call(&calls).await, 0);
        assert_eq!(call(&calls).await, 7, "a number carries no refusal");
        assert_eq!(counts(Kind::Fallback, NAME), [("rejected", 1)]);
    }
}

worlds! {
    a_disabled_fallback_of_an_option_lets_its_none_through:
    [fallback = |_| Some(7), circuit_breaker(window = 2), failure = None]
    (_calls: &Calls) -> Option<u32> { None }
    |world| {
        let calls = Calls::new(&world);
        disable(Kind::Fallback, NAME);
        assert_eq!((call(&calls).await, call(&calls).await), (None, None));
        assert_eq!(call(&calls).await, Some(7), "the breaker refuses");
        enable(Kind::Fallback, NAME);
        assert_eq!(call(&calls).await, Some(7));
    }
}

/// Whether the error type has a place for refusals is not known where it is generic.
#[resilient(fallback = |_| Ok(0), circuit_breaker(window = 1), name = "generic_error")]
fn generic_error<E: Clone>(error: &E) -> Result<u32, E> {
    Err(error.clone())
}

#[test]
fn a_disabled_fallback_lets_an_error_of_any_type_through() {
    disable(Kind::Fallback, "generic_error");
    assert_eq!(generic_error(&Fault::Mine), Err(Fault::Mine));
    assert_eq!(generic_error(&"mine"), Ok(0), "refused, which not every error type can say");
}

// ---- sync limits ----------------------------------------------------------------------------------------------------------

#[test]
fn a_disabled_timeout_takes_no_late_outcome_away() {
    #[resilient(timeout("100ms", late = timeout), name = "sync_limits")]
    fn call(clock: &resil::testing::ManualClock) -> Result<Option<Duration>, Fault> {
        let left = resil::Deadline::current().remaining();
        clock.advance("1s");
        Ok(left)
    }
    let clock = pause();
    disable(Kind::Timeout, "sync_limits");
    assert_eq!(call(&clock), Ok(None));
    enable(Kind::Timeout, "sync_limits");
    assert!(call(&clock).unwrap_err().refusal().is_some());
    assert_eq!(counts(Kind::Timeout, "sync_limits"), [("timed_out", 1)]);
}

#[test]
fn a_disabled_deadline_cuts_no_wait_of_a_sync_function() {
    #[resilient(deadline = "100ms", retry(max = 2, backoff = constant("1s"), jitter = none), name = "sync_deadline")]
    fn call(calls: &Cell<u32>) -> Result<u32, Fault> {
        calls.set(calls.get() + 1);
        Err(Fault::Down(calls.get()))
    }
    let (_clock, calls) = (pause(), Cell::new(0));
    assert_eq!(call(&calls), Err(Fault::Down(1)));
    disable(Kind::Deadline, "sync_deadline");
    assert_eq!(call(&calls), Err(Fault::Down(3)));
}
