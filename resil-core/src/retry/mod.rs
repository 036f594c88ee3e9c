//! Calls again after a failure that another attempt may mend.
//!
//! Invariant: the static holds options and counters, nothing of any call. `calls` is the sum of the six outcome
//! counters, `attempts` is that and the retries.
//!
//! # Source
//! Backoff and jitter: see [`Jitter`].

mod attempts;
mod config;
mod options;
pub mod purse;
mod schedule;
#[cfg(all(test, feature = "test-util"))]
mod tests;

pub use attempts::Attempts;
pub use config::{
    DEFAULT_BACKOFF, DEFAULT_JITTER, DEFAULT_MAX_ATTEMPTS, DEFAULT_MAX_PUSHBACK, RetryBuilder,
};

use crate::cell::jitter::Jitter;
use crate::cell::{Counters, Switch};
use crate::contract::{Budget, Counter, Kind, Location, Policy, Setting, Value};
use crate::time::Nanos;
use core::fmt;
use options::{Most, Options};
use purse::{Share, Unbudgeted};

/// The counters, by index.
mod count {
    /// Calls whose first attempt succeeded.
    pub(super) const FIRST_TRY: usize = 0;
    /// Calls that a later attempt saved.
    pub(super) const RECOVERED: usize = 1;
    /// Calls that ended although another attempt would have been worth it.
    pub(super) const EXHAUSTED: usize = 2;
    /// Calls that ended with what another attempt would not mend, or with an ignored outcome.
    pub(super) const NOT_RETRIED: usize = 3;
    /// Calls that ended with a refusal of ours that was not to be retried.
    pub(super) const REFUSED: usize = 4;
    /// Calls that panicked or were cancelled.
    pub(super) const ABANDONED: usize = 5;
    /// Retries scheduled.
    pub(super) const RETRIES: usize = 6;

    pub(super) const OUTCOMES: core::ops::Range<usize> = FIRST_TRY..RETRIES;
    pub(super) const ALL: usize = 7;
    pub(super) const NAMES: [&str; ALL] =
        ["first_try", "recovered", "exhausted", "not_retried", "refused", "abandoned", "retries"];
}

/// Calls again after a failure that another attempt may mend.
///
/// One `static` a function, shared by all its calls; what belongs to one call is in its [`Attempts`]. The first attempt
/// is never delayed. When attempts end, the newest outcome is the answer, unwrapped: the value or error that the body
/// returned, or the timeout that ended it. A retry around a function that retries multiplies the attempts of both.
///
/// The body runs again with what the failed attempt left behind: in what it borrowed mutably, and at the callee.
///
/// # Default
/// 3 attempts (the first call and 2 retries), or as many as fit if [`within`](RetryBuilder::within) is written and no
/// number is; the waits are drawn from below 50 ms, 100 ms, …, 1 s.
///
/// # Cancellation
/// See [`Attempts`].
///
/// # Cost
/// A call whose first attempt succeeds: one count on a line of this thread's own. No clock (unless `within` is set), no
/// allocation, no randomness.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::time::{self, Deadline};
/// use resil::{Judgement, Retry};
///
/// static FETCH: Retry = Retry::builder("fetch").max_attempts(3).build();
///
/// fn fetch(mut once: impl FnMut() -> Result<u32, &'static str>) -> Result<u32, &'static str> {
///     let mut attempts = FETCH.start();
///     loop {
///         let outcome = once();
///         let judgement = if outcome.is_ok() { Judgement::SUCCESS } else { Judgement::TRANSIENT };
///         let Some(wait) = attempts.next(judgement, Deadline::NEVER) else { return outcome };
///         time::sleep_blocking(wait);
///     }
/// }
///
/// let mut flaky = [Err("reset"), Ok(7)].into_iter();
/// assert_eq!(fetch(|| flaky.next().expect("two attempts")), Ok(7));
/// assert_eq!((FETCH.calls(), FETCH.attempts()), (1, 2));
/// ```
pub struct Retry {
    name: &'static str,
    location: &'static Location<'static>,
    options: Options,
    switch: Switch,
    counters: Counters<{ count::ALL }>,
}

impl Retry {
    /// A retry with this name, usually the path of the function.
    #[track_caller]
    pub const fn builder(name: &'static str) -> RetryBuilder {
        RetryBuilder::new(name, Location::caller())
    }

    const fn new(
        name: &'static str,
        location: &'static Location<'static>,
        options: Options,
    ) -> Self {
        Self { name, location, options, switch: Switch::on(), counters: Counters::new() }
    }

