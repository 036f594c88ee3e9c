//! RG08: an observer that asks the policy, acts on it and calls through it. It has a process of its own, since a process has one
//! observer.

use resil::testing::ManualClock;
use resil::{
    Budget, CircuitBreaker, Event, Kind, Observer, State, Stop, catalog, resilient, set_observer,
};
use std::cell::Cell;
use std::sync::{Mutex, Once, PoisonError};
use tests::{Calls, Fault, World, breaker_of, counts, on_a_manual_clock, run, without_a_runtime};

thread_local! {
    /// What to do on the next event of this thread.
    static ACT: Cell<Option<fn()>> = const { Cell::new(None) };
    /// How many calls of the observer are under way on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static DEEPEST: Cell<u32> = const { Cell::new(0) };
}

static HEARD: Mutex<Vec<Event>> = Mutex::new(Vec::new());

struct CallsBack;

impl Observer for CallsBack {
    fn event(&self, event: &Event) {
        HEARD.lock().unwrap_or_else(PoisonError::into_inner).push(*event);
        DEPTH.set(DEPTH.get() + 1);
        DEEPEST.set(DEEPEST.get().max(DEPTH.get()));
        if let Some(act) = ACT.take() {
            act();
        }
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Sets what the observer does on the next event of this thread.
fn on_the_next_event(act: fn()) {
    static BEGIN: Once = Once::new();
    BEGIN.call_once(|| set_observer(&CallsBack).expect("the only one"));
    ACT.set(Some(act));
}

fn acted() -> bool {
    ACT.take().is_none()
}

/// The transitions of a breaker as they were heard.
fn transitions(name: &str) -> Vec<(State, State)> {
    let heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    let transition = |event: &Event| match *event {
        Event::Transition { policy, from, to, .. } if policy == name => Some((from, to)),
        _ => None,
    };
    heard.iter().filter_map(transition).collect()
}

/// Everything there is to ask.
fn ask(breaker: &CircuitBreaker) {
    let _ = (
        breaker.state(),
        breaker.window(),
        breaker.options(),
        breaker.retry_after(),
        breaker.generation(),
    );
    let shown: Vec<_> = catalog().iter().map(|entry| entry.to_string()).collect();
    assert!(!shown.is_empty() && catalog().verify().is_ok());
}

macro_rules! policy {
    ($name:ident, $title:literal) => {
        #[resilient(circuit_breaker(window = 2, min_calls = 2, open_for = "1s"), name = $title)]
        fn $name(fails: bool) -> Result<u32, Fault> {
            if fails { Err(Fault::Down(1)) } else { Ok(1) }
        }
    };
}

#[test]
fn rg08_on_a_transition_it_may_ask_act_and_call() {
    policy!(call, "rg08_transition");
    let (_clock, _world) = on_a_manual_clock();
    on_the_next_event(|| {
        let breaker = breaker_of("rg08_transition");
        ask(breaker);
        assert!(breaker.state() == State::Open && call(false).is_err());
        breaker.reset();
        assert_eq!(call(false), Ok(1));
        breaker.force_open();
        assert!(call(false).is_err());
        breaker.set_open_for(std::time::Duration::from_secs(5)).unwrap();
    });
    let _ = (call(true), call(true));
    assert!(acted());
    let told = transitions("rg08_transition");
    let expected = [
        (State::Closed, State::Open),
        (State::Open, State::Closed),
        (State::Closed, State::ForcedOpen),
    ];
    assert_eq!(told, expected, "what it caused came after, in order");
    assert_eq!(breaker_of("rg08_transition").state(), State::ForcedOpen);
    assert_eq!(
        counts(Kind::CircuitBreaker, "rg08_transition"),
        [("success", 1), ("failure", 2), ("refused", 2)]
    );
}

#[test]
fn rg08_a_transition_told_from_within_is_not_nested() {
    policy!(call, "rg08_nesting");
    let (_clock, _world) = on_a_manual_clock();
    DEEPEST.set(0);
    on_the_next_event(|| {
        for _ in 0..100 {
            breaker_of("rg08_nesting").reset();
            breaker_of("rg08_nesting").force_open();
        }
    });
    let _ = (call(true), call(true));
    assert!(acted());
    assert_eq!((transitions("rg08_nesting").len(), DEEPEST.get()), (201, 1));
}

#[test]
fn rg08_on_a_refusal() {
    policy!(call, "rg08_refusal");
    let (_clock, _world) = on_a_manual_clock();
    breaker_of("rg08_refusal").force_open();
    on_the_next_event(|| {
        ask(breaker_of("rg08_refusal"));
        breaker_of("rg08_refusal").reset();
        assert_eq!(call(false), Ok(1));
    });
    assert!(call(false).is_err(), "the refusal stands, whatever the observer did");
    assert!(acted());
    assert_eq!(call(false), Ok(1));
}

#[test]
fn rg08_on_the_way_to_half_open() {
    policy!(call, "rg08_half_open");
    let (clock, _world) = on_a_manual_clock();
    let _ = (call(true), call(true));
    clock.advance("1s");
    on_the_next_event(|| {
        ask(breaker_of("rg08_half_open"));
        assert_eq!(call(false), Ok(1), "the second probe, from within the admission of the first");
        breaker_of("rg08_half_open").reset();
    });
    assert_eq!(call(false), Ok(1), "admitted before; its outcome is lost");
    assert!(acted());
    assert_eq!(breaker_of("rg08_half_open").state(), State::Closed);
    assert_eq!(
        counts(Kind::CircuitBreaker, "rg08_half_open"),
        [("success", 1), ("failure", 2), ("lost", 1)]
    );
}

#[test]
fn rg08_on_a_manual_change() {
    policy!(call, "rg08_manual");
    on_the_next_event(|| {
        ask(breaker_of("rg08_manual"));
        breaker_of("rg08_manual").disable();
        assert_eq!(call(false), Ok(1));
    });
    breaker_of("rg08_manual").force_open();
    assert!(acted());
    assert_eq!(breaker_of("rg08_manual").state(), State::Disabled);
    assert_eq!(transitions("rg08_manual").len(), 2);
}

#[test]
fn rg08_on_a_retry_and_on_a_fallback() {
    #[resilient(
        fallback = |_| Ok(9),
        retry(max = 2, backoff = constant("10ms"), jitter = none),
        circuit_breaker,
        name = "rg08_retry"
    )]
    fn call(fails: bool) -> Result<u32, Fault> {
        if fails { Err(Fault::Down(1)) } else { Ok(1) }
    }
    let (_clock, world) = on_a_manual_clock();
    on_the_next_event(|| {
        ask(breaker_of("rg08_retry"));
        assert_eq!(call(false), Ok(1), "while a retry is scheduled");
        on_the_next_event(|| {
            on_the_next_event(|| assert_eq!(call(false), Ok(1), "while the fallback is told"));
        });
    });
    assert_eq!((call(true), world.ms()), (Ok(9), 10));
    assert!(acted());
    assert_eq!(counts(Kind::CircuitBreaker, "rg08_retry"), [("success", 2), ("failure", 2)]);
}

