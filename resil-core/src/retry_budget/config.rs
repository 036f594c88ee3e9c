//! How a retry budget is built: the defaults and the builder.
//!
//! Invariant: a budget that exists has options that make sense together; nothing is clamped or ignored.

use super::{BudgetOptions, RetryBudget};
use crate::contract::{InvalidOption, Location, Ratio};
use crate::time::Nanos;
use core::time::Duration;

/// What a first attempt deposits, of a retry: while everything fails, retries add a fifth to the load.
pub const DEFAULT_RATIO: Ratio = Ratio::percent(20);
/// Retries a second whatever the traffic: a client with little of it may retry as well, and harms nobody.
pub const DEFAULT_MIN_PER_SEC: u32 = 10;
/// How long deposits are remembered: as long as a blip lasts. Good traffic of an hour ago pays for nothing.
pub const DEFAULT_TTL: Duration = Duration::from_secs(10);

/// Builds a [`RetryBudget`]; made by [`RetryBudget::builder`].
///
/// Every setter is `const`, named as in the attribute, and documented with its default there.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{Ratio, RetryBudget};
///
/// static BUDGET: RetryBudget =
///     RetryBudget::builder("budget").ratio(Ratio::percent(10)).min_per_sec(5).build();
/// assert_eq!(BUDGET.balance(), 50, "what is saved up in a `ttl`");
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "call `build()`"]
pub struct RetryBudgetBuilder {
    name: &'static str,
    location: &'static Location<'static>,
    options: BudgetOptions,
}

impl RetryBudgetBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        let options = BudgetOptions {
            ratio: DEFAULT_RATIO,
            min_per_sec: DEFAULT_MIN_PER_SEC,
            ttl: Nanos::from_duration(DEFAULT_TTL),
        };
        Self { name, location, options }
    }

    /// What the first attempt of a call deposits, of a retry, 0..=100 %. Default: 20 %. With 0 only time pays for retries.
    pub const fn ratio(mut self, ratio: Ratio) -> Self {
        self.options.ratio = ratio;
        self
    }

    /// Retries a second that are granted whatever the traffic, saved up for a `ttl`, at most 65536 in it. Default: 10. With 0
    /// only calls pay for retries, and with a `ratio` of 0 as well nothing is retried.
    pub const fn min_per_sec(mut self, retries: u32) -> Self {
        self.options.min_per_sec = retries;
        self
    }

    /// How long deposits are remembered, 100 ms to a day. Default: 10 s.
    pub const fn ttl(mut self, ttl: Duration) -> Self {
        self.options.ttl = Nanos::from_duration(ttl);
        self
    }

    /// The options as they will be, defaults filled in.
    #[doc(hidden)]
    pub const fn options(&self) -> BudgetOptions {
        self.options
    }

    /// Builds the budget.
    ///
    /// # Panics
    /// Where [`try_build`](Self::try_build) errs; in a `static` that is a compile error.
    pub const fn build(self) -> RetryBudget {
        if let Err(invalid) = self.options.check() {
            panic!("{}", invalid.problem());
        }
        RetryBudget::with(self.name, self.location, self.options)
    }

    /// Builds the budget.
    ///
    /// # Errors
    /// [`InvalidOption`] names the first option that makes no sense.
    pub const fn try_build(self) -> Result<RetryBudget, InvalidOption> {
        match self.options.check() {
            Ok(()) => Ok(RetryBudget::with(self.name, self.location, self.options)),
            Err(invalid) => Err(invalid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder() -> RetryBudgetBuilder {
        RetryBudget::builder("test")
    }

    #[test]
    fn rg19_nonsense_is_refused_by_the_name_of_its_field() {
        let day = Duration::from_secs(24 * 60 * 60);
        let wrong = [
            (builder().ttl(Duration::ZERO), "ttl"),
            (builder().ttl(Duration::from_nanos(99_999_999)), "ttl"),
            (builder().ttl(day + Duration::from_nanos(1)), "ttl"),
            (builder().ttl(Duration::MAX), "ttl"),
            (builder().min_per_sec(6_554), "min_per_sec"),
            (builder().min_per_sec(u32::MAX).ttl(day), "min_per_sec"),
        ];
        for (builder, field) in wrong {
            let invalid =
                builder.try_build().err().unwrap_or_else(|| panic!("{field} was accepted"));
            assert_eq!(invalid.field(), field);
            assert!(invalid.problem().contains(field));
        }
        for builder in [
            builder().min_per_sec(6_553),
            builder().min_per_sec(655_360).ttl(Duration::from_millis(100)),
            builder().min_per_sec(0).ratio(Ratio::ZERO).ttl(day),
        ] {
            assert!(builder.try_build().is_ok(), "{builder:?}");
        }
    }

    #[test]
    #[should_panic(expected = "`ttl` must be in 100ms..=1d")]
    fn build_panics_with_the_words_of_the_error() {
        let _ = builder().ttl(Duration::ZERO).build();
    }
}
