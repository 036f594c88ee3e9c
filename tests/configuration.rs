//! Options at run time (RG19, RT05, TO11, X9, R1): nonsense is refused with its field, and what is written is what is in force.

use resil::__private::DeadlineLimit;
use resil::testing::pause;
use resil::{
    Backoff, CircuitBreaker, InvalidOption, Jitter, Kind, Rate, RateLimiter, Ratio, Retry,
    RetryBudget, Timeout, Value, resilient,
};
use std::panic::catch_unwind;
use std::time::Duration;
use tests::{Fault, setting};

const MS: Duration = Duration::from_millis(1);
const ZERO: Duration = Duration::ZERO;
const DAY: Duration = Duration::from_secs(86_400);

/// Each was not built, for the reason that is named.
fn refuses<P>(built: impl IntoIterator<Item = (Result<P, InvalidOption>, &'static str)>) {
    for (built, field) in built {
        let error = built.err().expect(field);
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
    }
}

#[test]
fn rg19_a_breaker_names_the_field_that_makes_no_sense() {
    let breaker = || CircuitBreaker::builder("rg19");
    let refused = [
        (breaker().window(0), "window"),
        (breaker().window(1_025), "window"),
        (breaker().min_calls(0), "min_calls"),
        (breaker().window(5).min_calls(6), "min_calls"),
        (breaker().failure_rate(Ratio::ZERO), "failure_rate"),
        (breaker().slow_call(ZERO), "slow_call"),
        (breaker().slow_call(MS).slow_rate(Ratio::ZERO), "slow_rate"),
        (breaker().open_for(ZERO), "open_for"),
        (breaker().open_for_exponential(ZERO, 2, MS), "open_for"),
        (breaker().open_for_exponential(2 * MS, 2, MS), "open_for"),
        (breaker().open_for_exponential(MS, 0, MS), "open_for"),
        (breaker().open_for(2 * MS).max_open_for(MS), "open_for"),
        (breaker().probes(0), "probes"),
        (breaker().probes(512), "probes"),
        (breaker().probe_timeout(ZERO), "probe_timeout"),
        (breaker().window_for(ZERO), "window"),
        (breaker().window_for(99 * MS), "window"),
        (breaker().window_for(86_401_000 * MS), "window"),
        (breaker().window_for(Duration::MAX), "window"),
        (breaker().consecutive(0), "consecutive"),
        (breaker().consecutive(1_025), "consecutive"),
        (breaker().consecutive(3).window(10), "window"),
        (breaker().consecutive(3).window_for(1_000 * MS), "window"),
        (breaker().consecutive(3).min_calls(2), "min_calls"),
        (breaker().consecutive(3).failure_rate(Ratio::ONE), "failure_rate"),
        (breaker().slow_call(MS).consecutive(3).slow_rate(Ratio::ONE), "slow_rate"),
    ];
    refuses(refused.map(|(builder, field)| (builder.try_build(), field)));
    let edges = breaker()
        .window(1)
        .min_calls(1)
        .probes(511)
        .failure_rate(Ratio::ONE)
        .open_for(Duration::from_nanos(1));
    assert!(edges.try_build().is_ok(), "the ends of the ranges make sense");
    assert!(
        breaker()
            .window(1_024)
            .min_calls(1_024)
            .probes(1)
            .open_for(Duration::MAX)
            .try_build()
            .is_ok()
    );
}

#[test]
fn rg19_a_limiter_names_the_field_that_makes_no_sense() {
    let limiter = || RateLimiter::builder("rg19");
    let refused = [
        (limiter(), "rate"),
        (limiter().burst(10).wait(MS), "rate"),
        (limiter().rate(Rate::per_second(0)), "rate"),
        (limiter().rate(Rate::new(1, ZERO)), "rate"),
        (limiter().rate(Rate::new(u64::MAX, MS)), "rate"),
        (limiter().rate(Rate::new(1, Duration::MAX)), "rate"),
        (limiter().rate(Rate::per_second(10)).burst(0), "burst"),
        (limiter().rate(Rate::new(1, DAY)).burst(4_000), "burst"),
        (limiter().rate(Rate::per_second(10)).burst(6).shards(4), "burst"),
        (limiter().rate(Rate::per_second(10)).shards(0), "shards"),
        (limiter().rate(Rate::per_second(10)).shards(9), "shards"),
    ];
    refuses(refused.map(|(builder, field)| (builder.try_build(), field)));
    let edges = limiter().rate(Rate::per_second(1_000_000_000)).burst(u32::MAX).wait(Duration::MAX);
    assert!(edges.try_build().is_ok(), "the ends of the ranges make sense");
    assert!(limiter().rate(Rate::new(1, 3_650 * DAY)).try_build().is_ok());
    assert!(limiter().rate(Rate::per_second(8)).burst(8).shards(8).try_build().is_ok());
}

#[test]
fn rg19_a_budget_names_the_field_that_makes_no_sense() {
    let budget = || RetryBudget::builder("rg19");
    let refused = [
        (budget().ttl(ZERO), "ttl"),
        (budget().ttl(99 * MS), "ttl"),
        (budget().ttl(Duration::MAX), "ttl"),
        (budget().min_per_sec(u32::MAX), "min_per_sec"),
    ];
    refuses(refused.map(|(builder, field)| (builder.try_build(), field)));
    assert!(budget().ratio(Ratio::ZERO).min_per_sec(0).ttl(100 * MS).try_build().is_ok());
    assert!(budget().ratio(Ratio::ONE).min_per_sec(0).ttl(DAY).try_build().is_ok());
}

#[test]
fn rg19_a_retry_names_the_field_that_makes_no_sense() {
    let retry = || Retry::builder("rg19");
    let refused = [
        (retry().max_attempts(0), "max_attempts"),
        (retry().max_attempts(3).max_retries(2), "max_retries"),
        (retry().within(ZERO), "within"),
        (retry().backoff(Backoff::table(&[])), "backoff"),
        (retry().backoff(Backoff::exponential(ZERO, MS)), "backoff"),
        (retry().backoff(Backoff::exponential(MS, 2 * MS).factor(0)), "backoff"),
        (retry().jitter(Jitter::PlusMinus(Ratio::ZERO)), "jitter"),
        (retry().backoff(Backoff::constant(MS)).jitter(Jitter::Decorrelated), "jitter"),
    ];
    for (builder, field) in refused {
        assert_eq!(builder.try_build().expect_err(field).field(), field);
    }
    assert!(retry().max_attempts(1).try_build().is_ok());
    assert!(retry().max_attempts(u32::MAX).backoff(Backoff::constant(ZERO)).try_build().is_ok());
}

#[test]
fn rt05_a_cap_below_the_base_is_refused() {
    let backoffs =
        [Backoff::exponential(5_000 * MS, 1_000 * MS), Backoff::linear(5_000 * MS, 1_000 * MS)];
    for backoff in backoffs {
        let error =
            Retry::builder("rt05").backoff(backoff).try_build().expect_err("the cap is lower");
        assert_eq!(error.field(), "backoff");
    }
}

#[test]
fn t05_to11_a_limit_of_zero_is_refused_and_never_means_none() {
    assert_eq!(Timeout::builder("to11").after(ZERO).try_build().unwrap_err().field(), "after");
    assert_eq!(
        DeadlineLimit::builder("to11").after(ZERO).try_build().unwrap_err().field(),
        "after"
    );
}

#[test]
fn rg19_a_ratio_is_between_nothing_and_the_whole() {
    for nonsense in [f64::NAN, -0.1, 1.000_001, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Ratio::try_of(nonsense), None, "{nonsense}");
    }
    assert_eq!(Ratio::try_of(1.0), Some(Ratio::ONE));
    assert!(catch_unwind(|| Ratio::percent(101)).is_err());
}

