//! Every order of gates, with `retry` at every place among them or not at all, in sync and async functions: what one gate
//! gave is given back when another refuses or the call goes away, and nothing else is.
//!
//! What is expected follows from the order alone, which the checks read as a list of words.

use resil::testing::{Paused, pause};
use resil::{CircuitBreaker, Kind, Permit, Reason, State, resilient};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tests::{Fault, breaker_of, bulkhead_of, counts, limiter_of, poll_once, run};

const GATES: [&str; 3] = ["circuit_breaker", "rate_limiter", "bulkhead"];
/// What an attempt costs.
const COST: u32 = 2;

#[derive(Clone, Copy, PartialEq)]
enum Act {
    Succeed,
    Fail,
    Panic,
    PanicInCost,
    Pend,
}

/// What the body of a call is to do, and what it and the hook saw.
struct Work {
    name: &'static str,
    act: Act,
    begun: Cell<u32>,
    inside: RefCell<Vec<u32>>,
    between: RefCell<Vec<u32>>,
}

impl Work {
    fn new(name: &'static str, act: Act) -> Self {
        let (inside, between) = (RefCell::default(), RefCell::default());
        Self { name, act, begun: Cell::new(0), inside, between }
    }

    fn cost(&self) -> u32 {
        assert!(self.act != Act::PanicInCost, "a bug in the cost");
        COST
    }

    fn between(&self) {
        self.between.borrow_mut().push(bulkhead_of(self.name).in_flight());
    }

    fn work(&self) -> Result<u32, Fault> {
        self.begun.set(self.begun.get() + 1);
        self.inside.borrow_mut().push(bulkhead_of(self.name).in_flight());
        match self.act {
            Act::Fail => Err(Fault::Down(self.begun.get())),
            Act::Panic => panic!("a bug"),
            _ => Ok(self.begun.get()),
        }
    }
}

/// A guarded function.
#[derive(Clone, Copy)]
struct Guarded {
    name: &'static str,
    order: &'static [&'static str],
    call: fn(&Paused, &Work) -> Result<u32, Fault>,
}

macro_rules! orders {
    ($($name:ident: $kind:ident [$($order:ident),*];)*) => {
        $(
            mod $name {
                use super::*;
                pub(super) const ORDER: &[&str] = &[$(stringify!($order)),*];

                pub(super) mod sync {
                    use super::*;
                    const NAME: &str = concat!(module_path!(), "::call");
                    orders! { @$kind [$($order),*] [] (work: &Work) { work.work() } }
                    pub(in super::super) const GUARDED: Guarded =
                        Guarded { name: NAME, order: ORDER, call: |_, work| call(work) };
                }

                pub(super) mod asynchronous {
                    use super::*;
                    const NAME: &str = concat!(module_path!(), "::call");
                    orders! { @$kind [$($order),*] [async] (work: &Work) {
                        if work.act == Act::Pend {
                            work.inside.borrow_mut().push(bulkhead_of(work.name).in_flight());
                            return pending().await;
                        }
                        work.work()
                    } }
                    pub(in super::super) const GUARDED: Guarded =
                        Guarded { name: NAME, order: ORDER, call: |clock, work| run(clock, call(work)) };
                    pub(in super::super) const FUTURE: Started =
                        Started { name: NAME, order: ORDER, start: |work| Box::pin(call(work)) };
                }
            }
        )*

        /// All of them.
        const GUARDED: &[Guarded] = &[$($name::sync::GUARDED, $name::asynchronous::GUARDED),*];
        const STARTED: &[Started] = &[$($name::asynchronous::FUTURE),*];
    };
    (@once [$($order:ident),*] [$($async:ident)?] ($work:ident: &Work) { $($body:tt)* }) => {
        orders! { @function [] [$($order),*] [$($async)?] ($work: &Work) { $($body)* } }
    };
    (@retry [$($order:ident),*] [$($async:ident)?] ($work:ident: &Work) { $($body:tt)* }) => {
        orders! {
            @function [retry(max = 3, backoff = constant("0s"), jitter = none, before = $work.between()),]
            [$($order),*] [$($async)?] ($work: &Work) { $($body)* }
        }
    };
    (@function [$($retry:tt)*] [$($order:ident),*] [$($async:ident)?] ($work:ident: &Work) { $($body:tt)* }) => {
        #[resilient(
            $($retry)*
            circuit_breaker(window = 100, min_calls = 2, open_for = "1s", probes = 2, failure_rate = "100%"),
            rate_limiter(rate = "100/h", cost = $work.cost()),
            bulkhead(max_concurrent = 2),
            order = [$($order),*],
        )]
        $($async)? fn call($work: &Work) -> Result<u32, Fault> { $($body)* }
    };
}

