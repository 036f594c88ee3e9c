//! Bad input at run time (RG19), for every policy that changes while it works: an error that names the field, nothing changed,
//! nothing lost. What looks odd and makes sense (huge spans, the ends of the ranges) is taken.

use resil::testing::pause;
use resil::{
    Budget, Bulkhead, CircuitBreaker, Entry, InvalidOption, Policy, Rate, RateLimiter, Ratio,
    Reason, RetryBudget, State, Withdrawal,
};
use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tests::breaker::{fail, half_open, succeed};

const NS: Duration = Duration::from_nanos(1);
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);

const fn ns(ns: u64) -> Duration {
    Duration::from_nanos(ns)
}

/// A change, and the field that an error about it names.
type Refused<P> = (&'static str, fn(&P) -> Result<(), InvalidOption>);

/// Settings, counters, state: all that the catalogue shows.
fn shown(policy: &dyn Policy) -> Vec<String> {
    let mut shown = vec![policy.state().to_owned()];
    policy.settings(&mut |setting| shown.push(format!("{} = {}", setting.name, setting.value)));
    policy.counters(&mut |counter| shown.push(format!("{} = {}", counter.name, counter.value)));
    shown
}

/// Tries each change on a policy in the middle of its work; `standing` is what it stands to lose.
fn refuses<P: Policy, S: PartialEq + Debug>(
    policy: &P,
    standing: impl Fn(&P) -> S,
    changes: &[Refused<P>],
) {
    for (field, change) in changes {
        let before = (shown(policy), standing(policy));
        let error = change(policy).expect_err(field);
        assert_eq!(error.field(), *field, "{error}");
        assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
        assert_eq!((shown(policy), standing(policy)), before, "after: {error}");
    }
}

// ---- circuit breaker ------------------------------------------------------------------------------------------------------

fn window(breaker: &CircuitBreaker) -> (State, u32, resil::Window) {
    (breaker.state(), breaker.generation(), breaker.window())
}

const OF_EVERY_BREAKER: &[Refused<CircuitBreaker>] = &[
    ("slow_call", |breaker| breaker.set_slow_call(Some(Duration::ZERO))),
    ("open_for", |breaker| breaker.set_open_for(Duration::ZERO)),
    ("open_for", |breaker| breaker.set_open_for(301 * SECOND)),
    ("open_for", |breaker| breaker.set_open_for(Duration::MAX)),
    ("open_for", |breaker| breaker.set_open_for_exponential(Duration::ZERO, 2, SECOND)),
    ("open_for", |breaker| breaker.set_open_for_exponential(SECOND, 0, SECOND)),
    ("open_for", |breaker| breaker.set_open_for_exponential(SECOND, 2, ns(999_999_999))),
    ("open_for", |breaker| breaker.set_max_open_for(Duration::ZERO)),
    ("open_for", |breaker| breaker.set_max_open_for(ns(9_999_999_999))),
    ("probes", |breaker| breaker.set_probes(0)),
    ("probes", |breaker| breaker.set_probes(512)),
    ("probes", |breaker| breaker.set_probes(u32::MAX)),
    ("probe_timeout", |breaker| breaker.set_probe_timeout(Duration::ZERO)),
];

const OF_BREAKERS_WITH_RATES: &[Refused<CircuitBreaker>] = &[
    ("min_calls", |breaker| breaker.set_min_calls(0)),
    ("failure_rate", |breaker| breaker.set_failure_rate(Ratio::ZERO)),
    ("slow_rate", |breaker| breaker.set_slow_rate(Ratio::ZERO)),
    ("consecutive", |breaker| breaker.set_consecutive(3)),
];

#[test]
fn rg19_a_breaker_with_a_window_of_calls_refuses_what_makes_no_sense_and_loses_nothing() {
    let clock = pause();
    let breaker = tests::breaker::builder("calls").build();
    succeed(&breaker, 1);
    let changes: &[Refused<CircuitBreaker>] = &[
        ("window", |breaker| breaker.set_window(0)),
        ("window", |breaker| breaker.set_window(1_025)),
        ("window", |breaker| breaker.set_window(u32::MAX)),
        ("window", |breaker| breaker.set_window_for(SECOND)),
        ("min_calls", |breaker| breaker.set_window(1)),
        ("min_calls", |breaker| breaker.set_min_calls(5)),
        ("min_calls", |breaker| breaker.set_min_calls(u32::MAX)),
    ];
    let all = || [OF_EVERY_BREAKER, OF_BREAKERS_WITH_RATES, changes].concat();
    refuses(&breaker, window, &all());
    breaker.reset();
    half_open(&breaker, &clock);
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::HalfOpen);
    refuses(&breaker, window, &all());
    succeed(&breaker, 1);
    assert_eq!(breaker.state(), State::Closed, "the probe that was in still counts");
}

