//! What a fallback answers for.

use crate::contract::Rejected;
use core::fmt;

/// Why a fallback runs: the body's own error, or a refusal, timeout or deadline of ours.
///
/// For a function that returns an `Option`, `None` is `Cause::Error(())`; for one whose return type knows no errors,
/// `E` is [`Infallible`](core::convert::Infallible).
///
/// # Examples
/// ```
/// use resil_core::{Cause, Reason, Rejected};
///
/// fn answer(cause: &Cause<std::num::ParseIntError>) -> &'static str {
///     match cause {
///         Cause::Error(_) => "not a number",
///         Cause::Rejected(rejected) if rejected.reason().is_timeout() => "too late",
///         Cause::Rejected(_) => "too busy",
///     }
/// }
///
/// let cause = Cause::Rejected(Rejected::new(Reason::TimedOut, "parse"));
/// assert_eq!(answer(&cause), "too late");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause<E> {
    /// The newest error that the body returned.
    Error(E),
    /// No attempt ran, or the newest one ran out of time.
    Rejected(Rejected),
}

impl<E> Cause<E> {
    /// The body's error, if that is the cause.
    pub fn error(&self) -> Option<&E> {
        match self {
            Self::Error(error) => Some(error),
            Self::Rejected(_) => None,
        }
    }

    /// The refusal, timeout or deadline, if that is the cause.
    pub const fn rejected(&self) -> Option<Rejected> {
        match self {
            Self::Error(_) => None,
            Self::Rejected(rejected) => Some(*rejected),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Cause<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Rejected(rejected) => rejected.fmt(f),
        }
    }
}
