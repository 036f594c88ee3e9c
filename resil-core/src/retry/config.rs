//! What can be said about a retry: options, defaults, and which of them make no sense together.

use super::Retry;
use super::options::{Most, Options, in_words};
use crate::cell::backoff::Backoff;
use crate::cell::jitter::Jitter;
use crate::contract::{InvalidOption, Location};
use crate::time::Nanos;
use core::time::Duration;

/// Attempts, the first call included, where neither a number nor `within` is written: what most libraries of the field
/// make, and no more load on a sick callee than three times the usual.
pub const DEFAULT_MAX_ATTEMPTS: u32 = 3;

/// Delays where none are written, in time: 50 ms that double up to 1 s. Never zero, since a retry at once meets the same
/// trouble.
pub const DEFAULT_BACKOFF: Backoff =
    Backoff::exponential(Duration::from_millis(50), Duration::from_secs(1));

/// How the delays are spread where nothing is written. Full jitter sets apart best the callers that failed together.
pub const DEFAULT_JITTER: Jitter = Jitter::Full;

/// The longest hint of the callee that is followed, in time: 10 s. The hint comes from outside and must be bounded.
pub const DEFAULT_MAX_PUSHBACK: Duration = Duration::from_secs(10);

/// Builds a [`Retry`], in a `const` or at run time.
///
/// # Examples
/// ```
/// use core::time::Duration;
/// # use resil_core as resil;
/// use resil::{Backoff, Jitter, Retry};
///
/// static FETCH: Retry = Retry::builder("fetch")
///     .max_attempts(4)
///     .backoff(Backoff::exponential(Duration::from_millis(20), Duration::from_millis(200)))
///     .jitter(Jitter::Equal)
///     .build();
/// assert_eq!(FETCH.max_attempts(), Some(4));
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct RetryBuilder {
    name: &'static str,
    location: &'static Location<'static>,
    max_attempts: Option<u32>,
    max_retries: Option<u32>,
    unlimited: Option<Unlimited>,
    backoff: Backoff,
    jitter: Option<Jitter>,
    within: Option<Duration>,
    on_timeout: bool,
    on_rejected: bool,
    max_pushback: Duration,
    budget: Option<&'static str>,
}

