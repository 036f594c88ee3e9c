//! How a breaker is built: the defaults and the builder.
//!
//! Invariant: a breaker that exists has options that make sense together; nothing is clamped or ignored.

use super::{BreakerOptions, CircuitBreaker};
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
    min_calls: Option<u32>,
    max_open_for: Option<Nanos>,
    probe_timeout: Option<Nanos>,
}

impl CircuitBreakerBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        let options = BreakerOptions {
            window: DEFAULT_WINDOW,
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
        Self { name, location, options, min_calls: None, max_open_for: None, probe_timeout: None }
    }

    /// Counts the last `calls` outcomes, 1..=1024. Default: 100.
    pub const fn window(mut self, calls: u32) -> Self {
        self.options.window = calls;
        self
    }

    /// Outcomes before a rate counts, 1..=window. Default: 20, or the window if that is smaller.
    pub const fn min_calls(mut self, calls: u32) -> Self {
        self.min_calls = Some(calls);
        self
    }

    /// Opens when this share of the window has failed, above 0. Default: 50 %.
    pub const fn failure_rate(mut self, rate: Ratio) -> Self {
        self.options.failure_rate = rate;
        self
    }

    /// Calls a call slow that takes longer than this. Default: slowness does not count, and no clock is read.
    pub const fn slow_call(mut self, longer_than: Duration) -> Self {
        self.options.slow_call = Nanos::from_duration(longer_than);
        self
    }

    /// Opens when this share of the window was slow, above 0. Default: 100 %.
    pub const fn slow_rate(mut self, rate: Ratio) -> Self {
        self.options.slow_rate = rate;
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
        options.min_calls = match self.min_calls {
            Some(calls) => calls,
            None if options.window < DEFAULT_MIN_CALLS => options.window,
            None => DEFAULT_MIN_CALLS,
        };
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
        let options = self.options();
        if let Err(invalid) = options.check() {
            panic!("{}", invalid.problem());
        }
        CircuitBreaker::with(self.name, self.location, options)
    }

    /// Builds the breaker.
    ///
    /// # Errors
    /// [`InvalidOption`] names the first option that makes no sense.
    pub const fn try_build(self) -> Result<CircuitBreaker, InvalidOption> {
        let options = self.options();
        match options.check() {
            Ok(()) => Ok(CircuitBreaker::with(self.name, self.location, options)),
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
        ];
        for (builder, field) in wrong {
            let invalid =
                builder.try_build().err().unwrap_or_else(|| panic!("{field} was accepted"));
            assert_eq!(invalid.field(), field);
            assert!(invalid.problem().contains(field));
        }
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