#[test]
fn x09_rg19_a_duration_has_a_number_and_a_unit_and_nothing_else() {
    let clock = pause();
    for nonsense in [
        "",
        "200",
        "ms",
        "200 ms",
        "1h30m",
        "-5ms",
        "+5ms",
        "1e400s",
        "1e3ms",
        "µs",
        "5µs",
        "5min",
        "5S",
        ".5s",
        "5.s",
        "1,5s",
        "0x5s",
        "99999999999999d",
        "0.5ns",
    ] {
        assert!(
            catch_unwind(std::panic::AssertUnwindSafe(|| clock.advance(nonsense))).is_err(),
            "`{nonsense}`"
        );
    }
}

#[test]
fn x09_every_unit_means_what_it_says() {
    let clock = pause();
    let units = [
        ("7ns", 7),
        ("7us", 7_000),
        ("7ms", 7_000_000),
        ("7s", 7_000_000_000),
        ("7m", 420_000_000_000),
        ("7h", 25_200_000_000_000),
        ("7d", 604_800_000_000_000),
        ("1.5s", 1_500_000_000),
        ("0.25us", 250),
        ("0s", 0),
    ];
    for (written, ns) in units {
        let before = clock.now();
        clock.advance(written);
        assert_eq!(clock.now().since(before).to_duration(), Duration::from_nanos(ns), "{written}");
    }
}

