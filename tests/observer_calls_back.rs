//! RG08: an observer that asks the policy, acts on it and calls through it. It has a process of its own, since a process has one
//! observer.

use resil::{CircuitBreaker, Event, Kind, Observer, State, catalog, resilient, set_observer};
use std::cell::Cell;
use std::sync::{Mutex, Once, PoisonError};
use tests::{Calls, Fault, breaker_of, counts, on_a_manual_clock, run, without_a_runtime};

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
