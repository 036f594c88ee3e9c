//! One script of outcomes through the attribute and through a [`Pipeline`]: the same results, times, events and counts.

use resil::testing::{ManualClock, pause, seed};
use resil::{
    Backoff, Bulkhead, Cause, CircuitBreaker, Classify, DeadlineLimit, Event, Fallback, Jitter,
    Judgement, Kind, Observer, Pipeline, Policy, Rate, RateLimiter, Ratio, Rejected, Retry,
    RetryBudget, Slot, Timeout, resilient, set_observer,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Duration;
use tests::run;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Down(u32),
    Busy(u64),
    Mine,
    Refused(Rejected),
}

impl From<Rejected> for Fault {
    fn from(rejected: Rejected) -> Self {
        Self::Refused(rejected)
    }
}

impl Classify for Fault {
    fn classify(&self) -> Judgement {
        match self {
            Self::Down(_) => Judgement::TRANSIENT,
            Self::Busy(ms) => Judgement::TRANSIENT.after(Duration::from_millis(*ms)),
            Self::Mine | Self::Refused(_) => Judgement::IGNORED,
        }
    }
}

/// What an attempt does.
#[derive(Clone, Copy, Debug)]
struct Act {
    takes: u64,
    ends: End,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Ok(u32),
    Err(Fault),
    Panics,
}

/// What happens between two calls.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    Passes(u64),
    /// Others are in the bulkhead from now on.
    Others(usize),
    ForceOpen,
    Close,
    Drain,
    Rate(u64),
    Places(u32),
    Disable(usize, bool),
}

thread_local! {
    static EVENTS: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
    static SCRIPT: RefCell<VecDeque<Act>> = const { RefCell::new(VecDeque::new()) };
    static BEGUN: RefCell<Vec<(u64, u32)>> = const { RefCell::new(Vec::new()) };
    static CLOCK: RefCell<Option<ManualClock>> = const { RefCell::new(None) };
    static ZERO: Cell<u64> = const { Cell::new(0) };
}

struct Listen;

impl Observer for Listen {
    fn event(&self, event: &Event) {
        // How long a poll blocks is measured in real time.
        if !matches!(event, Event::BlockingPoll { .. }) {
            EVENTS.with_borrow_mut(|events| events.push(*event));
        }
    }
}

fn now_ms() -> u64 {
    CLOCK.with_borrow(|clock| clock.as_ref().unwrap().now().0 / 1_000_000) - ZERO.get()
}

/// The attempt begins; what it does.
fn begin(attempt: u32) -> Act {
    BEGUN.with_borrow_mut(|begun| begun.push((now_ms(), attempt)));
    SCRIPT.with_borrow_mut(VecDeque::pop_front).expect("as many acts as attempts")
}

fn end(act: Act) -> Result<u32, Fault> {
    match act.ends {
        End::Ok(value) => Ok(value),
        End::Err(fault) => Err(fault),
        End::Panics => panic!("{AS_WRITTEN}"),
    }
}

fn body(attempt: u32) -> Result<u32, Fault> {
    let act = begin(attempt);
    let clock = CLOCK.with_borrow(Option::clone).expect("the side's clock");
    clock.advance(Duration::from_millis(act.takes));
    end(act)
}

async fn body_async(attempt: u32) -> Result<u32, Fault> {
    let act = begin(attempt);
    if act.takes > 0 {
        resil::time::sleep(resil::time::Nanos(act.takes * 1_000_000)).await;
    }
    end(act)
}

/// What a script's panics say, which need not be reported.
const AS_WRITTEN: &str = "as it is written in the script";

const MS: Duration = Duration::from_millis(1);