    /// Begins a call, whose first attempt is never delayed.
    #[inline]
    pub fn start(&self) -> Attempts<'_> {
        Attempts::new(self, self.options.within, Unbudgeted)
    }

    /// Begins a call whose first attempt pays into `budget`, and whose others are paid for by it.
    ///
    /// Where gates are asked before an attempt, say [`admitted`](Attempts::admitted) after them. With an empty budget the
    /// call ends with what it has, and says [`Stop::Budget`](crate::Stop::Budget).
    ///
    /// # Examples
    /// ```
    /// # use resil_core as resil;
    /// use resil::time::Deadline;
    /// use resil::{Judgement, Ratio, Retry, RetryBudget};
    ///
    /// static SHARED: RetryBudget =
    ///     RetryBudget::builder("shared").ratio(Ratio::percent(20)).min_per_sec(0).build();
    /// static FETCH: Retry = Retry::builder("fetch").build();
    ///
    /// let retries = |judgement| {
    ///     FETCH.start_within_budget(&SHARED).next(judgement, Deadline::NEVER).is_some()
    /// };
    /// assert!(!retries(Judgement::TRANSIENT), "a fifth of a retry is none");
    /// (0..100).for_each(|_| assert!(!retries(Judgement::SUCCESS)));
    /// assert!(retries(Judgement::TRANSIENT));
    /// ```
    #[inline]
    pub fn start_within_budget<'a, B: Budget + ?Sized>(
        &'a self,
        budget: &'a B,
    ) -> Attempts<'a, Share<'a, B>> {
        Attempts::new(self, self.options.within, Share::new(budget))
    }

    /// As [`start`](Self::start) or [`start_within_budget`](Self::start_within_budget).
    pub(crate) fn start_within<'a, B: Budget + ?Sized>(
        &'a self,
        budget: Option<&'a B>,
    ) -> Attempts<'a, Option<Share<'a, B>>> {
        Attempts::new(self, self.options.within, budget.map(Share::new))
    }

    /// The most attempts a call makes, the first one included; `None` if only time limits them.
    pub const fn max_attempts(&self) -> Option<u32> {
        match self.options.most {
            Most::Attempts(most) => Some(most),
            Most::Unlimited | Most::UntilDeadline => None,
        }
    }

    /// How many calls have ended.
    pub fn calls(&self) -> u64 {
        count::OUTCOMES.map(|outcome| self.counters.get(outcome)).sum()
    }

    /// How many attempts these calls made, a refused or still scheduled one included: calls and retries.
    pub fn attempts(&self) -> u64 {
        self.calls() + self.retries()
    }

    /// How many retries were scheduled; as many [`RetryScheduled`](crate::Event::RetryScheduled) events there were.
    pub fn retries(&self) -> u64 {
        self.counters.get(count::RETRIES)
    }

    const fn options(&self) -> &Options {
        &self.options
    }

    const fn policy_name(&self) -> &'static str {
        self.name
    }

    #[inline]
    fn count(&self, index: usize) {
        self.counters.add(index);
    }

    /// Whether it acts.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// Makes no further attempt from now on, also in calls that are under way.
    ///
    /// A call that ends so is counted as `not_retried`, and no event says that its retries were exhausted.
    pub fn disable(&self) {
        self.switch.turn(false);
    }

    /// Undoes [`disable`](Self::disable).
    pub fn enable(&self) {
        self.switch.turn(true);
    }
}

impl Policy for Retry {
    fn kind(&self) -> Kind {
        Kind::Retry
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn settings(&self, visit: &mut dyn FnMut(Setting)) {
        let Options {
            backoff, jitter, within, on_timeout, on_rejected, max_pushback, budget, ..
        } = self.options;
        let mut say = |name, value| visit(Setting { name, value });
        say(
            "max",
            self.max_attempts().map_or(Value::Word("unlimited"), |most| Value::Count(most.into())),
        );
        say("backoff", Value::Word(backoff.as_str()));
        if !backoff.is_by() {
            say("base", Value::Duration(backoff.base().to_duration()));
        }
        if let Some(factor) = backoff.growth_factor() {
            say("factor", Value::Count(factor.into()));
        }
        if backoff.cap() < Nanos::MAX {
            say("cap", Value::Duration(backoff.cap().to_duration()));
        }
        say("jitter", Value::Word(jitter.as_str()));
        if let Jitter::PlusMinus(share) = jitter {
            say("plus_minus", Value::Ratio(share));
        }
        let limit =
            if within < Nanos::MAX { Value::Duration(within.to_duration()) } else { Value::Off };
        say("within", limit);
        say("on_timeout", yes_or_no(on_timeout));
        say("on_rejected", yes_or_no(on_rejected));
        say("max_pushback", Value::Duration(max_pushback));
        say("budget", budget.map_or(Value::Off, Value::Word));
    }

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        // Each is read once, so that the sums agree with the parts.
        let values: [u64; count::ALL] = core::array::from_fn(|index| self.counters.get(index));
        let calls = values[count::OUTCOMES].iter().sum();
        visit(Counter { name: "calls", value: calls });
        visit(Counter { name: "attempts", value: calls + values[count::RETRIES] });
        for (name, value) in count::NAMES.into_iter().zip(values) {
            visit(Counter { name, value });
        }
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        self.switch.turn(on);
    }
}

const fn yes_or_no(on: bool) -> Value {
    Value::Word(if on { "true" } else { "false" })
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("name", &self.name)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod settings {
    use super::*;
    use crate::cell::backoff::Backoff;
    use crate::contract::Ratio;
    use core::time::Duration;

    #[test]
    fn the_catalogue_sees_every_option_and_where_it_was_written() {
        static RETRY: Retry = Retry::builder("mod::f")
            .backoff(
                Backoff::exponential(Duration::from_millis(20), Duration::from_millis(200))
                    .factor(3),
            )
            .jitter(Jitter::PlusMinus(Ratio::percent(20)))
            .build();
        let mut shown = Vec::new();
        RETRY.settings(&mut |setting| shown.push(format!("{} = {}", setting.name, setting.value)));
        assert_eq!(
            shown.join("; "),
            "max = 3; backoff = exponential; base = 20ms; factor = 3; cap = 200ms; jitter = plus_minus; \
             plus_minus = 20%; within = off; on_timeout = true; on_rejected = false; max_pushback = 10s; budget = off"
        );
        assert_eq!(RETRY.name(), "mod::f");
        assert!(RETRY.location().file().ends_with("mod.rs"));
    }
}