#[test]
fn rg19_a_breaker_with_a_window_of_time_refuses_what_makes_no_sense_and_loses_nothing() {
    let _clock = pause();
    let breaker = CircuitBreaker::builder("time").window_for(SECOND).min_calls(4).build();
    fail(&breaker, 3);
    let changes: &[Refused<CircuitBreaker>] = &[
        ("window", |breaker| breaker.set_window_for(Duration::ZERO)),
        ("window", |breaker| breaker.set_window_for(ns(99_999_999))),
        ("window", |breaker| breaker.set_window_for(DAY + NS)),
        ("window", |breaker| breaker.set_window_for(Duration::MAX)),
        ("window", |breaker| breaker.set_window(100)),
    ];
    refuses(&breaker, window, &[OF_EVERY_BREAKER, OF_BREAKERS_WITH_RATES, changes].concat());
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "the first three still count");
}

#[test]
fn rg19_a_breaker_that_goes_by_failures_in_a_row_refuses_what_makes_no_sense_and_loses_nothing() {
    let _clock = pause();
    let breaker = CircuitBreaker::builder("row").consecutive(4).build();
    fail(&breaker, 3);
    let changes: &[Refused<CircuitBreaker>] = &[
        ("consecutive", |breaker| breaker.set_consecutive(0)),
        ("consecutive", |breaker| breaker.set_consecutive(1_025)),
        ("window", |breaker| breaker.set_window(100)),
        ("window", |breaker| breaker.set_window_for(SECOND)),
        ("min_calls", |breaker| breaker.set_min_calls(1)),
        ("failure_rate", |breaker| breaker.set_failure_rate(Ratio::ONE)),
        ("slow_rate", |breaker| breaker.set_slow_rate(Ratio::ONE)),
    ];
    refuses(&breaker, window, &[OF_EVERY_BREAKER, changes].concat());
    fail(&breaker, 1);
    assert_eq!(breaker.state(), State::Open, "the row goes on");
}

#[test]
fn a_breaker_takes_the_ends_of_the_ranges_and_spans_beyond_all_measure() {
    let clock = pause();
    let breaker = tests::breaker::builder("ends").build();
    breaker.set_window(1_024).unwrap();
    breaker.set_min_calls(1_024).unwrap();
    breaker.set_min_calls(1).unwrap();
    breaker.set_window(1).unwrap();
    breaker.set_failure_rate(Ratio::from_millionths(1)).unwrap();
    breaker.set_slow_rate(Ratio::ONE).unwrap();
    breaker.set_slow_call(Some(Duration::MAX)).unwrap();
    breaker.set_open_jitter(Ratio::ONE).unwrap();
    breaker.set_open_jitter(Ratio::ZERO).unwrap();
    breaker.set_max_open_for(Duration::MAX).unwrap();
    breaker.set_open_for(Duration::MAX).unwrap();
    breaker.set_probe_timeout(Duration::MAX).unwrap();
    breaker.set_probes(511).unwrap();
    fail(&breaker, 1);
    clock.advance("365d");
    assert_eq!(breaker.acquire().unwrap_err().reason(), Reason::CircuitOpen);
    breaker.set_open_for(NS).unwrap();
    breaker.reset();
    fail(&breaker, 1);
    clock.advance("1ms");
    assert!(breaker.acquire().is_ok(), "the shortest wait ends");
    let by_time = CircuitBreaker::builder("ends_of_time").window_for(SECOND).build();
    by_time.set_window_for(DAY).unwrap();
    by_time.set_window_for(100 * MS).unwrap();
    by_time.set_min_calls(u32::MAX).unwrap();
}