/// The shared policies, twice: once for the attribute, once for the pipeline.
macro_rules! shared {
    ($($module:ident),*) => { $(
        mod $module {
            use super::*;
            pub(super) static GATEWAY: CircuitBreaker = CircuitBreaker::builder("gateway")
                .window(8).min_calls(4).slow_call(MS.saturating_mul(40)).slow_rate(Ratio::percent(75))
                .open_for(MS.saturating_mul(300)).probes(2).build();
            pub(super) static QUOTA: RateLimiter = RateLimiter::builder("quota")
                .rate(Rate::per_second(30)).burst(4).wait(MS.saturating_mul(30)).build();
            pub(super) static POOL: Bulkhead =
                Bulkhead::builder("pool").max_concurrent(3).wait(MS.saturating_mul(5)).build();
            pub(super) static BUDGET: RetryBudget = RetryBudget::builder("budget")
                .ratio(Ratio::percent(30)).min_per_sec(2).build();
        }
    )* };
}

shared!(
    sync_attribute,
    sync_pipeline,
    async_attribute,
    async_pipeline,
    bare_attribute,
    bare_pipeline
);

/// What a policy has counted.
type Counts = (Kind, &'static str, Vec<(&'static str, u64)>);

fn counts_of(policy: &dyn Policy) -> Counts {
    let mut counts = Vec::new();
    policy.counters(&mut |counter| counts.push((counter.name, counter.value)));
    (policy.kind(), policy.name(), counts)
}

/// Of the policies that the attribute made for its function.
fn made_for(name: &'static str) -> Vec<Counts> {
    [Kind::Deadline, Kind::Retry, Kind::Timeout, Kind::Fallback]
        .into_iter()
        .filter_map(|kind| {
            let entry = resil::catalog().find(kind, name)?;
            let counters = entry.counters().into_iter();
            Some((kind, name, counters.map(|counter| (counter.name, counter.value)).collect()))
        })
        .collect()
}

/// One side of the comparison.
struct Side {
    gateway: &'static CircuitBreaker,
    quota: &'static RateLimiter,
    pool: &'static Bulkhead,
    budget: &'static RetryBudget,
    own: fn() -> Vec<Counts>,
    call: fn(&ManualClock) -> Result<u32, Fault>,
}

macro_rules! side {
    ($module:ident, $own:expr, $call:expr) => {
        Side {
            gateway: &$module::GATEWAY,
            quota: &$module::QUOTA,
            pool: &$module::POOL,
            budget: &$module::BUDGET,
            own: $own,
            call: $call,
        }
    };
}

#[resilient(
    name = "whole",
    deadline = "200ms",
    retry(max = 4, backoff = exponential("10ms", cap = "40ms"), jitter = full, attempt = n, on_rejected = true,
          budget = self::sync_attribute::BUDGET),
    circuit_breaker = self::sync_attribute::GATEWAY,
    rate_limiter(self::sync_attribute::QUOTA, cost = 2),
    bulkhead = self::sync_attribute::POOL,
    timeout = "50ms",
    fallback = |cause| answer(cause),
)]
fn whole() -> Result<u32, Fault> {
    body(n)
}

#[resilient(
    name = "whole_async",
    deadline = "200ms",
    retry(max = 4, backoff = exponential("10ms", cap = "40ms"), jitter = full, attempt = n, on_rejected = true,
          budget = self::async_attribute::BUDGET),
    circuit_breaker = self::async_attribute::GATEWAY,
    rate_limiter(self::async_attribute::QUOTA, cost = 2),
    bulkhead = self::async_attribute::POOL,
    timeout = "50ms",
    fallback = |cause| answer(cause),
)]
async fn whole_async() -> Result<u32, Fault> {
    body_async(n).await
}

/// Without retry, deadline and fallback; what is late is a timeout.
#[resilient(
    name = "bare",
    circuit_breaker = self::bare_attribute::GATEWAY,
    rate_limiter(self::bare_attribute::QUOTA, cost = 2),
    bulkhead = self::bare_attribute::POOL,
    timeout("50ms", late = timeout),
)]
fn bare() -> Result<u32, Fault> {
    body(1)
}

/// Some calls get an answer all the same.
fn answer(cause: Cause<Fault>) -> Result<u32, Fault> {
    match cause {
        Cause::Error(Fault::Down(number)) if number % 2 == 0 => Ok(number),
        cause => Err(cause.into_error()),
    }
}

