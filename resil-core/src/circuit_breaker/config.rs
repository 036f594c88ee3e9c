//! How a breaker is built: the defaults and the builder.
//!
//! Invariant: a breaker that exists has options that make sense together; nothing is clamped or ignored.

use super::criterion::meaningless;
use super::{BreakerOptions, CircuitBreaker, Criterion};
use crate::contract::{InvalidOption, Location, Ratio};
use crate::time::Nanos;
use core::time::Duration;

/// Calls in the window: what users of Resilience4j know.
pub const DEFAULT_WINDOW: u32 = 100;
/// Outcomes before a rate counts, or the window if that is smaller: a hundred would be blind to small traffic.
pub const DEFAULT_MIN_CALLS: u32 = 20;
/// Share of failures that opens: common ground of the field.
pub const DEFAULT_FAILURE_RATE: Ratio = Ratio::percent(50);
/// Share of slow calls that opens, once `slow_call` is set: one fast call keeps the breaker closed.
pub const DEFAULT_SLOW_RATE: Ratio = Ratio::ONE;
/// How long it stays open: quick to notice a recovery.
pub const DEFAULT_OPEN_FOR: Duration = Duration::from_secs(10);
/// Cap of growing waits and of the callee's hints: a hostile hint must not close the shop.
pub const DEFAULT_MAX_OPEN_FOR: Duration = Duration::from_secs(300);
/// Probes in half-open: survives one blip.
pub const DEFAULT_PROBES: u32 = 3;
/// Shortest default of `probe_timeout`, which is `open_for` where that is longer: never stuck.
pub const DEFAULT_PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Builds a [`CircuitBreaker`]; made by [`CircuitBreaker::builder`].
///
/// Every setter is `const`, named as in the attribute, and documented with its default there.
#[derive(Clone, Copy, Debug)]
#[must_use = "call `build()`"]
pub struct CircuitBreakerBuilder {
    name: &'static str,
    location: &'static Location<'static>,
    options: BreakerOptions,
    /// What was written, where that decides whether it makes sense.
    window: Option<Criterion>,
    min_calls: Option<u32>,
    failure_rate: Option<Ratio>,
    slow_rate: Option<Ratio>,
    max_open_for: Option<Nanos>,
    probe_timeout: Option<Nanos>,
}

