//! The options of a retry once they are found to make sense, and the words for backoffs that do not.

use crate::cell::backoff::{Backoff, Flaw};
use crate::cell::jitter::Jitter;
use crate::contract::InvalidOption;
use crate::time::Nanos;
use core::time::Duration;

/// The options of a retry, found to make sense.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    pub(super) most: Most,
    pub(super) backoff: Backoff,
    pub(super) jitter: Jitter,
    /// [`Nanos::MAX`] for no limit.
    pub(super) within: Nanos,
    pub(super) on_timeout: bool,
    pub(super) on_rejected: bool,
    pub(super) max_pushback: Duration,
    /// The budget that its calls draw on, for the catalogue.
    pub(super) budget: Option<&'static str>,
}

/// What bounds the number of attempts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Most {
    /// This number, the first attempt included.
    Attempts(u32),
    /// Only `within`.
    Unlimited,
    /// Only the deadline of the call, if it has one.
    UntilDeadline,
}

/// What is wrong with `backoff` or `jitter`, as their user reads it.
pub(super) const fn in_words(flaw: Flaw) -> InvalidOption {
    match flaw {
        Flaw::ZeroBase => InvalidOption::new(
            "backoff",
            "`backoff` that grows starts above zero, since zero never grows; `constant(\"0s\")` retries at once",
        ),
        Flaw::CapBelowBase => {
            InvalidOption::new("backoff", "`cap` of `backoff` is at least its first delay")
        }
        Flaw::ZeroFactor => InvalidOption::new("backoff", "`factor` of `backoff` is 1 or more"),
        Flaw::MisplacedFactor => InvalidOption::new(
            "backoff",
            "`factor` of `backoff` belongs to `exponential`, and to no other shape",
        ),
        Flaw::EmptyTable => {
            InvalidOption::new("backoff", "`table` of `backoff` has one delay or more")
        }
        Flaw::ZeroShare => InvalidOption::new(
            "jitter",
            "`plus_minus` of `jitter` is above 0 and at most 100 %; `none` does not spread",
        ),
        Flaw::NothingToCorrelate => InvalidOption::new(
            "jitter",
            "`jitter = decorrelated` draws between a base and a cap: write it beside `linear` or `exponential`",
        ),
    }
}
