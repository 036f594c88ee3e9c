//! RG08, literally: an observer that acts on every event. What it causes is told four deep, and no further.

use resil::{Event, Observer, State, resilient, set_observer};
use std::cell::Cell;
use tests::{Fault, breaker_of, on_a_manual_clock};

thread_local! {
    static HEARD: Cell<u32> = const { Cell::new(0) };
}

struct Acts;

impl Observer for Acts {
    fn event(&self, event: &Event) {
        HEARD.set(HEARD.get() + 1);
        match event {
            Event::Transition { policy: "rg08_loop", .. } => {
                breaker_of("rg08_loop").reset();
                breaker_of("rg08_loop").force_open();
            }
            Event::Refused(_) => assert!(call().is_err()),
            _ => {}
        }
    }
}

#[resilient(circuit_breaker(window = 2, min_calls = 2), name = "rg08_loop")]
fn call() -> Result<u32, Fault> {
    Err(Fault::Down(1))
}

#[test]
fn rg08_an_observer_that_acts_on_every_event_comes_to_an_end() {
    let (_clock, _world) = on_a_manual_clock();
    set_observer(&Acts).expect("the only observer");
    for _ in 0..2 {
        assert!(call().is_err());
    }
    // One trip, told; two transitions for each told, four deep.
    assert_eq!((HEARD.get(), resil::observer_loops()), (1 + 2 + 4 + 8 + 16, 32));
    assert_eq!(breaker_of("rg08_loop").state(), State::ForcedOpen);

    assert!(call().is_err());
    assert_eq!(
        (HEARD.get(), resil::observer_loops()),
        (31 + 5, 32 + 1),
        "a refusal, and four of the observer's own"
    );
}