impl RetryBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        Self {
            name,
            location,
            max_attempts: None,
            max_retries: None,
            unlimited: None,
            backoff: DEFAULT_BACKOFF,
            jitter: None,
            within: None,
            on_timeout: true,
            on_rejected: false,
            max_pushback: DEFAULT_MAX_PUSHBACK,
            budget: None,
        }
    }

    /// How many attempts a call makes at most, the first one included.
    ///
    /// # Default
    /// 3; no limit if [`within`](Self::within) is written and this is not. 1.., where 1 means no retry.
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = Some(attempts);
        self
    }

    /// How many attempts follow the first one at most: `max_retries(2)` is `max_attempts(3)`. Only one of the two may
    /// be written.
    ///
    /// # Default
    /// 2. 0..=4 294 967 294.
    pub const fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = Some(retries);
        self
    }

    /// As many attempts as fit into [`within`](Self::within), which must be written as well.
    pub const fn unlimited(mut self) -> Self {
        self.unlimited = Some(Unlimited::ByWithin);
        self
    }

    /// As many attempts as fit into the deadline that each call hands to [`next`](super::Attempts::next).
    ///
    /// A call that has none (and no `within`) makes [`DEFAULT_MAX_ATTEMPTS`] instead of going on for ever.
    pub const fn unlimited_until_deadline(mut self) -> Self {
        self.unlimited = Some(Unlimited::ByDeadline);
        self
    }

    /// How the delay grows from one attempt to the next.
    ///
    /// # Default
    /// `exponential("50ms", cap = "1s")` with factor 2. The base of a growing delay is longer than zero and at most the
    /// cap, the factor 1.., a table not empty.
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// How the delay is spread.
    ///
    /// # Default
    /// [`Jitter::Full`]; [`Jitter::None`] beside [`Backoff::by`].
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = Some(jitter);
        self
    }

    /// No attempt starts later than this after the start of the call; one that runs is not interrupted.
    ///
    /// # Default
    /// None. Longer than zero.
    ///
    /// # Cost
    /// One reading of the clock at the start of each call; without `within` a call that succeeds at once reads none.
    pub const fn within(mut self, within: Duration) -> Self {
        self.within = Some(within);
        self
    }

    /// Whether an attempt that its `timeout` ended is retried. One that the `deadline` ended never is.
    ///
    /// # Default
    /// `true`; `#[resilient]` says `false` on sync functions, whose timed-out body may have done its work.
    pub const fn on_timeout(mut self, on_timeout: bool) -> Self {
        self.on_timeout = on_timeout;
        self
    }

    /// Whether a refusal by one of our own policies is retried, where it says when to come back.
    ///
    /// # Default
    /// `false`: to ask an open circuit again only uses up attempts.
    pub const fn on_rejected(mut self, on_rejected: bool) -> Self {
        self.on_rejected = on_rejected;
        self
    }

    /// The longest `retry_after` of the callee that is followed; it gives up on a longer one. Refusals of our own
    /// policies are bounded by `within` and the deadline alone.
    ///
    /// # Default
    /// 10 s. With zero it gives up on every hint.
    pub const fn max_pushback(mut self, longest: Duration) -> Self {
        self.max_pushback = longest;
        self
    }

    /// What the catalogue shows as the budget. The one that a call draws on is given to
    /// [`start_within_budget`](Retry::start_within_budget).
    #[doc(hidden)]
    pub const fn budget_named(mut self, name: &'static str) -> Self {
        self.budget = Some(name);
        self
    }

    /// The policy.
    ///
    /// # Panics
    /// Where [`try_build`](Self::try_build) has an error; in a `static` that is a compile error.
    pub const fn build(self) -> Retry {
        match self.try_build() {
            Ok(retry) => retry,
            Err(invalid) => panic!("{}", invalid.problem()),
        }
    }

    /// The policy.
    ///
    /// # Errors
    /// The first option that makes no sense.
    pub const fn try_build(self) -> Result<Retry, InvalidOption> {
        match self.options() {
            Ok(options) => Ok(Retry::new(self.name, self.location, options)),
            Err(invalid) => Err(invalid),
        }
    }

    const fn options(&self) -> Result<Options, InvalidOption> {
        let most = match self.most() {
            Ok(most) => most,
            Err(invalid) => return Err(invalid),
        };
        if let Some(flaw) = self.backoff.flaw() {
            return Err(in_words(flaw));
        }
        let jitter = match self.jitter {
            Some(jitter) => jitter,
            None if self.backoff.is_by() => Jitter::None,
            None => DEFAULT_JITTER,
        };
        if let Some(flaw) = self.backoff.jitter_flaw(jitter) {
            return Err(in_words(flaw));
        }
        let within = match self.within {
            Some(Duration::ZERO) => {
                return Err(InvalidOption::new(
                    "within",
                    "`within` is longer than zero; leave it out for no limit",
                ));
            }
            Some(within) => Nanos::from_duration(within),
            None => Nanos::MAX,
        };
        Ok(Options {
            most,
            backoff: self.backoff,
            jitter,
            within,
            on_timeout: self.on_timeout,
            on_rejected: self.on_rejected,
            max_pushback: self.max_pushback,
            budget: self.budget,
        })
    }

    const fn most(&self) -> Result<Most, InvalidOption> {
        match (self.max_attempts, self.max_retries, self.unlimited) {
            (Some(0), None, None) => Err(InvalidOption::new(
                "max_attempts",
                "`max_attempts` (`max`) is 1 or more: it counts the first call",
            )),
            (Some(attempts), None, None) => Ok(Most::Attempts(attempts)),
            (None, Some(u32::MAX), None) => Err(InvalidOption::new(
                "max_retries",
                "`max_retries` is at most 4294967294, which with the first call makes 4294967295 attempts",
            )),
            (None, Some(retries), None) => Ok(Most::Attempts(retries + 1)),
            (None, None, _) if self.within.is_some() => Ok(Most::Unlimited),
            (None, None, Some(Unlimited::ByDeadline)) => Ok(Most::UntilDeadline),
            (None, None, Some(Unlimited::ByWithin)) => Err(InvalidOption::new(
                "max_attempts",
                "`max_attempts = unlimited` needs `within` or a `deadline`: else it may go on for ever",
            )),
            (None, None, None) => Ok(Most::Attempts(DEFAULT_MAX_ATTEMPTS)),
            (Some(_), Some(_), _) => Err(InvalidOption::new(
                "max_retries",
                "`max_retries` says again what `max_attempts` (`max`) says: write one of them",
            )),
            (Some(_), None, Some(_)) => Err(InvalidOption::new(
                "max_attempts",
                "`max_attempts` (`max`) is either a number or unlimited: write one of them",
            )),
            (None, Some(_), Some(_)) => Err(InvalidOption::new(
                "max_retries",
                "`max_retries` is a number, the attempts are unlimited: write one of them",
            )),
        }
    }
}