// ---- rate limiter ---------------------------------------------------------------------------------------------------------

#[test]
fn rg19_a_limiter_refuses_what_makes_no_sense_and_loses_nothing() {
    let _clock = pause();
    let limiter = RateLimiter::builder("limiter").rate(Rate::per_second(10)).burst(10).build();
    limiter.acquire_many(4).unwrap();
    let changes: &[Refused<RateLimiter>] = &[
        ("rate", |limiter| limiter.set_rate(Rate::per_second(0))),
        ("rate", |limiter| limiter.set_rate(Rate::new(0, Duration::ZERO))),
        ("rate", |limiter| limiter.set_rate(Rate::new(1, Duration::ZERO))),
        ("rate", |limiter| limiter.set_rate(Rate::new(2, NS))),
        ("rate", |limiter| limiter.set_rate(Rate::new(u64::MAX, SECOND))),
        ("rate", |limiter| limiter.set_rate(Rate::new(1, 3_651 * DAY))),
        ("rate", |limiter| limiter.set_rate(Rate::new(1, Duration::MAX))),
        ("burst", |limiter| limiter.set_burst(0)),
        // Alone it makes sense; with this burst it would take 40 years to fill.
        ("burst", |limiter| limiter.set_rate(Rate::new(1, 1_460 * DAY))),
    ];
    refuses(&limiter, RateLimiter::available, changes);
    assert_eq!(limiter.available(), 6);

    let sharded = RateLimiter::builder("sharded").rate(Rate::per_second(8)).shards(4).build();
    refuses(&sharded, RateLimiter::available, &[("burst", |limiter| limiter.set_burst(6))]);
}

#[test]
fn l05_a_cost_that_can_never_be_paid_is_refused_for_ever_and_costs_nothing() {
    let clock = pause();
    let limiter =
        RateLimiter::builder("cost").rate(Rate::per_second(10)).burst(10).wait(DAY).build();
    for cost in [11, 1_000, u32::MAX] {
        let refused =
            [limiter.acquire_many(cost), limiter.enter(cost, resil::Deadline::NEVER).map(drop)];
        for refused in refused {
            let refused = refused.unwrap_err();
            assert_eq!((refused.is_never(), refused.policy()), (true, "cost"), "{refused}");
        }
    }
    assert_eq!(limiter.available(), 10);
    limiter.set_burst(5).unwrap();
    assert!(limiter.acquire_many(6).unwrap_err().is_never(), "of the burst as it is now");
    limiter.set_burst(6).unwrap();
    clock.advance("1s");
    limiter.acquire_many(6).unwrap();
}

#[test]
fn a_limiter_takes_the_ends_of_the_ranges_and_spans_beyond_all_measure() {
    let clock = pause();
    let limiter = RateLimiter::builder("ends").rate(Rate::per_second(1)).build();
    limiter.set_wait(Duration::MAX).unwrap();
    limiter.set_wait(Duration::ZERO).unwrap();
    limiter.set_rate(Rate::new(1, 3_650 * DAY)).unwrap();
    limiter.acquire().unwrap();
    assert!(!limiter.acquire().unwrap_err().is_never());
    limiter.set_rate(Rate::per_second(1_000_000_000)).unwrap();
    limiter.set_burst(u32::MAX).unwrap();
    clock.advance("5s");
    limiter.acquire_many(u32::MAX).unwrap();
}

// ---- bulkhead -------------------------------------------------------------------------------------------------------------

#[test]
fn rg19_a_bulkhead_refuses_what_makes_no_sense_and_loses_nothing() {
    let pool = Bulkhead::builder("pool").max_concurrent(3).build();
    let inside = [pool.acquire().unwrap(), pool.acquire().unwrap()];
    let changes: &[Refused<Bulkhead>] = &[
        ("max_concurrent", |pool| pool.set_max_concurrent((1 << 30) + 1)),
        ("max_concurrent", |pool| pool.set_max_concurrent(u32::MAX)),
        ("queue", |pool| pool.set_queue((1 << 30) + 1)),
        ("queue", |pool| pool.set_queue(u32::MAX)),
    ];
    refuses(&pool, |pool| (pool.in_flight(), pool.available(), pool.waiting()), changes);
    drop(inside);
    assert_eq!((pool.in_flight(), pool.available()), (0, 3));
}