/// The own policies of a pipeline, as the attribute makes them.
macro_rules! own {
    ($module:ident, $name:literal, $on_timeout:literal) => {
        mod $module {
            use super::*;
            pub(super) static DEADLINE: DeadlineLimit =
                DeadlineLimit::builder($name).after(MS.saturating_mul(200)).build();
            pub(super) static RETRY: Retry = Retry::builder($name)
                .max_attempts(4)
                .backoff(Backoff::exponential(MS.saturating_mul(10), MS.saturating_mul(40)))
                .jitter(Jitter::Full)
                .on_rejected(true)
                .on_timeout($on_timeout)
                .build();
            pub(super) static TIMEOUT: Timeout =
                Timeout::builder($name).after(MS.saturating_mul(50)).build();
            pub(super) static FALLBACK: Fallback = Fallback::builder($name).build();

            pub(super) fn counts() -> Vec<Counts> {
                [&DEADLINE as &dyn Policy, &RETRY, &TIMEOUT, &FALLBACK].map(counts_of).to_vec()
            }
        }
    };
}

own!(whole_policies, "whole", false);
own!(whole_async_policies, "whole_async", true);

const fn pipeline(
    own: (&'static DeadlineLimit, &'static Retry, &'static Timeout),
    shared: (
        &'static CircuitBreaker,
        &'static RateLimiter,
        &'static Bulkhead,
        &'static RetryBudget,
    ),
) -> Pipeline<'static> {
    Pipeline::new()
        .deadline(own.0)
        .retry(own.1)
        .timeout(own.2)
        .circuit_breaker(shared.0)
        .rate_limiter(shared.1)
        .cost(2)
        .bulkhead(shared.2)
        .retry_budget(shared.3)
}

macro_rules! piped {
    ($own:ident, $shared:ident) => {
        pipeline(
            (&$own::DEADLINE, &$own::RETRY, &$own::TIMEOUT),
            (&$shared::GATEWAY, &$shared::QUOTA, &$shared::POOL, &$shared::BUDGET),
        )
        .fallback(&$own::FALLBACK, answer)
    };
}

/// What one call came to.
#[derive(PartialEq, Debug)]
struct Came {
    /// `None` for a panic.
    outcome: Option<Result<u32, Fault>>,
    /// When each attempt began, and its number.
    begun: Vec<(u64, u32)>,
    ended: u64,
    events: Vec<Event>,
    unused: usize,
}

/// Everything that can be seen of the policies.
#[derive(PartialEq, Debug)]
struct Seen {
    states: Vec<&'static str>,
    in_flight: u32,
    available: u64,
    counts: Vec<Counts>,
}

impl Side {
    /// Goes through the whole script, on a clock of its own.
    fn play(&self, scripts: &[(Meanwhile, Vec<Act>)]) -> (Vec<Came>, Seen) {
        let clock = pause();
        seed(11);
        ZERO.set(clock.now().0 / 1_000_000);
        CLOCK.set(Some((*clock).clone()));
        let mut others: Vec<Slot<'_>> = Vec::new();
        let came = scripts
            .iter()
            .map(|(meanwhile, acts)| {
                self.happens(*meanwhile, &clock, &mut others);
                SCRIPT.set(acts.iter().copied().collect());
                let outcome = catch_unwind(AssertUnwindSafe(|| (self.call)(&clock))).ok();
                Came {
                    outcome,
                    begun: BEGUN.take(),
                    ended: now_ms(),
                    events: EVENTS.take(),
                    unused: SCRIPT.take().len(),
                }
            })
            .collect();
        drop(others);
        (came, self.seen())
    }