/// What is written instead of a number of attempts.
#[derive(Clone, Copy, Debug)]
enum Unlimited {
    ByWithin,
    ByDeadline,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Ratio;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn builder() -> RetryBuilder {
        Retry::builder("test")
    }

    fn most(builder: RetryBuilder) -> Option<u32> {
        builder.try_build().expect("makes sense").max_attempts()
    }

    #[test]
    fn r01_max_attempts_counts_the_first_call_and_max_retries_does_not() {
        assert_eq!(most(builder().max_attempts(3)), Some(3));
        assert_eq!(most(builder().max_retries(3)), Some(4));
        assert_eq!(most(builder().max_retries(0)), Some(1));
        assert_eq!(most(builder().max_attempts(u32::MAX)), Some(u32::MAX));
        assert_eq!(most(builder().max_retries(u32::MAX - 1)), Some(u32::MAX));
    }

    #[test]
    fn rt06_three_attempts_unless_time_is_what_limits_them() {
        assert_eq!(most(builder()), Some(3));
        assert_eq!(most(builder().within(ms(5))), None);
        assert_eq!(most(builder().within(ms(5)).unlimited()), None);
        assert_eq!(most(builder().within(ms(5)).max_attempts(2)), Some(2));
        assert_eq!(most(builder().unlimited_until_deadline()), None);
    }

    #[test]
    fn rg19_what_makes_no_sense_is_refused_and_the_field_is_named() {
        let base = || builder().jitter(Jitter::None);
        for (builder, field, words) in [
            (base().max_attempts(0), "max_attempts", "1 or more"),
            (base().max_retries(u32::MAX), "max_retries", "at most 4294967294"),
            (base().max_attempts(3).max_retries(2), "max_retries", "write one of them"),
            (base().max_attempts(3).unlimited(), "max_attempts", "write one of them"),
            (
                base().max_attempts(3).unlimited_until_deadline(),
                "max_attempts",
                "write one of them",
            ),
            (base().max_retries(3).unlimited().within(ms(1)), "max_retries", "write one of them"),
            (base().unlimited(), "max_attempts", "needs `within` or a `deadline`"),
            (base().within(Duration::ZERO), "within", "longer than zero"),
            (base().backoff(Backoff::exponential(ms(5_000), ms(1_000))), "backoff", "`cap`"),
            (base().backoff(Backoff::linear(ms(5_000), ms(1_000))), "backoff", "`cap`"),
            (base().backoff(Backoff::linear(ms(0), ms(1_000))), "backoff", "above zero"),
            (base().backoff(Backoff::exponential(ms(1), ms(2)).factor(0)), "backoff", "1 or more"),
            (
                base().backoff(Backoff::constant(ms(1)).factor(2)),
                "backoff",
                "belongs to `exponential`",
            ),
            (base().backoff(Backoff::table(&[])), "backoff", "one delay or more"),
            (base().jitter(Jitter::PlusMinus(Ratio::ZERO)), "jitter", "above 0 and at most 100 %"),
            (
                base().backoff(Backoff::by()).jitter(Jitter::Decorrelated),
                "jitter",
                "`linear` or `exponential`",
            ),
        ] {
            let invalid = builder.try_build().expect_err(words);
            assert_eq!(invalid.field(), field);
            assert!(invalid.problem().contains(words), "{invalid}");
            assert!(invalid.problem().contains(field), "{invalid} names its field");
        }
    }

    #[test]
    #[should_panic(expected = "`max_attempts` (`max`) is 1 or more")]
    fn build_panics_with_the_words_of_the_error() {
        let _ = builder().max_attempts(0).build();
    }

    #[test]
    fn jitter_is_full_unless_an_expression_computes_the_delay() {
        let jitter_of =
            |builder: RetryBuilder| builder.try_build().expect("makes sense").options().jitter;
        assert_eq!(jitter_of(builder()), Jitter::Full);
        assert_eq!(jitter_of(builder().backoff(Backoff::constant(ms(5)))), Jitter::Full);
        assert_eq!(jitter_of(builder().backoff(Backoff::by())), Jitter::None);
        assert_eq!(
            jitter_of(builder().backoff(Backoff::by()).jitter(Jitter::Equal)),
            Jitter::Equal
        );
    }
}
