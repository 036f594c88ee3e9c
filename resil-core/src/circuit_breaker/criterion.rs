//! What a closed breaker goes by: a window of calls, a window of time, or failures in a row.
//!
//! Invariant: a breaker keeps the kind it was built with; only the number changes while it works.

use crate::cell::window::{BUCKETS, LARGEST};
use crate::contract::InvalidOption;
use crate::time::Nanos;

/// The shortest window of time: a bucket of 10 ms is a little longer than a tick of the coarse clock.
const SHORTEST: Nanos = Nanos::from_ms(100);
/// The longest window of time: what happened yesterday says nothing about now.
const LONGEST: Nanos = Nanos::from_ms(24 * 60 * 60 * 1_000);

/// What makes a closed breaker open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Criterion {
    /// The rates of the last so many calls, 1..=1024.
    Calls(u32),
    /// The rates of the calls of the last so long, 100 ms..=24 h.
    Time(Nanos),
    /// So many failures in a row, 1..=1024.
    Consecutive(u32),
}

/// A [`Criterion`] without its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Calls,
    Time,
    Consecutive,
}

impl Criterion {
    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Calls(_) => Kind::Calls,
            Self::Time(_) => Kind::Time,
            Self::Consecutive(_) => Kind::Consecutive,
        }
    }

    /// Calls or failures; 0 if it goes by time.
    pub(super) const fn number(self) -> u32 {
        match self {
            Self::Calls(number) | Self::Consecutive(number) => number,
            Self::Time(_) => 0,
        }
    }

    /// How far back it looks; no time at all if it does not go by time.
    pub(super) const fn span(self) -> Nanos {
        match self {
            Self::Time(span) => span,
            Self::Calls(_) | Self::Consecutive(_) => Nanos::ZERO,
        }
    }

    /// Whether shares of failures and of slow calls matter, and with them `min_calls`.
    pub(super) const fn has_rates(self) -> bool {
        !matches!(self, Self::Consecutive(_))
    }

    /// The option that says it.
    const fn field(self) -> &'static str {
        match self {
            Self::Calls(_) | Self::Time(_) => "window",
            Self::Consecutive(_) => "consecutive",
        }
    }

    /// What is wrong with it, if anything.
    pub(super) const fn check(self) -> Result<(), InvalidOption> {
        let (fine, problem) = match self {
            Self::Calls(calls) => (
                1 <= calls && calls <= LARGEST,
                "`window` must be in 1..=1024 calls, or a duration of 100 ms to 24 h",
            ),
            Self::Time(span) => (
                SHORTEST.0 <= span.0 && span.0 <= LONGEST.0,
                "`window` must be a duration of 100 ms to 24 h, or in 1..=1024 calls",
            ),
            Self::Consecutive(failures) => {
                (1 <= failures && failures <= LARGEST, "`consecutive` must be in 1..=1024 failures")
            }
        };
        if fine { Ok(()) } else { Err(InvalidOption::new(self.field(), problem)) }
    }

    /// Another number; a change of kind is refused.
    pub(super) fn change(&mut self, to: Self) -> Result<(), InvalidOption> {
        let problem = match (*self, to) {
            (Self::Calls(_), Self::Time(_)) => {
                "`window` is a number of calls in this breaker, and stays one: `set_window`"
            }
            (Self::Time(_), Self::Calls(_)) => {
                "`window` is a duration in this breaker, and stays one: `set_window_for`"
            }
            (Self::Consecutive(_), Self::Calls(_) | Self::Time(_)) => {
                return Err(meaningless::WINDOW);
            }
            (Self::Calls(_) | Self::Time(_), Self::Consecutive(_)) => {
                "`consecutive` has no meaning for a breaker that goes by a `window`"
            }
            _ => {
                *self = to;
                return Ok(());
            }
        };
        Err(InvalidOption::new(to.field(), problem))
    }
}

/// Options of a window, beside `consecutive`.
pub(super) mod meaningless {
    use super::InvalidOption;

    pub(in super::super) const WINDOW: InvalidOption =
        InvalidOption::new("window", "`window` has no meaning beside `consecutive`");
    pub(in super::super) const MIN_CALLS: InvalidOption =
        InvalidOption::new("min_calls", "`min_calls` has no meaning beside `consecutive`");
    pub(in super::super) const FAILURE_RATE: InvalidOption =
        InvalidOption::new("failure_rate", "`failure_rate` has no meaning beside `consecutive`");
    pub(in super::super) const SLOW_RATE: InvalidOption =
        InvalidOption::new("slow_rate", "`slow_rate` has no meaning beside `consecutive`");
}

/// The length of a bucket of a window of time: a tenth, in whole milliseconds.
#[inline]
pub(super) const fn bucket_ms(span: Nanos) -> u64 {
    let bucket = span.0 / (BUCKETS * Nanos::MILLI.0);
    // Where there is no window of time nobody asks; nobody may divide by it either.
    if bucket == 0 { 1 } else { bucket }
}