    fn happens(&self, meanwhile: Meanwhile, clock: &ManualClock, others: &mut Vec<Slot<'_>>) {
        let shared = || -> [&dyn Policy; 4] { [self.gateway, self.quota, self.pool, self.budget] };
        match meanwhile {
            Meanwhile::Nothing => {}
            Meanwhile::Passes(ms) => clock.advance(Duration::from_millis(ms)),
            Meanwhile::Others(places) => {
                others.clear();
                others.extend((0..places).map_while(|_| self.pool.acquire().ok()));
            }
            Meanwhile::ForceOpen => self.gateway.force_open(),
            Meanwhile::Close => self.gateway.close(),
            Meanwhile::Drain => self.quota.drain(),
            Meanwhile::Rate(rate) => self.quota.set_rate(Rate::per_second(rate)).unwrap(),
            Meanwhile::Places(places) => self.pool.set_max_concurrent(places).unwrap(),
            Meanwhile::Disable(which, on) => shared()[which].set_enabled(on),
        }
    }

    fn seen(&self) -> Seen {
        let shared: [&dyn Policy; 4] = [self.gateway, self.quota, self.pool, self.budget];
        let mut counts: Vec<_> = shared.map(counts_of).into();
        counts.extend((self.own)());
        Seen {
            states: shared.map(Policy::state).into(),
            in_flight: self.pool.in_flight(),
            available: self.quota.available(),
            counts,
        }
    }
}

/// Scripts of one seed.
fn scripts(seed: u64, calls: usize) -> Vec<(Meanwhile, Vec<Act>)> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut number = 0;
    let mut act = |rng: &mut fastrand::Rng| {
        number += 1;
        let ends = match rng.u32(0..100) {
            0..55 => End::Ok(number),
            55..80 => End::Err(Fault::Down(number)),
            80..86 => End::Err(Fault::Busy(rng.u64(0..80))),
            86..94 => End::Err(Fault::Mine),
            94..97 => End::Err(Fault::Refused(Rejected::new(resil::Reason::LimitReached, "inner"))),
            _ => End::Panics,
        };
        let takes = match rng.u32(0..100) {
            0..40 => 0,
            40..75 => rng.u64(1..30),
            75..90 => rng.u64(35..55),
            90..97 => 50,
            _ => rng.u64(60..250),
        };
        Act { takes, ends }
    };
    (0..calls)
        .map(|_| {
            let meanwhile = match rng.u32(0..100) {
                0..40 => Meanwhile::Nothing,
                40..75 => Meanwhile::Passes(rng.u64(1..150)),
                75..80 => Meanwhile::Passes(rng.u64(300..2_000)),
                80..87 => Meanwhile::Others(rng.usize(0..4)),
                87..88 => Meanwhile::ForceOpen,
                88..91 => Meanwhile::Close,
                91..93 => Meanwhile::Drain,
                93..95 => Meanwhile::Rate(rng.u64(4..40)),
                95..97 => Meanwhile::Places(rng.u32(0..4)),
                97..98 => Meanwhile::Disable(rng.usize(0..4), false),
                _ => Meanwhile::Disable(rng.usize(0..4), true),
            };
            (meanwhile, (0..4).map(|_| act(&mut rng)).collect())
        })
        .collect()
}

/// Plays the same scripts on both sides and compares everything after each seed.
fn compare(attribute: &Side, piped: &Side) {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        set_observer(&Listen).expect("the only observer");
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let said = panic.payload().downcast_ref::<String>();
            if said.is_none_or(|said| said != AS_WRITTEN) {
                report(panic);
            }
        }));
    });
    let mut outcomes = std::collections::BTreeSet::new();
    for seed in 0..12 {
        let scripts = scripts(seed, 400);
        let (by_attribute, seen_by_attribute) = attribute.play(&scripts);
        let (by_pipeline, seen_by_pipeline) = piped.play(&scripts);
        for (index, (a, p)) in by_attribute.iter().zip(&by_pipeline).enumerate() {
            assert_eq!(a, p, "seed {seed}, call {index}: {:?}", scripts[index]);
        }
        assert_eq!(seen_by_attribute, seen_by_pipeline, "seed {seed}");
        outcomes.extend(by_attribute.iter().map(|came| match came.outcome {
            None => "panic".to_owned(),
            Some(Ok(_)) => "ok".to_owned(),
            Some(Err(Fault::Refused(rejected))) => rejected.reason().as_str().to_owned(),
            Some(Err(fault)) => format!("{fault:?}").split('(').next().unwrap().to_owned(),
        }));
    }
    // A script that meets only what succeeds would compare nothing.
    for met in ["panic", "ok", "Down", "Mine", "circuit open", "rate limited", "bulkhead full"] {
        assert!(outcomes.contains(met), "never met: {met}; {outcomes:?}");
    }
}

