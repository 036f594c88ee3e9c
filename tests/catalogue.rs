//! What the catalogue promises of every kind of policy (RG3, RG10, RG12, RG14, RG20): there from the start, each thing told and
//! counted once, for ever, in few series.

use resil::{
    Bulkhead, CircuitBreaker, Event, Kind, Policy, Rate, RateLimiter, Reason, Rejected, catalog,
    resilient,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use tests::{
    Fault, breaker_of, bulkhead_of, counts, heard, limiter_of, listen, on_a_manual_clock,
    poll_once, worlds,
};

mod policies {
    resil::registry! {
        circuit_breaker first { window = 64 }
        rate_limiter first { rate = "1000000/s" }
        bulkhead first { max_concurrent = 64 }
        retry_budget first { ratio = "100%" }
        retry_budget rising { ratio = "50%", min_per_sec = 0, ttl = "10s" }
        retry_budget messages { ratio = "20%" }
    }
}

/// Every counter of every policy of this name.
fn everything(name: &str) -> BTreeMap<(Kind, &'static str), u64> {
    let entries = catalog().iter().filter(|entry| entry.name() == name);
    let of = |entry: resil::Entry| {
        entry.counters().into_iter().map(move |one| ((entry.kind(), one.name), one.value))
    };
    entries.flat_map(of).collect()
}

// ---- RG3: nothing is initialised, so nothing can fail to be -----------------------------------------------------------------

#[resilient(
    retry(max = 2, budget = "first"),
    circuit_breaker = "first",
    rate_limiter = "first",
    bulkhead = "first",
    name = "first_use"
)]
fn first_use() -> Result<u32, Fault> {
    Ok(1)
}

/// The statics are built by the compiler: there is no factory that could run twice, panic, or leave a poisoned lock. What is
/// left to see is that the first calls, all at once, find everything there.
#[test]
fn rg03_whoever_comes_first_finds_every_policy_ready() {
    const CALLERS: u32 = 8;
    let together = Barrier::new(CALLERS as usize);
    thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                together.wait();
                assert_eq!(first_use(), Ok(1));
            });
        }
    });
    assert_eq!(counts(Kind::CircuitBreaker, "first"), [("success", 8)]);
    assert_eq!(counts(Kind::RateLimiter, "first"), [("admitted", 8)]);
    assert_eq!(counts(Kind::Bulkhead, "first"), [("admitted", 8)]);
    assert_eq!(counts(Kind::Retry, "first_use"), [("calls", 8), ("attempts", 8), ("first_try", 8)]);
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker that panics");
    }
}

/// The one foreign code that runs while options change is a waker's.
#[test]
fn rg03_a_panic_in_the_middle_of_a_change_is_nobody_elses() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = Bulkhead::builder("panic").max_concurrent(1).wait(std::time::Duration::MAX).build();
    let inside = pool.acquire().unwrap();
    let mut waiting = pin!(pool.acquire_async());
    let waker = Waker::from(Arc::new(Panics));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let _ = catch_unwind(AssertUnwindSafe(|| pool.set_max_concurrent(2)));
    pool.set_max_concurrent(3).unwrap();
    pool.set_queue(7).unwrap();
    assert_eq!(pool.max_concurrent(), 3);
    assert!(matches!(poll_once(waiting.as_mut()), Poll::Ready(Ok(_))), "served in any case");
    drop(inside);
}

// ---- RG10: a refusal through two layers -------------------------------------------------------------------------------------

/// The gates of what is called inside, all of them shut.
struct Shut {
    breaker: CircuitBreaker,
    limiter: RateLimiter,
    pool: Bulkhead,
}

impl Shut {
    fn new(name: &'static str) -> Self {
        let breaker = CircuitBreaker::builder(name).build();
        let limiter = RateLimiter::builder(name).rate(Rate::per_second(1)).build();
        breaker.force_open();
        limiter.drain();
        Self { breaker, limiter, pool: Bulkhead::builder(name).max_concurrent(0).build() }
    }

    fn ask(&self, gate: Kind) -> Result<(), Rejected> {
        match gate {
            Kind::RateLimiter => self.limiter.acquire(),
            Kind::Bulkhead => self.pool.acquire().map(drop),
            _ => self.breaker.acquire().map(drop),
        }
    }

    fn refused(&self) -> [u64; 3] {
        let all: [&dyn Policy; 3] = [&self.breaker, &self.limiter, &self.pool];
        all.map(|gate| {
            let mut refused = 0;
            gate.counters(&mut |one| refused += if one.name == "refused" { one.value } else { 0 });
            refused
        })
    }
}

worlds! {
    rg10_a_refusal_by_any_gate_is_one_event_however_many_layers_it_passes:
    [retry(max = 3), circuit_breaker, rate_limiter(rate = "1000/s"), bulkhead(max_concurrent = 9)]
    (shut: &Shut, gate: Kind) -> Result<u32, Fault> {
        shut.ask(gate)?;
        Ok(1)
    }
    |_world| {
        listen();
        let inner: &'static str = format!("{NAME} inside").leak();
        let shut = Shut::new(inner);
        for (number, (gate, reason)) in [
            (Kind::CircuitBreaker, Reason::CircuitOpen),
            (Kind::RateLimiter, Reason::RateLimited),
            (Kind::Bulkhead, Reason::BulkheadFull),
        ].into_iter().enumerate() {
            let refused = call(&shut, gate).await.unwrap_err().refusal().expect("a refusal");
            assert_eq!((refused.reason(), refused.policy()), (reason, inner));
            let told = heard(inner).into_iter().filter(|event| matches!(event, Event::Refused(_)));
            assert_eq!(told.collect::<Vec<_>>().split_off(number), [Event::Refused(refused)]);
        }
        assert_eq!(shut.refused(), [1, 1, 1]);
        assert_eq!(heard(NAME), [], "no layer tells it again");
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("ignored", 3)], "and none blames its callee");
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 3), ("attempts", 3), ("not_retried", 3)]);
        assert_eq!(counts(Kind::RateLimiter, NAME), [("admitted", 3)]);
        assert_eq!(counts(Kind::Bulkhead, NAME), [("admitted", 3)]);
    }
}