#[test]
fn a_bulkhead_takes_the_ends_of_the_ranges_and_spans_beyond_all_measure() {
    let pool = Bulkhead::builder("ends").max_concurrent(3).build();
    let inside = pool.acquire().unwrap();
    pool.set_max_concurrent(0).unwrap();
    assert!(pool.acquire().is_err());
    pool.set_queue(0).unwrap();
    pool.set_queue(1 << 30).unwrap();
    pool.set_wait(Duration::MAX).unwrap();
    pool.set_max_concurrent(1 << 30).unwrap();
    assert_eq!((pool.in_flight(), pool.available()), (1, (1 << 30) - 1));
    drop(inside);
}

// ---- retry budget ---------------------------------------------------------------------------------------------------------

#[test]
fn rg19_a_budget_refuses_what_makes_no_sense_and_loses_nothing() {
    let _clock = pause();
    let budget = RetryBudget::builder("budget").build();
    assert_eq!(budget.withdraw(), Withdrawal::Taken);
    let changes: &[Refused<RetryBudget>] = &[
        ("ttl", |budget| budget.set_ttl(Duration::ZERO)),
        ("ttl", |budget| budget.set_ttl(ns(99_999_999))),
        ("ttl", |budget| budget.set_ttl(DAY + NS)),
        ("ttl", |budget| budget.set_ttl(Duration::MAX)),
        ("min_per_sec", |budget| budget.set_min_per_sec(u32::MAX)),
        // More would be saved up than is ever meant.
        ("min_per_sec", |budget| budget.set_ttl(DAY)),
    ];
    refuses(&budget, RetryBudget::balance, changes);
    assert_eq!(budget.balance(), 99);
}

#[test]
fn a_budget_takes_the_ends_of_the_ranges() {
    let _clock = pause();
    let budget = RetryBudget::builder("ends").build();
    budget.set_ratio(Ratio::ZERO).unwrap();
    budget.set_ratio(Ratio::ONE).unwrap();
    budget.set_min_per_sec(0).unwrap();
    budget.set_ttl(DAY).unwrap();
    budget.set_ttl(100 * MS).unwrap();
    budget.set_min_per_sec(600_000).unwrap();
}

// ---- all of them ----------------------------------------------------------------------------------------------------------

/// What is not between nothing and the whole is no ratio, so no option ever sees it.
#[test]
fn rg19_what_is_no_number_is_no_ratio() {
    for nonsense in [
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -f64::MIN_POSITIVE,
        1.0 + f64::EPSILON * 1e9,
    ] {
        assert_eq!(Ratio::try_of(nonsense), None, "{nonsense}");
    }
}

#[test]
fn rg19_every_setter_is_tried_here() {
    let here = include_str!("bad_input.rs");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../resil-core/src");
    let mut setters = 0;
    for policy in fs::read_dir(sources).unwrap() {
        let Ok(text) = fs::read_to_string(policy.unwrap().path().join("operate.rs")) else {
            continue;
        };
        for (at, _) in text.match_indices("pub fn set_") {
            let setter = text[at + 7..].split('(').next().expect("a name");
            assert!(here.contains(&format!(".{setter}(")), "nobody tries `{setter}`");
            setters += 1;
        }
    }
    assert!(setters >= 20, "they have moved: {setters}");
}

#[test]
fn what_is_set_through_the_catalogue_is_refused_in_the_same_words() {
    static POOL: Bulkhead = Bulkhead::builder("by_handle").max_concurrent(3).build();
    resil::register!(POOL);
    let handle = resil::catalog().find(resil::Kind::Bulkhead, "by_handle").expect("it is listed");
    let error = Entry::bulkhead(&handle).unwrap().set_queue(u32::MAX).unwrap_err();
    assert_eq!(error, POOL.set_queue(u32::MAX).unwrap_err());
    assert!(handle.to_string().contains("queue = 3"), "{handle}");
}