#[test]
fn a_sync_script_comes_to_the_same_through_attribute_and_pipeline() {
    let attribute = side!(sync_attribute, || made_for("whole"), |_| whole());
    let piped = side!(sync_pipeline, whole_policies::counts, |_| {
        piped!(whole_policies, sync_pipeline).call(body)
    });
    compare(&attribute, &piped);
}

#[test]
fn a_script_without_attempts_comes_to_the_same_through_attribute_and_pipeline() {
    static TIMEOUT: Timeout = Timeout::builder("bare").after(MS.saturating_mul(50)).build();
    let attribute = side!(bare_attribute, || made_for("bare"), |_| bare());
    let piped = side!(bare_pipeline, || vec![counts_of(&TIMEOUT)], |_| {
        Pipeline::new()
            .circuit_breaker(&bare_pipeline::GATEWAY)
            .rate_limiter(&bare_pipeline::QUOTA)
            .cost(2)
            .bulkhead(&bare_pipeline::POOL)
            .timeout(&TIMEOUT)
            .late_is_timeout()
            .call(body)
    });
    compare(&attribute, &piped);
}

#[test]
fn an_async_script_comes_to_the_same_through_attribute_and_pipeline() {
    let attribute =
        side!(async_attribute, || made_for("whole_async"), |clock| { run(clock, whole_async()) });
    let piped = side!(async_pipeline, whole_async_policies::counts, |clock| {
        run(clock, piped!(whole_async_policies, async_pipeline).run(body_async))
    });
    compare(&attribute, &piped);
}

/// One now, and the next one at the end of the deadline.
const fn in_a_tenth_of_a_second() -> RateLimiter {
    let rate = Rate::new(1, MS.saturating_mul(100));
    RateLimiter::builder("late").rate(rate).burst(1).wait(MS.saturating_mul(50)).build()
}

static LATE: RateLimiter = in_a_tenth_of_a_second();

#[test]
fn r12_an_attempt_that_a_gate_lets_in_at_the_deadline_is_not_made_and_hides_no_outcome() {
    type Call = fn(&ManualClock, &'static RateLimiter) -> Result<u32, Fault>;

    static DEADLINE: DeadlineLimit =
        DeadlineLimit::builder("late").after(MS.saturating_mul(100)).build();
    static RETRY: Retry = Retry::builder("late")
        .max_attempts(2)
        .backoff(Backoff::constant(MS.saturating_mul(60)))
        .jitter(Jitter::None)
        .build();
    static QUOTAS: [RateLimiter; 2] = [const { in_a_tenth_of_a_second() }; 2];

    #[resilient(
        deadline = "100ms",
        retry(max = 2, backoff = constant("60ms"), jitter = none),
        rate_limiter = self::LATE,
    )]
    fn late() -> Result<u32, Fault> {
        Err(Fault::Down(1))
    }

    let calls: [Call; 3] = [
        |_, _| late(),
        |_, quota| {
            let piped = Pipeline::new().deadline(&DEADLINE).retry(&RETRY).rate_limiter(quota);
            piped.call(|_| Err(Fault::Down(1)))
        },
        |clock, quota| {
            let piped = Pipeline::new().deadline(&DEADLINE).retry(&RETRY).rate_limiter(quota);
            run(clock, piped.run(|_| ready(Err(Fault::Down(1)))))
        },
    ];
    for (call, quota) in calls.into_iter().zip([&LATE, &QUOTAS[0], &QUOTAS[1]]) {
        let clock = pause();
        assert_eq!(call(&clock, quota), Err(Fault::Down(1)), "what the callee said");
        let (_, _, counts) = counts_of(quota);
        assert!(counts.contains(&("given_back", 1)), "{counts:?}");
    }
}
