//! What every policy can say about itself: kind, name, place, settings, state, counters.

use super::{Rate, Ratio};
use core::any::Any;
use core::fmt;
use core::time::Duration;

pub use core::panic::Location;

/// The kinds of policy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Stops calling what keeps failing.
    CircuitBreaker,
    /// Lets so many calls through in such a time.
    RateLimiter,
    /// Admits so many calls at a time.
    Bulkhead,
    /// Calls again after a failure.
    Retry,
    /// Limits one attempt.
    Timeout,
    /// Limits the whole call.
    Deadline,
    /// Answers in place of what failed.
    Fallback,
    /// Bounds how much retries add to the load.
    RetryBudget,
}

impl Kind {
    /// As the attribute's key has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CircuitBreaker => "circuit_breaker",
            Self::RateLimiter => "rate_limiter",
            Self::Bulkhead => "bulkhead",
            Self::Retry => "retry",
            Self::Timeout => "timeout",
            Self::Deadline => "deadline",
            Self::Fallback => "fallback",
            Self::RetryBudget => "retry_budget",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An option's value, as the catalogue shows it.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Value {
    /// A number of things.
    Count(u64),
    /// A span of time.
    Duration(Duration),
    /// A share.
    Ratio(Ratio),
    /// So many in such a time.
    Rate(Rate),
    /// One of a few words.
    Word(&'static str),
    /// Not in use.
    Off,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(n) => n.fmt(f),
            Self::Duration(d) => write!(f, "{d:?}"),
            Self::Ratio(r) => r.fmt(f),
            Self::Rate(r) => r.fmt(f),
            Self::Word(w) => f.write_str(w),
            Self::Off => f.write_str("off"),
        }
    }
}

/// One option of a policy and what it is set to now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    /// The option, named as in the attribute.
    pub name: &'static str,
    /// Its present value.
    pub value: Value,
}

/// One counter of a policy: it only rises, from 0 at the start of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    /// What is counted.
    pub name: &'static str,
    /// How often it happened.
    pub value: u64,
}

/// What the catalogue shows of a policy.
///
/// Implemented by every policy of this crate; reading allocates nothing.
pub trait Policy: Any + Sync {
    /// Which kind it is.
    fn kind(&self) -> Kind;
    /// Its name: as declared, or `module::path::function` for what a function has inline.
    fn name(&self) -> &'static str;
    /// Where it was declared.
    fn location(&self) -> &'static Location<'static>;
    /// Its state in a word: `"disabled"`, or a word of its kind's own; `"-"` for a kind that has none.
    fn state(&self) -> &'static str {
        if self.is_enabled() { "-" } else { "disabled" }
    }
    /// Calls `visit` with each option.
    fn settings(&self, visit: &mut dyn FnMut(Setting));
    /// Calls `visit` with each counter.
    fn counters(&self, visit: &mut dyn FnMut(Counter));
    /// Whether it acts. Disabled, a function runs as if this policy had not been written.
    fn is_enabled(&self) -> bool;
    /// Disables or enables it, from the next call on. What it says twice changes nothing the second time.
    fn set_enabled(&self, on: bool);
}

/// An option that was refused, with the reason. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidOption {
    field: &'static str,
    problem: &'static str,
}

impl InvalidOption {
    pub(crate) const fn new(field: &'static str, problem: &'static str) -> Self {
        Self { field, problem }
    }

    /// The option, named as in the attribute.
    pub const fn field(&self) -> &'static str {
        self.field
    }

    /// What is wrong with it, naming the field and the range.
    pub const fn problem(&self) -> &'static str {
        self.problem
    }
}

impl fmt::Display for InvalidOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.problem)
    }
}

impl core::error::Error for InvalidOption {}
