//! X4: an observer that panics on every event changes no call. It has a process of its own, since a process has one observer.

use resil::{Event, Kind, Observer, Reason, State, observer_panics, resilient, set_observer};
use std::panic::panic_any;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tests::{Calls, Fault, breaker_of, counts, on_a_manual_clock, run, without_a_runtime};

/// A payload that panics once more when it is dropped.
struct Worse;

impl Drop for Worse {
    fn drop(&mut self) {
        panic!("and again");
    }
}

struct Panicking;

static HEARD: Mutex<Vec<Event>> = Mutex::new(Vec::new());
static WORSE: AtomicBool = AtomicBool::new(false);

impl Observer for Panicking {
    fn event(&self, event: &Event) {
        HEARD.lock().unwrap().push(*event);
        if WORSE.fetch_xor(true, SeqCst) {
            panic_any(Worse);
        }
        panic!("an observer with a bug");
    }
}

/// One test, so that what is counted is what it caused.
#[test]
fn x04_a_panicking_observer_changes_no_call() {
    #[resilient(
        fallback(rejected = |_| Ok(99)),
        retry(max = 2, backoff = constant("10ms"), jitter = none),
        circuit_breaker(window = 2, min_calls = 2, open_for = "1s", probes = 1),
        name = "x04"
    )]
    fn blocking(calls: &Calls, fails: bool) -> Result<u32, Fault> {
        let number = calls.begin();
        if fails { Err(Fault::Down(number)) } else { Ok(number) }
    }
    #[resilient(deadline = "1s", timeout = "100ms", retry(max = 2, backoff = constant("1ms"), jitter = none), name = "x04_async")]
    async fn hanging() -> Result<u32, Fault> {
        std::future::pending().await
    }

    set_observer(&Panicking).expect("the only one");
    {
        let (clock, world) = on_a_manual_clock();
        let calls = Calls::new(&world);
        // A retry is told, the transition, that retries are over.
        assert_eq!(blocking(&calls, true), Err(Fault::Down(2)));
        assert_eq!((calls.begun(), breaker_of("x04").state()), (vec![0, 10], State::Open));
        // A refusal, the fallback.
        assert_eq!(blocking(&calls, true), Ok(99));
        // Two transitions.
        clock.advance("1s");
        assert_eq!((blocking(&calls, false), breaker_of("x04").state()), (Ok(3), State::Closed));
        assert_eq!(
            counts(Kind::CircuitBreaker, "x04"),
            [("success", 1), ("failure", 2), ("refused", 1)]
        );
    }
    let (clock, world) = without_a_runtime();
    let refusal = run(&clock, hanging()).unwrap_err().refusal().expect("a timeout");
    assert_eq!((refusal.reason(), world.ms()), (Reason::TimedOut, 201));

    let heard = HEARD.lock().unwrap();
    let transitions =
        heard.iter().filter(|event| matches!(event, Event::Transition { .. })).count();
    assert_eq!(transitions, 3, "a panic in one keeps nobody from hearing the next: {heard:#?}");
    assert_eq!(observer_panics(), heard.len() as u64, "each is counted");
}
