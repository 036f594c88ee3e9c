//! The whole set under real threads and in real time, shared by sync and async callers: no bound is ever exceeded, nothing
//! leaks, every call is in one count of each policy, and all of that did happen.

use resil::time::{Nanos, sleep};
use resil::{Bulkhead, CircuitBreaker, Policy, RateLimiter, Reason, RetryBudget, State, resilient};
use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};
use tests::trial::caught;
use tests::{Fault, block_on, counts, poll_once};

/// As in the registries below.
const PLACES: u32 = 4;
const BURST: f64 = 40.0;
const PER_SEC: f64 = 4_000.0;

/// What a body is to do: it fails in bursts, hangs, yields, panics, or works.
#[derive(Clone, Copy)]
enum Act {
    Works,
    Yields,
    Fails,
    Ignored,
    Hangs,
    Panics,
}

fn act(number: u64) -> Act {
    let sick = (number / 64).is_multiple_of(3);
    match number % 16 {
        0 if sick => Act::Hangs,
        1..=8 if sick => Act::Fails,
        9 => Act::Ignored,
        10 => Act::Panics,
        11..=13 => Act::Yields,
        _ => Act::Works,
    }
}

/// What the bodies of one set saw.
struct Seen {
    number: AtomicU64,
    inside: AtomicU32,
    most: AtomicU32,
    firsts: AtomicU64,
    retries: AtomicU64,
}

/// A body is inside until this is dropped.
struct Inside<'a>(&'a Seen);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, SeqCst);
    }
}

impl Seen {
    const fn new() -> Self {
        Self {
            number: AtomicU64::new(0),
            inside: AtomicU32::new(0),
            most: AtomicU32::new(0),
            firsts: AtomicU64::new(0),
            retries: AtomicU64::new(0),
        }
    }

    /// A body begins; `call` tells whether it is the first one of its call.
    fn begin(&self, call: &AtomicBool) -> (Act, Inside<'_>) {
        let inside = self.inside.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(inside, SeqCst);
        let counted = if call.swap(true, SeqCst) { &self.retries } else { &self.firsts };
        counted.fetch_add(1, SeqCst);
        (act(self.number.fetch_add(1, SeqCst)), Inside(self))
    }

    fn bodies(&self) -> u64 {
        self.firsts.load(SeqCst) + self.retries.load(SeqCst)
    }

    fn sync(&self, call: &AtomicBool) -> Result<u64, Fault> {
        let (act, _inside) = self.begin(call);
        match act {
            Act::Fails => Err(Fault::Down(1)),
            Act::Ignored => Err(Fault::Mine),
            Act::Panics => resume_unwind(Box::new("without a word")),
            Act::Yields | Act::Hangs => {
                thread::yield_now();
                Ok(1)
            }
            Act::Works => Ok(1),
        }
    }

    async fn asynchronous(&self, call: &AtomicBool) -> Result<u64, Fault> {
        let (act, _inside) = self.begin(call);
        match act {
            Act::Fails => Err(Fault::Down(1)),
            Act::Ignored => Err(Fault::Mine),
            Act::Panics => resume_unwind(Box::new("without a word")),
            Act::Hangs => pending().await,
            Act::Yields => {
                let mut yielded = false;
                poll_fn(|cx| {
                    if std::mem::replace(&mut yielded, true) {
                        return Poll::Ready(Ok(1));
                    }
                    cx.waker().wake_by_ref();
                    Poll::Pending
                })
                .await
            }
            Act::Works => Ok(1),
        }
    }
}

/// The policies that the callers of one test share.
struct Set {
    breaker: &'static CircuitBreaker,
    limiter: &'static RateLimiter,
    bulkhead: &'static Bulkhead,
    budget: &'static RetryBudget,
    seen: &'static Seen,
    begun: Instant,
}

type Counts = BTreeMap<&'static str, u64>;

fn counted(policy: &dyn Policy) -> Counts {
    let mut counted = Counts::new();
    policy.counters(&mut |counter| {
        if counter.value > 0 {
            counted.insert(counter.name, counter.value);
        }
    });
    counted
}