orders! {
    blp: once [circuit_breaker, rate_limiter, bulkhead];
    bpl: once [circuit_breaker, bulkhead, rate_limiter];
    lbp: once [rate_limiter, circuit_breaker, bulkhead];
    lpb: once [rate_limiter, bulkhead, circuit_breaker];
    pbl: once [bulkhead, circuit_breaker, rate_limiter];
    plb: once [bulkhead, rate_limiter, circuit_breaker];
    rblp: retry [retry, circuit_breaker, rate_limiter, bulkhead];
    brlp: retry [circuit_breaker, retry, rate_limiter, bulkhead];
    blrp: retry [circuit_breaker, rate_limiter, retry, bulkhead];
    blpr: retry [circuit_breaker, rate_limiter, bulkhead, retry];
    rbpl: retry [retry, circuit_breaker, bulkhead, rate_limiter];
    brpl: retry [circuit_breaker, retry, bulkhead, rate_limiter];
    bprl: retry [circuit_breaker, bulkhead, retry, rate_limiter];
    bplr: retry [circuit_breaker, bulkhead, rate_limiter, retry];
    rlbp: retry [retry, rate_limiter, circuit_breaker, bulkhead];
    lrbp: retry [rate_limiter, retry, circuit_breaker, bulkhead];
    lbrp: retry [rate_limiter, circuit_breaker, retry, bulkhead];
    lbpr: retry [rate_limiter, circuit_breaker, bulkhead, retry];
    rlpb: retry [retry, rate_limiter, bulkhead, circuit_breaker];
    lrpb: retry [rate_limiter, retry, bulkhead, circuit_breaker];
    lprb: retry [rate_limiter, bulkhead, retry, circuit_breaker];
    lpbr: retry [rate_limiter, bulkhead, circuit_breaker, retry];
    rpbl: retry [retry, bulkhead, circuit_breaker, rate_limiter];
    prbl: retry [bulkhead, retry, circuit_breaker, rate_limiter];
    pbrl: retry [bulkhead, circuit_breaker, retry, rate_limiter];
    pblr: retry [bulkhead, circuit_breaker, rate_limiter, retry];
    rplb: retry [retry, bulkhead, rate_limiter, circuit_breaker];
    prlb: retry [bulkhead, retry, rate_limiter, circuit_breaker];
    plrb: retry [bulkhead, rate_limiter, retry, circuit_breaker];
    plbr: retry [bulkhead, rate_limiter, circuit_breaker, retry];
}

/// All tests here work the same functions.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An async function that is guarded, and what it returns.
#[derive(Clone, Copy)]
struct Started {
    name: &'static str,
    order: &'static [&'static str],
    start: fn(&Work) -> Boxed<'_>,
}

type Boxed<'a> = Pin<Box<dyn Future<Output = Result<u32, Fault>> + 'a>>;

/// Where the policies of a function stand.
#[derive(Clone, Copy)]
struct Order(&'static [&'static str]);

impl Order {
    fn has(self, policy: &str) -> bool {
        self.0.contains(&policy)
    }

    /// Whether one stands outside of the other, if both are there.
    fn outside(self, one: &str, other: &str) -> bool {
        let place = |name| self.0.iter().position(|policy| *policy == name);
        matches!((place(one), place(other)), (Some(one), Some(other)) if one < other)
    }

    /// How often this gate is asked in so many attempts.
    fn asked(self, gate: &str, attempts: u32) -> u32 {
        if self.outside(gate, "retry") { 1 } else { attempts }
    }
}