/// The same in the attribute: one timeout a unit.
macro_rules! timeouts {
    ($($name:ident = $written:literal,)*) => {
        $(
            #[resilient(timeout = $written)]
            async fn $name() -> Result<u32, Fault> { Ok(1) }
        )*
        fn all() -> Vec<(&'static str, Value)> {
            $( drop($name()); )*
            vec![$(($written, setting(Kind::Timeout, concat!(module_path!(), "::", stringify!($name)), "after"))),*]
        }
    };
}

timeouts! {
    of_ns = "7ns",
    of_us = "7us",
    of_ms = "7ms",
    of_s = "7s",
    of_m = "7m",
    of_h = "7h",
    of_d = "7d",
    of_decimals = "1.5s",
    of_small_decimals = "0.25us",
}

#[test]
fn x09_the_attribute_reads_units_as_the_test_clock_does() {
    let clock = pause();
    for (written, set) in all() {
        let before = clock.now();
        clock.advance(written);
        assert_eq!(set, Value::Duration(clock.now().since(before).to_duration()), "{written}");
    }
}

#[test]
fn what_is_written_in_the_attribute_is_what_the_catalogue_shows() {
    #[resilient(
        retry(
            max = 4,
            backoff = exponential("20ms", factor = 3, cap = "2s"),
            jitter = plus_minus("25%"),
            within = "30s",
            on_timeout = false,
            on_rejected,
            max_pushback = "7s",
        ),
        circuit_breaker(
            window = 50,
            min_calls = 10,
            failure_rate = "12.5%",
            slow_call = "300ms",
            slow_rate = 0.8,
            open_for = exponential("5s", factor = 2, cap = "5m"),
            jitter = "20%",
            max_open_for = "10m",
            probes = 5,
            probe_timeout = "30s",
        ),
        name = "written"
    )]
    fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    call().unwrap();
    let shown = |kind| {
        let entry = resil::catalog().find(kind, "written").expect("it is listed");
        let settings = entry.settings().into_iter();
        settings
            .map(|setting| format!("{} = {}", setting.name, setting.value))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(
        shown(Kind::Retry),
        "max = 4, backoff = exponential, base = 20ms, factor = 3, cap = 2s, jitter = plus_minus, plus_minus = 25%, \
         within = 30s, on_timeout = false, on_rejected = true, max_pushback = 7s, budget = off"
    );
    assert_eq!(
        shown(Kind::CircuitBreaker),
        "window = 50, min_calls = 10, failure_rate = 12.5%, slow_call = 300ms, slow_rate = 80%, open_for = 5s, \
         open_factor = 2, open_jitter = 20%, max_open_for = 600s, probes = 5, probe_timeout = 30s"
    );
}