impl Set {
    /// Whether everything that should meet here has met.
    fn is_eventful(&self) -> bool {
        let has = |policy: &dyn Policy, names: &[&str]| {
            let counted = counted(policy);
            names.iter().all(|name| counted.contains_key(name))
        };
        has(self.breaker, &["success", "failure", "ignored", "abandoned", "lost", "refused"])
            && has(self.limiter, &["admitted", "waited", "refused", "given_back"])
            && has(self.bulkhead, &["admitted", "waited", "refused"])
            && has(self.budget, &["withdrawn", "refused", "given_back"])
    }

    /// What an operator does meanwhile: none of it may raise a bound.
    fn operate(&self, until: &AtomicBool) {
        for round in 0_u32.. {
            if until.load(SeqCst) {
                break;
            }
            self.bulkhead.set_max_concurrent(PLACES - round % 4).unwrap();
            let wait = Duration::from_millis(u64::from(round % 3));
            self.bulkhead.set_wait(wait).unwrap();
            self.limiter.set_wait(Duration::from_micros(u64::from(round % 4) * 500)).unwrap();
            match round % 16 {
                3 => self.limiter.drain(),
                10 => self.breaker.force_open(),
                11 => self.breaker.reset(),
                _ => {}
            }
            thread::sleep(Duration::from_micros(300));
        }
        self.breaker.reset();
        self.bulkhead.set_max_concurrent(PLACES).unwrap();
    }

    fn check(&self) {
        let secs = self.begun.elapsed().as_secs_f64();
        let (breaker, limiter) = (counted(self.breaker), counted(self.limiter));
        let (bulkhead, budget) = (counted(self.bulkhead), counted(self.budget));
        let all = format!("{breaker:?} {limiter:?} {bulkhead:?} {budget:?}");
        assert!(self.is_eventful(), "too little happened: {all}");

        // Nothing leaks.
        assert_eq!((self.bulkhead.in_flight(), self.bulkhead.waiting()), (0, 0), "{all}");
        assert_eq!((self.limiter.waiting(), self.seen.inside.load(SeqCst)), (0, 0), "{all}");

        // No bound is exceeded.
        let (bodies, most) = (self.seen.bodies(), self.seen.most.load(SeqCst));
        assert!(most <= PLACES && most > 1, "{most} inside at a time");
        #[allow(clippy::cast_precision_loss)] // not that many
        let (launched, paid) =
            (self.seen.retries.load(SeqCst) as f64, self.seen.firsts.load(SeqCst) as f64 * 0.05);
        #[allow(clippy::cast_precision_loss)]
        let let_through = bodies as f64;
        assert!(let_through <= BURST + PER_SEC * secs + 1.0, "{bodies} in {secs} s: {all}");
        assert!(launched <= 10.0 + 10.0 * secs + paid + 1.0, "{launched}, paid {paid}, {secs} s");

        // Each call is in one count of each policy that it came to, and what was taken was used or given back.
        let of = |counts: &Counts, names: &[&str]| -> u64 {
            names.iter().map(|name| counts.get(name).copied().unwrap_or_default()).sum()
        };
        let total = |counts: &Counts| counts.values().sum::<u64>();
        let let_in = of(&limiter, &["admitted", "waited"]);
        let inside = of(&bulkhead, &["admitted", "waited"]);
        assert_eq!(
            total(&breaker) - of(&breaker, &["refused"]),
            total(&limiter) - of(&limiter, &["given_back"]),
            "{all}"
        );
        assert_eq!((let_in, inside), (total(&bulkhead), bodies), "{all}");
        assert_eq!(of(&limiter, &["given_back"]), let_in - bodies, "{all}");
        assert_eq!(
            of(&budget, &["withdrawn"]) - of(&budget, &["given_back"]),
            self.seen.retries.load(SeqCst),
            "{all}"
        );

        // No place is lost: the breaker can be closed by probes alone.
        while self.breaker.state() == State::Closed {
            self.breaker.acquire().unwrap().failure();
        }
        while self.breaker.state() != State::Closed {
            match self.breaker.acquire() {
                Ok(permit) => permit.success(),
                Err(_) => thread::yield_now(),
            }
        }
    }
}

/// Whether a call was refused; nothing else may become of it than what can.
fn is_refused(outcome: Result<u64, Fault>) -> bool {
    match outcome {
        Ok(_) | Err(Fault::Down(_) | Fault::Mine) => false,
        Err(Fault::Refused(rejected)) => {
            assert_ne!(rejected.reason(), Reason::DeadlineExceeded);
            rejected.reason() == Reason::CircuitOpen
        }
    }
}