impl CircuitBreakerBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        let options = BreakerOptions {
            criterion: Criterion::Calls(DEFAULT_WINDOW),
            min_calls: DEFAULT_MIN_CALLS,
            failure_rate: DEFAULT_FAILURE_RATE,
            slow_call: Nanos::MAX,
            slow_rate: DEFAULT_SLOW_RATE,
            open_for: Nanos::from_duration(DEFAULT_OPEN_FOR),
            open_factor: 1,
            open_cap: Nanos::MAX,
            open_jitter: Ratio::ZERO,
            max_open_for: Nanos::ZERO,
            probes: DEFAULT_PROBES,
            probe_timeout: Nanos::ZERO,
        };
        Self {
            name,
            location,
            options,
            window: None,
            min_calls: None,
            failure_rate: None,
            slow_rate: None,
            max_open_for: None,
            probe_timeout: None,
        }
    }

    /// Counts the last `calls` outcomes, 1..=1024. Default: 100.
    pub const fn window(mut self, calls: u32) -> Self {
        self.window = Some(Criterion::Calls(calls));
        self
    }

    /// Counts the outcomes of the last `span` instead, 100 ms..=24 h.
    ///
    /// It is cut into ten buckets of whole milliseconds: an outcome counts for at least nine tenths of the span and never for
    /// longer, give or take a tick of the coarse clock (4 ms, at most 10).
    pub const fn window_for(mut self, span: Duration) -> Self {
        self.window = Some(Criterion::Time(Nanos::from_duration(span)));
        self
    }

    /// Opens after this many failures in a row, 1..=1024, instead of looking at a window. A success ends the row, an ignored
    /// outcome does not; where `slow_call` is set, a slow call is as bad as a failed one, of a probe as well.
    ///
    /// Rates have no meaning then: `window`, `min_calls`, `failure_rate` or `slow_rate` beside it are an error. Half-open
    /// goes by the default failure rate.
    pub const fn consecutive(mut self, failures: u32) -> Self {
        self.options.criterion = Criterion::Consecutive(failures);
        self
    }

    /// Outcomes before a rate counts, 1..=window. Default: 20, or the window if that is fewer calls.
    pub const fn min_calls(mut self, calls: u32) -> Self {
        self.min_calls = Some(calls);
        self
    }

    /// Opens when this share of the window has failed, above 0. Default: 50 %.
    pub const fn failure_rate(mut self, rate: Ratio) -> Self {
        self.failure_rate = Some(rate);
        self
    }

    /// Calls a call slow that takes longer than this. Default: slowness does not count, and no clock is read.
    pub const fn slow_call(mut self, longer_than: Duration) -> Self {
        self.options.slow_call = Nanos::from_duration(longer_than);
        self
    }

    /// Opens when this share of the window was slow, above 0. Default: 100 %.
    pub const fn slow_rate(mut self, rate: Ratio) -> Self {
        self.slow_rate = Some(rate);
        self
    }

    /// Stays open for this long, above 0. Default: 10 s.
    pub const fn open_for(mut self, wait: Duration) -> Self {
        self.options.open_for = Nanos::from_duration(wait);
        self.options.open_factor = 1;
        self.options.open_cap = Nanos::MAX;
        self
    }

    /// Stays open for `first`, then `factor` times as long each time it opens again before it was closed for a full
    /// window, up to `cap`.
    pub const fn open_for_exponential(
        mut self,
        first: Duration,
        factor: u32,
        cap: Duration,
    ) -> Self {
        self.options.open_for = Nanos::from_duration(first);
        self.options.open_factor = factor;
        self.options.open_cap = Nanos::from_duration(cap);
        self
    }

    /// Spreads each wait by up to this share, so that clients do not come back together. Default: 0.
    pub const fn open_jitter(mut self, share: Ratio) -> Self {
        self.options.open_jitter = share;
        self
    }

    /// Caps growing waits and the callee's hints. Default: 5 min, or `open_for` if that is longer.
    pub const fn max_open_for(mut self, cap: Duration) -> Self {
        self.max_open_for = Some(Nanos::from_duration(cap));
        self
    }

    /// Admits this many calls in half-open, 1..=511. Default: 3.
    pub const fn probes(mut self, probes: u32) -> Self {
        self.options.probes = probes;
        self
    }

    /// Opens again when a probe is out for longer than this. Default: `open_for`, at least 10 s.
    pub const fn probe_timeout(mut self, longest: Duration) -> Self {
        self.probe_timeout = Some(Nanos::from_duration(longest));
        self
    }

    /// The options as they will be, defaults filled in.
    #[doc(hidden)]
    pub const fn options(&self) -> BreakerOptions {
        let mut options = self.options;
        if let (true, Some(window)) = (options.criterion.has_rates(), self.window) {
            options.criterion = window;
        }
        options.min_calls = match (self.min_calls, options.criterion) {
            (Some(calls), _) => calls,
            (None, Criterion::Calls(window)) if window < DEFAULT_MIN_CALLS => window,
            (None, _) => DEFAULT_MIN_CALLS,
        };
        if let Some(rate) = self.failure_rate {
            options.failure_rate = rate;
        }
        if let Some(rate) = self.slow_rate {
            options.slow_rate = rate;
        }
        options.max_open_for = match self.max_open_for {
            Some(cap) => cap,
            None => later(options.open_for, Nanos::from_duration(DEFAULT_MAX_OPEN_FOR)),
        };
        options.probe_timeout = match self.probe_timeout {
            Some(longest) => longest,
            None => later(options.open_for, Nanos::from_duration(DEFAULT_PROBE_TIMEOUT)),
        };
        options
    }

    /// Builds the breaker.
    ///
    /// # Panics
    /// Where [`try_build`](Self::try_build) errs; in a `static` that is a compile error.
    pub const fn build(self) -> CircuitBreaker {
        match self.checked() {
            Ok(options) => CircuitBreaker::with(self.name, self.location, options),
            Err(invalid) => panic!("{}", invalid.problem()),
        }
    }

    /// Builds the breaker.
    ///
    /// # Errors
    /// [`InvalidOption`] names the first option that makes no sense, or has no meaning beside `consecutive`.
    pub const fn try_build(self) -> Result<CircuitBreaker, InvalidOption> {
        match self.checked() {
            Ok(options) => Ok(CircuitBreaker::with(self.name, self.location, options)),
            Err(invalid) => Err(invalid),
        }
    }

    const fn checked(&self) -> Result<BreakerOptions, InvalidOption> {
        let options = self.options();
        let written = [
            (self.window.is_some(), meaningless::WINDOW),
            (self.min_calls.is_some(), meaningless::MIN_CALLS),
            (self.failure_rate.is_some(), meaningless::FAILURE_RATE),
            (self.slow_rate.is_some(), meaningless::SLOW_RATE),
        ];
        let mut index = 0;
        while !options.criterion.has_rates() && index < written.len() {
            if written[index].0 {
                return Err(written[index].1);
            }
            index += 1;
        }
        match options.check() {
            Ok(()) => Ok(options),
            Err(invalid) => Err(invalid),
        }
    }
}