// ---- RG14: what rises and never falls ---------------------------------------------------------------------------------------

/// Does all that takes state away from the policies of this name.
fn reset(name: &str) {
    for entry in catalog().iter().filter(|entry| entry.name() == name) {
        entry.disable();
        entry.enable();
        if let Some(breaker) = entry.circuit_breaker() {
            breaker.set_window(8).unwrap();
            breaker.force_open();
            breaker.reset();
        }
        if let Some(limiter) = entry.rate_limiter() {
            limiter.set_rate(Rate::per_second(50)).unwrap();
            limiter.drain();
            limiter.reset();
        }
        if let Some(pool) = entry.bulkhead() {
            pool.set_max_concurrent(0).unwrap();
            pool.set_max_concurrent(1).unwrap();
        }
        if let Some(budget) = entry.retry_budget() {
            budget.set_ttl(std::time::Duration::from_secs(5)).unwrap();
            budget.reset();
        }
    }
}

worlds! {
    rg14_counters_of_every_kind_rise_and_never_fall_whatever_is_reset:
    [
        fallback = |_| Ok(0),
        retry(max = 2, budget = "rising", backoff = constant("1ms"), jitter = none),
        circuit_breaker(window = 8, min_calls = 8),
        rate_limiter(rate = "2/s"),
        bulkhead(max_concurrent = 1),
    ]
    (good: bool) -> Result<u32, Fault> { if good { Ok(1) } else { Err(Fault::Down(1)) } }
    |world| {
        let all = || [everything(NAME), everything("rising")];
        let mut last = all();
        let mut rises = |what: &str| {
            let now = all();
            for (before, now) in last.iter().zip(&now) {
                assert!(before.iter().all(|(series, value)| *value <= now[series]), "{what}: {before:?} {now:?}");
            }
            last = now;
        };
        for _ in 0..3 {
            for good in [true, false, true, true] {
                let _ = call(good).await;
                rises("a call");
            }
            limiter_of(NAME).reset();
            let place = bulkhead_of(NAME).acquire().unwrap();
            let _ = call(true).await;
            drop(place);
            breaker_of(NAME).force_open();
            let _ = call(true).await;
            reset(NAME);
            // Shared by all worlds, which may be at work at the same time: its counters rise all the more.
            reset("rising");
            rises("a reset");
            world.sleep("5s").await;
        }
        let [own, _] = all();
        for (kind, counter) in [
            (Kind::CircuitBreaker, "success"),
            (Kind::CircuitBreaker, "failure"),
            (Kind::CircuitBreaker, "refused"),
            (Kind::RateLimiter, "admitted"),
            (Kind::RateLimiter, "given_back"),
            (Kind::RateLimiter, "refused"),
            (Kind::Bulkhead, "admitted"),
            (Kind::Bulkhead, "refused"),
            (Kind::Fallback, "rejected"),
            (Kind::Retry, "calls"),
        ] {
            assert!(own[&(kind, counter)] > 0, "no {kind} was {counter}: {own:?}");
        }
    }
}

// ---- RG20: few series ---------------------------------------------------------------------------------------------------------

/// An error with a text of its own for each call.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Message(String);

impl From<Rejected> for Message {
    fn from(rejected: Rejected) -> Self {
        Self(rejected.to_string())
    }
}

#[resilient(
    fallback(rejected = |rejected| Err(Message(format!("instead of {number}: {rejected}")))),
    retry(max = 2, budget = "messages", backoff = constant("0s")),
    circuit_breaker,
    rate_limiter(rate = "1000000/s"),
    bulkhead(max_concurrent = 1),
    name = "rg20"
)]
fn complains(number: u32) -> Result<u32, Message> {
    Err(Message(format!("failure {number}")))
}

#[test]
fn rg20_no_error_and_no_argument_becomes_a_series_of_any_kind_and_the_busy_one_goes_on_counting() {
    const CALLS: u32 = 20_000;
    let (_clock, _world) = on_a_manual_clock();
    let series = || catalog().iter().map(|entry| entry.counters().len()).sum::<usize>();
    let (listed, before) = (catalog().iter().len(), series());
    for number in 0..CALLS {
        complains(number).unwrap_err();
    }
    assert_eq!((catalog().iter().len(), series()), (listed, before));
    let calls = u64::from(CALLS);
    let own = everything("rg20");
    assert_eq!(own[&(Kind::Retry, "calls")], calls);
    assert_eq!(
        own[&(Kind::CircuitBreaker, "failure")] + own[&(Kind::CircuitBreaker, "refused")],
        own[&(Kind::Retry, "attempts")],
        "each attempt is in one of few"
    );
    assert_eq!(own[&(Kind::Fallback, "rejected")], own[&(Kind::Retry, "refused")]);
}