#[test]
fn rg08_on_a_timeout() {
    #[resilient(timeout = "100ms", circuit_breaker, deadline = "1s", name = "rg08_timeout")]
    async fn call(calls: &Calls, lasts: &str) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep(lasts).await;
        Ok(number)
    }
    let (clock, world) = without_a_runtime();
    on_the_next_event(|| {
        ask(breaker_of("rg08_timeout"));
        let (clock, world) = without_a_runtime();
        assert_eq!(run(&clock, call(&Calls::new(&world), "10ms")), Ok(1), "on a clock of its own");
    });
    assert!(run(&clock, call(&Calls::new(&world), "1h")).is_err());
    assert!(acted());
    assert_eq!(world.ms(), 100);
    assert_eq!(counts(Kind::CircuitBreaker, "rg08_timeout"), [("success", 1), ("failure", 1)]);
}

// ---- gates, budgets and limits of time ------------------------------------------------------------------------------------

/// Asks everything, and does everything that leaves the options as they are, to all policies of this name.
fn meddle(name: &str) {
    assert!(catalog().verify().is_ok());
    let mut some = false;
    for entry in catalog().iter().filter(|entry| entry.name() == name) {
        assert!(entry.to_string().contains(name));
        entry.disable();
        entry.enable();
        if let Some(limiter) = entry.rate_limiter() {
            let options = limiter.options();
            limiter.set_rate(options.rate).unwrap();
            limiter.set_burst(options.burst).unwrap();
            limiter.set_wait(options.wait.to_duration()).unwrap();
            limiter.drain();
            assert!(limiter.acquire().is_err() && limiter.available() == 0);
            limiter.reset();
            limiter.acquire().unwrap();
        }
        if let Some(pool) = entry.bulkhead() {
            let options = pool.options();
            pool.set_max_concurrent(options.max_concurrent).unwrap();
            pool.set_wait(options.wait.to_duration()).unwrap();
            pool.set_queue(options.longest_queue()).unwrap();
            pool.set_max_concurrent(options.max_concurrent + 1).unwrap();
            drop(pool.acquire().expect("one more place"));
            pool.set_max_concurrent(options.max_concurrent).unwrap();
            assert_eq!(pool.waiting(), 0);
        }
        if let Some(budget) = entry.retry_budget() {
            budget.set_ratio(budget.options().ratio).unwrap();
            budget.reset();
            budget.deposit();
            assert!(budget.balance() == 0);
        }
        some = true;
    }
    assert!(some, "no policy `{name}`");
}