const fn later(a: Nanos, b: Nanos) -> Nanos {
    if a.0 > b.0 { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn builder() -> CircuitBreakerBuilder {
        CircuitBreaker::builder("test")
    }

    #[test]
    fn rg19_nonsense_is_refused_by_the_name_of_its_field() {
        let wrong = [
            (builder().window(0), "window"),
            (builder().window(1025), "window"),
            (builder().min_calls(0), "min_calls"),
            (builder().window(10).min_calls(11), "min_calls"),
            (builder().failure_rate(Ratio::ZERO), "failure_rate"),
            (builder().slow_call(Duration::ZERO), "slow_call"),
            (builder().slow_rate(Ratio::ZERO), "slow_rate"),
            (builder().open_for(Duration::ZERO), "open_for"),
            (builder().open_for_exponential(SECOND, 0, SECOND), "open_for"),
            (builder().open_for_exponential(SECOND * 2, 2, SECOND), "open_for"),
            (builder().open_for(SECOND * 2).max_open_for(SECOND), "open_for"),
            (builder().probes(0), "probes"),
            (builder().probes(512), "probes"),
            (builder().probe_timeout(Duration::ZERO), "probe_timeout"),
            (builder().window_for(Duration::from_millis(99)), "window"),
            (builder().window_for(Duration::from_secs(86_401)), "window"),
            (builder().window_for(Duration::MAX), "window"),
            (builder().window_for(SECOND).min_calls(0), "min_calls"),
            (builder().consecutive(0), "consecutive"),
            (builder().consecutive(1025), "consecutive"),
            (builder().consecutive(5).slow_call(Duration::ZERO), "slow_call"),
        ];
        for (builder, field) in wrong {
            let invalid =
                builder.try_build().err().unwrap_or_else(|| panic!("{field} was accepted"));
            assert_eq!(invalid.field(), field);
            assert!(invalid.problem().contains(field));
        }
    }

    #[test]
    fn rates_beside_failures_in_a_row_are_a_contradiction_in_any_order() {
        let half = Ratio::percent(50);
        let wrong = [
            (builder().window(5).consecutive(5), "window"),
            (builder().consecutive(5).window_for(SECOND), "window"),
            (builder().consecutive(5).min_calls(2), "min_calls"),
            (builder().failure_rate(half).consecutive(5), "failure_rate"),
            (builder().slow_call(SECOND).slow_rate(half).consecutive(5), "slow_rate"),
        ];
        for (builder, field) in wrong {
            let invalid = builder.try_build().expect_err(field);
            assert_eq!(invalid.field(), field);
            assert!(invalid.problem().contains("`consecutive`"), "{invalid}");
        }
        assert!(builder().consecutive(5).slow_call(SECOND).try_build().is_ok());
    }

    #[test]
    fn the_last_window_is_the_one_that_counts() {
        let time = Criterion::Time(Nanos::from_ms(1_000));
        assert_eq!(builder().window(5).window_for(SECOND).options().criterion, time);
        assert_eq!(builder().window_for(SECOND).options().min_calls, 20);
        let calls = builder().window_for(SECOND).window(5).options();
        assert_eq!((calls.criterion, calls.min_calls), (Criterion::Calls(5), 5));
    }

    /// What `CircuitBreaker` says of itself.
    #[test]
    fn a_breaker_is_2_9_kilobytes() {
        assert!(size_of::<CircuitBreaker>() < 2_950, "{}", size_of::<CircuitBreaker>());
    }

    #[test]
    fn defaults_follow_what_is_written() {
        assert_eq!(builder().options().min_calls, 20);
        assert_eq!(builder().window(5).options().min_calls, 5);
        assert_eq!(builder().options().probe_timeout, Nanos::from_ms(10_000));
        assert_eq!(builder().open_for(SECOND * 60).options().probe_timeout, Nanos::from_ms(60_000));
        assert_eq!(
            builder().open_for(SECOND * 600).options().max_open_for,
            Nanos::from_ms(600_000)
        );
        assert!(builder().open_for(SECOND * 600).try_build().is_ok());
    }

    #[test]
    fn b17_a_hint_lengthens_the_wait_up_to_the_cap() {
        let options = builder().open_for(SECOND * 10).max_open_for(SECOND * 60).options();
        assert_eq!(options.open_wait(0, None), Nanos::from_ms(10_000));
        assert_eq!(options.open_wait(0, Some(SECOND * 3)), Nanos::from_ms(10_000));
        assert_eq!(options.open_wait(0, Some(SECOND * 30)), Nanos::from_ms(30_000));
        assert_eq!(options.open_wait(0, Some(Duration::MAX)), Nanos::from_ms(60_000));
    }

    #[test]
    fn waits_grow_to_their_cap_and_spread_below_it() {
        let growing = builder().open_for_exponential(SECOND * 5, 2, SECOND * 60);
        let waits = [0, 1, 2, 3, 4, u32::MAX]
            .map(|n| growing.options().open_wait(n, None).0 / 1_000_000_000);
        assert_eq!(waits, [5, 10, 20, 40, 60, 60]);

        crate::rng::seed(1);
        let spread = growing.open_jitter(Ratio::percent(20)).max_open_for(SECOND * 60).options();
        let draws: Vec<u64> = (0..1_000).map(|_| spread.open_wait(9, None).0).collect();
        let (least, most) = (draws.iter().min().unwrap(), draws.iter().max().unwrap());
        assert!(*most <= 60_000_000_000, "no wait exceeds max_open_for");
        assert!(most - least > 10_000_000_000, "waits at the cap still spread");
    }
}
