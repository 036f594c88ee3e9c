//! How a rate limiter is built: the defaults and the builder.
//!
//! Invariant: a limiter that exists has a rate, and options that make sense together; nothing is clamped or ignored.

use super::RateLimiter;
use super::options::{LimiterOptions, Start};
use crate::cell::Rate;
use crate::contract::{InvalidOption, Location};
use crate::time::Nanos;
use core::time::Duration;

/// The longest wait for a permit, in time: none. A call that cannot pass now is refused, and told when it could.
pub const DEFAULT_WAIT: Duration = Duration::ZERO;
/// How it starts: full, so that a service which has just come up answers its first callers.
pub const DEFAULT_START: Start = Start::Full;
/// Into how many parts it is divided: one, which is exact.
pub const DEFAULT_SHARDS: u32 = 1;

/// Builds a [`RateLimiter`]; made by [`RateLimiter::builder`].
///
/// Every setter is `const`, named as in the attribute, and documented with its default there.
#[derive(Clone, Copy, Debug)]
#[must_use = "call `build()`"]
pub struct RateLimiterBuilder {
    name: &'static str,
    location: &'static Location<'static>,
    rate: Option<Rate>,
    burst: Option<u32>,
    wait: Duration,
    start: Start,
    shards: u32,
}

impl RateLimiterBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        Self {
            name,
            location,
            rate: None,
            burst: None,
            wait: DEFAULT_WAIT,
            start: DEFAULT_START,
            shards: DEFAULT_SHARDS,
        }
    }

    /// How many permits come in, in which time. Required: a limiter with a silent default limits nothing.
    pub const fn rate(mut self, rate: Rate) -> Self {
        self.rate = Some(rate);
        self
    }

    /// How many may pass at once after a quiet time, at least 1. Default: as many as the rate has in its period, also when the rate
    /// changes.
    pub const fn burst(mut self, permits: u32) -> Self {
        self.burst = Some(permits);
        self
    }

    /// How long a call may wait for its permits. Default: not at all.
    pub const fn wait(mut self, longest: Duration) -> Self {
        self.wait = longest;
        self
    }

    /// Whether the first burst is there at the first call. Default: full.
    pub const fn start(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    /// Divides it into so many parts of `rate / shards` and `burst / shards`, 1..=8, so that threads do not contend for one word.
    /// Default: 1.
    ///
    /// A call takes all its permits from one part: it looks into that of its thread first, and into the others if that is empty. So
    /// a call may cost `burst / shards` at most, and waiters of different parts do not know of each other.
    pub const fn shards(mut self, shards: u32) -> Self {
        self.shards = shards;
        self
    }

    /// The options as they will be, defaults filled in.
    #[doc(hidden)]
    pub const fn options(&self) -> LimiterOptions {
        let rate = match self.rate {
            Some(rate) => rate,
            None => Rate::per_second(0),
        };
        let burst = match self.burst {
            Some(burst) => burst,
            None => LimiterOptions::default_burst(rate, self.shards),
        };
        let wait = Nanos::from_duration(self.wait);
        LimiterOptions { rate, burst, wait, start: self.start, shards: self.shards }
    }

    const fn check(&self) -> Result<LimiterOptions, InvalidOption> {
        if self.rate.is_none() {
            return Err(InvalidOption::new("rate", "`rate` must be given: how many in which time"));
        }
        let options = self.options();
        match options.check() {
            Ok(()) => Ok(options),
            Err(invalid) => Err(invalid),
        }
    }

    /// Builds the limiter.
    ///
    /// # Panics
    /// Where [`try_build`](Self::try_build) errs; in a `static` that is a compile error.
    pub const fn build(self) -> RateLimiter {
        match self.check() {
            Ok(options) => {
                RateLimiter::with(self.name, self.location, options, self.burst.is_none())
            }
            Err(invalid) => panic!("{}", invalid.problem()),
        }
    }

    /// Builds the limiter.
    ///
    /// # Errors
    /// [`InvalidOption`] names the first option that makes no sense.
    pub const fn try_build(self) -> Result<RateLimiter, InvalidOption> {
        match self.check() {
            Ok(options) => {
                Ok(RateLimiter::with(self.name, self.location, options, self.burst.is_none()))
            }
            Err(invalid) => Err(invalid),
        }
    }
}