#[test]
fn rg08_on_a_refusal_by_a_limiter() {
    #[resilient(rate_limiter(rate = "1/h"), name = "rg08_limiter")]
    fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    let (_clock, _world) = on_a_manual_clock();
    assert_eq!(call(), Ok(1));
    on_the_next_event(|| meddle("rg08_limiter"));
    assert!(call().is_err(), "the refusal stands, whatever the observer did");
    assert!(acted());
}

#[test]
fn rg08_on_a_refusal_by_a_limiter_that_would_have_to_wait_for_too_long() {
    #[resilient(rate_limiter(rate = "1/h", wait = "1m"), name = "rg08_limiter_wait")]
    async fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    let (clock, _world) = without_a_runtime();
    assert_eq!(run(&clock, call()), Ok(1));
    on_the_next_event(|| meddle("rg08_limiter_wait"));
    assert!(run(&clock, call()).is_err());
    assert!(acted());
}

#[test]
fn rg08_on_a_refusal_by_a_bulkhead_at_once_and_after_a_wait() {
    #[resilient(bulkhead(max_concurrent = 1), name = "rg08_full")]
    fn at_once(inner: bool) -> Result<u32, Fault> {
        if inner { at_once(false) } else { Ok(1) }
    }
    #[resilient(bulkhead(max_concurrent = 1, wait = "10ms"), name = "rg08_expired")]
    fn waits(inner: bool) -> Result<u32, Fault> {
        if inner { waits(false) } else { Ok(1) }
    }
    let (_clock, world) = on_a_manual_clock();
    on_the_next_event(|| meddle("rg08_full"));
    assert!(at_once(true).is_err(), "there is one place, and the caller is in it");
    assert!(acted());
    on_the_next_event(|| meddle("rg08_expired"));
    assert!(waits(true).is_err());
    assert!(acted() && world.ms() == 10);
    assert_eq!((at_once(false), waits(false)), (Ok(1), Ok(1)));
}

mod policies {
    resil::registry! {
        retry_budget rg08_budget { ratio = "100%", min_per_sec = 0, ttl = "100ms" }
    }
}

#[test]
fn rg08_on_the_end_of_a_budget() {
    #[resilient(
        retry(max = 9, budget = "rg08_budget", backoff = constant("1ms"), jitter = none),
        name = "rg08_broke"
    )]
    fn call() -> Result<u32, Fault> {
        Err(Fault::Down(1))
    }
    let (_clock, _world) = on_a_manual_clock();
    on_the_next_event(|| {
        // The first retry is paid for by its own call.
        meddle("rg08_broke");
        on_the_next_event(|| meddle("rg08_budget"));
    });
    assert_eq!(call(), Err(Fault::Down(1)));
    assert!(acted());
    let stops = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    let broke = |event: &&Event| {
        matches!(event, Event::RetriesExhausted { policy: "rg08_broke", stop: Stop::Budget, .. })
    };
    assert_eq!(stops.iter().filter(broke).count(), 1);
}

#[test]
fn rg08_on_a_deadline_and_on_what_is_late() {
    #[resilient(deadline = "100ms", name = "rg08_deadline")]
    async fn ended(world: &World) -> Result<u32, Fault> {
        world.sleep("1h").await;
        Ok(1)
    }
    #[resilient(timeout = "100ms", name = "rg08_late")]
    fn late(clock: &ManualClock) -> Result<u32, Fault> {
        clock.advance("1s");
        Ok(1)
    }
    let (clock, world) = without_a_runtime();
    on_the_next_event(|| meddle("rg08_deadline"));
    assert!(run(&clock, ended(&world)).is_err());
    assert!(acted());
    on_the_next_event(|| meddle("rg08_late"));
    assert_eq!(late(&clock), Ok(1));
    assert!(acted());
}
