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
/// # use resil_core as resil;
/// use resil::{Cause, Reason, Rejected};
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

    /// The error that the function returns where the fallback has no answer either.
    ///
    /// # Examples
    /// ```
    /// # use resil_core as resil;
    /// use resil::{Cause, Rejected};
    /// use std::io;
    ///
    /// fn stale(cause: Cause<io::Error>, cached: Option<u32>) -> io::Result<u32> {
    ///     cached.ok_or_else(|| cause.into_error())
    /// }
    ///
    /// assert_eq!(stale(Cause::Error(io::Error::other("down")), Some(7)).unwrap(), 7);
    /// assert_eq!(stale(Cause::Error(io::Error::other("down")), None).unwrap_err().to_string(), "down");
    /// ```
    pub fn into_error(self) -> E
    where
        E: From<Rejected>,
    {
        match self {
            Self::Error(error) => error,
            Self::Rejected(rejected) => E::from(rejected),
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