/// Who is refused comes back later.
const LATER: Duration = Duration::from_micros(200);

/// A set of policies, and a sync and an async function that share it.
macro_rules! set {
    ($module:ident) => {
        mod $module {
            use super::*;

            pub(super) static SEEN: Seen = Seen::new();

            mod policies {
                resil::registry! {
                    circuit_breaker gateway { window = 64, min_calls = 32, failure_rate = "40%", open_for = "2ms", probes = 4 }
                    rate_limiter quota { rate = "4000/s", burst = 40, wait = "1ms" }
                    bulkhead pool { max_concurrent = 4, wait = "1ms", queue = 3 }
                    retry_budget budget { ratio = "5%", min_per_sec = 10, ttl = "1s" }
                }
            }

            #[resilient(
                registry = policies,
                deadline = "1m",
                retry(max = 3, backoff = constant("100us"), jitter = full, on = Err(Fault::Down(_)), on_rejected = true, budget = "budget"),
                circuit_breaker = "gateway",
                rate_limiter = "quota",
                bulkhead = "pool",
                timeout = "3ms",
                ignore = Err(Fault::Mine),
            )]
            pub(super) fn sync(begun: &AtomicBool) -> Result<u64, Fault> {
                SEEN.sync(begun)
            }

            #[resilient(
                registry = policies,
                deadline = "1m",
                retry(max = 3, backoff = constant("100us"), jitter = full, on = Err(Fault::Down(_)), on_rejected = true, budget = "budget"),
                circuit_breaker = "gateway",
                rate_limiter = "quota",
                bulkhead = "pool",
                timeout = "3ms",
                ignore = Err(Fault::Mine),
            )]
            pub(super) async fn asynchronous(begun: &AtomicBool) -> Result<u64, Fault> {
                SEEN.asynchronous(begun).await
            }

            pub(super) fn set() -> Set {
                Set {
                    breaker: &policies::circuit_breaker::gateway,
                    limiter: &policies::rate_limiter::quota,
                    bulkhead: &policies::bulkhead::pool,
                    budget: &policies::retry_budget::budget,
                    seen: &SEEN,
                    begun: Instant::now(),
                }
            }
        }
    };
}

/// So many calls of a sync function.
fn work(call: fn(&AtomicBool) -> Result<u64, Fault>, calls: u32) {
    for _ in 0..calls {
        let begun = AtomicBool::new(false);
        if catch_unwind(|| call(&begun)).is_ok_and(is_refused) {
            thread::sleep(LATER);
        }
    }
}

/// So many calls of an async one, of which some are dropped at their first wait.
async fn work_async<C: AsyncFn(&AtomicBool) -> Result<u64, Fault>>(call: C, calls: u32) {
    for number in 0..calls {
        let begun = AtomicBool::new(false);
        if number % 8 == 5 {
            let mut future = pin!(call(&begun));
            let _ = catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut())));
        } else if caught(call(&begun)).await.is_ok_and(is_refused) {
            sleep(Nanos::from_duration(LATER)).await;
        }
    }
}

/// Rounds of work beside an operator, until everything has met.
fn until_eventful(set: &Set, round: impl Fn()) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| set.operate(&over));
        for number in 0..200 {
            round();
            if number >= 3 && set.is_eventful() {
                break;
            }
        }
        over.store(true, SeqCst);
    });
    set.check();
}

set!(two);
set!(many);

#[test]
fn x02_l12_two_threads_one_sync_and_one_async() {
    let set = two::set();
    until_eventful(&set, || {
        let together = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                together.wait();
                work(two::sync, 300);
            });
            together.wait();
            block_on(work_async(two::asynchronous, 300));
        });
    });
}

#[test]
fn x02_l12_many_tasks_on_many_workers_beside_threads() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let set = many::set();
    until_eventful(&set, || {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| work(many::sync, 100));
            }
            runtime.block_on(async {
                let tasks: Vec<_> =
                    (0..32).map(|_| tokio::spawn(work_async(many::asynchronous, 20))).collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
        });
    });
    let retries = counts(resil::Kind::Retry, concat!(module_path!(), "::many::asynchronous"));
    let calls: u64 = retries.iter().filter(|(name, _)| *name == "calls").map(|(_, n)| n).sum();
    assert!(
        calls > 0 && calls.is_multiple_of(640),
        "every call is counted, also the dropped ones: {retries:?}"
    );
}