/// What the gates of a function have given, and counted.
#[derive(PartialEq, Debug)]
struct Standing {
    available: u64,
    in_flight: u32,
    counts: BTreeMap<(Kind, &'static str), u64>,
}

impl Standing {
    fn of(name: &str) -> Self {
        let kinds = [Kind::CircuitBreaker, Kind::RateLimiter, Kind::Bulkhead, Kind::Retry];
        let listed = kinds.into_iter().filter(|kind| resil::catalog().find(*kind, name).is_some());
        let counts = listed
            .flat_map(|kind| counts(kind, name).into_iter().map(move |(at, n)| ((kind, at), n)))
            .collect();
        let (limiter, bulkhead) = (limiter_of(name), bulkhead_of(name));
        Self { available: limiter.available(), in_flight: bulkhead.in_flight(), counts }
    }

    /// What has been counted since.
    fn since(&self, before: &Self) -> BTreeMap<(Kind, &'static str), u64> {
        let rise = |(at, n): (&(Kind, &'static str), &u64)| {
            let risen = n - before.counts.get(at).copied().unwrap_or_default();
            (risen > 0).then_some((*at, risen))
        };
        self.counts.iter().filter_map(rise).collect()
    }
}

/// What is expected to be counted.
fn counted(expected: &[(Kind, &'static str, u32)]) -> BTreeMap<(Kind, &'static str), u64> {
    let expected = expected.iter().filter(|(_, _, n)| *n > 0);
    expected.map(|(kind, at, n)| ((*kind, *at), u64::from(*n))).collect()
}

/// So many, if that is so.
fn if_so(so: bool, many: u32) -> u32 {
    if so { many } else { 0 }
}

/// Half-open, with two probes free.
fn half_open(breaker: &CircuitBreaker, clock: &Paused) {
    breaker.reset();
    (0..2).for_each(|_| breaker.acquire().unwrap().failure());
    clock.advance("1001ms");
    breaker.acquire().expect("a probe").ignore();
}

/// That nothing is voted, and both places are free.
fn is_still_half_open(breaker: &CircuitBreaker) {
    assert_eq!(breaker.state(), State::HalfOpen);
    let probes = [(); 2].map(|()| breaker.acquire().expect("a free place"));
    probes.into_iter().for_each(Permit::ignore);
}

#[test]
fn l12_b29_cb24_bh08_what_outer_gates_gave_is_given_back_when_one_refuses() {
    const CALLS: u32 = 3;
    let _alone = one_at_a_time();
    for guarded in GUARDED {
        for refusing in GATES {
            let (clock, name, order) = (pause(), guarded.name, Order(guarded.order));
            let (breaker, limiter, bulkhead) =
                (breaker_of(name), limiter_of(name), bulkhead_of(name));
            limiter.reset();
            half_open(breaker, &clock);
            let mut held = Vec::new();
            let reason = match refusing {
                "circuit_breaker" => {
                    breaker.force_open();
                    Reason::CircuitOpen
                }
                "rate_limiter" => {
                    limiter.drain();
                    Reason::RateLimited
                }
                _ => {
                    held.extend((0..2).map(|_| bulkhead.acquire().unwrap()));
                    Reason::BulkheadFull
                }
            };
            let before = Standing::of(name);
            for _ in 0..CALLS {
                let work = Work::new(name, Act::Succeed);
                let refused =
                    (guarded.call)(&clock, &work).unwrap_err().refusal().expect("refused");
                assert_eq!((refused.reason(), refused.policy()), (reason, name));
                assert_eq!(work.begun.get(), 0, "BH08");
            }
            let after = Standing::of(name);
            let context = format!("{name}: {:?}, {refusing} refuses", order.0);
            assert_eq!(
                (after.available, after.in_flight),
                (before.available, before.in_flight),
                "{context}"
            );
            let outside = |gate| if_so(order.outside(gate, refusing), CALLS);
            let retry = if_so(order.outside("retry", refusing), CALLS);
            let kind = match refusing {
                "circuit_breaker" => Kind::CircuitBreaker,
                "rate_limiter" => Kind::RateLimiter,
                _ => Kind::Bulkhead,
            };
            let expected = counted(&[
                (kind, "refused", CALLS),
                (Kind::CircuitBreaker, "ignored", outside("circuit_breaker")),
                (Kind::RateLimiter, "admitted", outside("rate_limiter")),
                (Kind::RateLimiter, "given_back", outside("rate_limiter")),
                (Kind::Bulkhead, "admitted", outside("bulkhead")),
                (Kind::Retry, "calls", retry),
                (Kind::Retry, "attempts", retry),
                (Kind::Retry, "refused", retry),
            ]);
            assert_eq!(after.since(&before), expected, "{context}");
            if refusing != "circuit_breaker" {
                is_still_half_open(breaker);
            }
        }
    }
}

#[test]
fn l13_r18_rt18_bh05_each_attempt_passes_the_gates_inside_of_retry_anew() {
    let _alone = one_at_a_time();
    for guarded in GUARDED {
        for act in [Act::Succeed, Act::Fail] {
            let (clock, name, order) = (pause(), guarded.name, Order(guarded.order));
            let (breaker, limiter) = (breaker_of(name), limiter_of(name));
            breaker.set_min_calls(100).unwrap();
            breaker.reset();
            limiter.reset();
            let (before, work) = (Standing::of(name), Work::new(name, act));
            let outcome = (guarded.call)(&clock, &work);
            breaker.set_min_calls(2).unwrap();
            let after = Standing::of(name);

            let retries = act == Act::Fail && order.has("retry");
            let attempts = if retries { 3 } else { 1 };
            let context = format!("{name}: {:?}", order.0);
            let newest = if act == Act::Fail { Err(Fault::Down(attempts)) } else { Ok(1) };
            assert_eq!((outcome, work.begun.get()), (newest, attempts), "{context}");
            assert_eq!(*work.inside.borrow(), vec![1; attempts as usize], "{context}");
            let kept = if_so(order.outside("bulkhead", "retry"), 1);
            let between = vec![kept; attempts as usize - 1];
            assert_eq!(*work.between.borrow(), between, "BH05: inside while it waits: {context}");
            assert_eq!(after.in_flight, 0, "{context}");
            let cells = u64::from(order.asked("rate_limiter", attempts) * COST);
            assert_eq!(before.available - after.available, cells, "{context}");
            let retry = if_so(order.has("retry"), 1);
            let vote = if act == Act::Fail { "failure" } else { "success" };
            let over = if retries { "exhausted" } else { "first_try" };
            let expected = counted(&[
                (Kind::CircuitBreaker, vote, order.asked("circuit_breaker", attempts)),
                (Kind::RateLimiter, "admitted", order.asked("rate_limiter", attempts)),
                (Kind::Bulkhead, "admitted", order.asked("bulkhead", attempts)),
                (Kind::Retry, "calls", retry),
                (Kind::Retry, "attempts", retry * attempts),
                (Kind::Retry, "retries", retry * (attempts - 1)),
                (Kind::Retry, over, retry),
            ]);
            assert_eq!(after.since(&before), expected, "{context}");
        }
    }
}

#[test]
fn bh04_a_panic_gives_back_what_was_not_used() {
    let _alone = one_at_a_time();
    for guarded in GUARDED {
        for act in [Act::Panic, Act::PanicInCost] {
            let (clock, name, order) = (pause(), guarded.name, Order(guarded.order));
            limiter_of(name).reset();
            half_open(breaker_of(name), &clock);
            let (before, work) = (Standing::of(name), Work::new(name, act));
            let call = || (guarded.call)(&clock, &work);
            assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
            let after = Standing::of(name);

            let context = format!("{name}: {:?}", order.0);
            let worked = act == Act::Panic;
            assert_eq!((work.begun.get(), after.in_flight), (if_so(worked, 1), 0), "{context}");
            assert_eq!(
                before.available - after.available,
                u64::from(if_so(worked, COST)),
                "{context}"
            );
            let asked = |gate| if_so(worked || order.outside(gate, "rate_limiter"), 1);
            let (fate, breaker) =
                (if worked { "failure" } else { "abandoned" }, asked("circuit_breaker"));
            let retry =
                if_so(order.has("retry") && (worked || order.outside("retry", "rate_limiter")), 1);
            let expected = counted(&[
                (Kind::CircuitBreaker, fate, breaker),
                (Kind::RateLimiter, "admitted", if_so(worked, 1)),
                (Kind::Bulkhead, "admitted", asked("bulkhead")),
                (Kind::Retry, "calls", retry),
                (Kind::Retry, "attempts", retry),
                (Kind::Retry, "abandoned", retry),
            ]);
            assert_eq!(after.since(&before), expected, "{context}");
            if !worked {
                is_still_half_open(breaker_of(name));
            }
        }
    }
}

#[test]
fn l12_l04_dropped_while_it_waits_at_a_gate_a_call_gives_everything_back() {
    let _alone = one_at_a_time();
    for started in STARTED {
        for waiting in ["rate_limiter", "bulkhead"] {
            let (clock, name, order) = (pause(), started.name, Order(started.order));
            let (limiter, bulkhead) = (limiter_of(name), bulkhead_of(name));
            limiter.reset();
            half_open(breaker_of(name), &clock);
            limiter.set_wait(Duration::from_hours(10)).unwrap();
            bulkhead.set_wait(Duration::from_hours(10)).unwrap();
            let mut held = Vec::new();
            if waiting == "rate_limiter" {
                limiter.drain();
            } else {
                held.extend((0..2).map(|_| bulkhead.acquire().unwrap()));
            }
            let (before, work) = (Standing::of(name), Work::new(name, Act::Succeed));
            {
                let mut future = (started.start)(&work);
                assert!(poll_once(future.as_mut()).is_pending());
                let taken = u32::from(order.outside("bulkhead", "rate_limiter"));
                if waiting == "rate_limiter" {
                    assert_eq!((limiter.waiting(), bulkhead.in_flight()), (1, taken));
                } else {
                    let taken = u64::from(if_so(order.outside("rate_limiter", "bulkhead"), COST));
                    assert_eq!(
                        (bulkhead.waiting(), before.available - limiter.available()),
                        (1, taken)
                    );
                }
            }
            let after = Standing::of(name);
            let context = format!("{name}: {:?}, waiting at {waiting}", order.0);
            assert_eq!(
                (limiter.waiting(), bulkhead.waiting(), work.begun.get()),
                (0, 0, 0),
                "{context}"
            );
            assert_eq!(
                (after.available, after.in_flight),
                (before.available, before.in_flight),
                "{context}"
            );
            let outside = |gate| if_so(order.outside(gate, waiting), 1);
            let retry = outside("retry");
            let kind = if waiting == "bulkhead" { Kind::Bulkhead } else { Kind::RateLimiter };
            let expected = counted(&[
                (kind, "abandoned", 1),
                (Kind::CircuitBreaker, "abandoned", outside("circuit_breaker")),
                (Kind::RateLimiter, "admitted", outside("rate_limiter")),
                (Kind::RateLimiter, "given_back", outside("rate_limiter")),
                (Kind::Bulkhead, "admitted", outside("bulkhead")),
                (Kind::Retry, "calls", retry),
                (Kind::Retry, "attempts", retry),
                (Kind::Retry, "abandoned", retry),
            ]);
            assert_eq!(after.since(&before), expected, "{context}");
            is_still_half_open(breaker_of(name));
            limiter.set_wait(Duration::ZERO).unwrap();
            bulkhead.set_wait(Duration::ZERO).unwrap();
        }
    }
}

#[test]
fn k01_k02_dropped_in_its_body_a_call_gives_its_place_back_and_no_cells() {
    let _alone = one_at_a_time();
    for started in STARTED {
        let (clock, name, order) = (pause(), started.name, Order(started.order));
        limiter_of(name).reset();
        half_open(breaker_of(name), &clock);
        let (before, work) = (Standing::of(name), Work::new(name, Act::Pend));
        {
            let mut future = pin!((started.start)(&work));
            assert!(poll_once(future.as_mut()).is_pending());
            assert_eq!((bulkhead_of(name).in_flight(), work.inside.borrow().len()), (1, 1));
        }
        let after = Standing::of(name);
        let context = format!("{name}: {:?}", order.0);
        assert_eq!(after.in_flight, 0, "{context}");
        assert_eq!(before.available - after.available, u64::from(COST), "{context}");
        let retry = if_so(order.has("retry"), 1);
        let expected = counted(&[
            (Kind::CircuitBreaker, "abandoned", 1),
            (Kind::RateLimiter, "admitted", 1),
            (Kind::Bulkhead, "admitted", 1),
            (Kind::Retry, "calls", retry),
            (Kind::Retry, "attempts", retry),
            (Kind::Retry, "abandoned", retry),
        ]);
        assert_eq!(after.since(&before), expected, "{context}");
        is_still_half_open(breaker_of(name));
    }
}
