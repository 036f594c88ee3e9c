//! A sync attempt under limits: nobody can end it, so it is looked at when it is over.
//!
//! Invariant: a body that has no time left does not begin. One that has begun is called once and runs to its end; one reading of
//! the clock afterwards says whether it came in time. What came in time is never touched, nor is a value that came
//! in the very instant of the limit (as in async functions a ready result wins). A failure in that instant is taken for the limit's
//! own doing: sync code stops by asking what is left.
//!
//! Which limits count: the attempt's own timeout, the function's deadline, and a deadline that was carried here, for which
//! nobody above answers. A sooner deadline that a guarded function *above* keeps is left to that one, so that the same
//! one always reports it; to the attempt below, that is a caller who went away. Of limits of the same instant
//! the deadline is named. Whatever ends first is ambient around the body.
//!
//! What is late is a failure, whatever the patterns and types make of it: the callee hung, and an async function would not
//! have waited to see.

#[cfg(all(test, feature = "test-util", not(resil_loom)))]
mod tests;

use super::attempt::owner;
use super::{Limit, Limits, Rejected, Watched, call};
use crate::time::{Ambient, Deadline, Nanos, now};

/// Calls the body once, under limits that are looked at when it is over.
///
/// The time of the attempt begins with the reading that its permit was given at, or else with one that is taken here. If a
/// deadline has passed by then, or the attempt is given no time at all, the body does not start.
///
/// # Cost
/// Two clock readings, one less if the permit has one; the permit takes over the second, if it needs it. The exchange of a
/// thread-local. Allocates nothing.
#[inline]
pub fn call_limited<W: Watched, L: Limits, R>(
    watched: &mut W,
    limits: L,
    body: impl FnOnce() -> R,
) -> Timed<L, R> {
    let begun = watched.begun().unwrap_or_else(now);
    let ambient = Ambient::current();
    let ends = Ends::of(&limits, begun, ambient);
    let first = ambient.at.min(Deadline::at_instant(ends.first()));
    if Deadline::at_instant(begun) >= first {
        let by = if ambient.at == first { Limit::Deadline } else { ends.by() };
        let outcome = Err(limits.ended(by).before_it_began());
        return Timed { limits, outcome, after: None };
    }
    let outcome = {
        let _scope = ambient.watch(Deadline::at_instant(ends.first()), owner(&limits, ends.by()));
        call(watched, body)
    };
    if ends.first() == Nanos::MAX {
        return Timed { limits, outcome: Ok(outcome), after: None };
    }
    let reading = now();
    watched.over(reading);
    Timed { limits, outcome: Ok(outcome), after: ends.after(reading) }
}

/// When an attempt is over.
#[derive(Clone, Copy)]
struct Ends {
    attempt: Nanos,
    deadline: Nanos,
}

impl Ends {
    #[inline]
    fn of<L: Limits>(limits: &L, begun: Nanos, ambient: Ambient) -> Self {
        let attempt = limits.attempt().map_or(Nanos::MAX, |span| begun.plus(span));
        let here = if ambient.is_kept() { Deadline::NEVER } else { ambient.at };
        let deadline = limits.deadline().min(here).at().unwrap_or(Nanos::MAX);
        Self { attempt, deadline }
    }

    #[inline]
    fn first(self) -> Nanos {
        self.attempt.min(self.deadline)
    }

    /// The limit that is there first.
    #[inline]
    fn by(self) -> Limit {
        if self.deadline <= self.attempt { Limit::Deadline } else { Limit::Attempt }
    }

    /// What the clock says about an attempt that is over.
    #[inline]
    fn after(self, reading: Nanos) -> Option<After> {
        let late = reading > self.first();
        (late || reading == self.first()).then(|| After { by: self.by(), late })
    }
}

/// An attempt did not end before its time was up.
#[derive(Clone, Copy, Debug)]
struct After {
    by: Limit,
    /// And not in that very instant.
    late: bool,
}

/// What a sync attempt under limits came to: what [`call_limited`] returns.
///
/// What becomes of a late outcome depends on whether it failed, which only the type knows: see [`TimedAs`].
#[derive(Debug)]
#[must_use = "the outcome is in it"]
pub struct Timed<L, R> {
    limits: L,
    /// A refusal if there was no time left to begin in.
    outcome: Result<R, Rejected>,
    after: Option<After>,
}

impl<L: Limits, R> Timed<L, R> {
    /// What came in time; what came late is dropped.
    ///
    /// # Errors
    /// The limit that the body did not keep to.
    #[inline]
    pub fn or_ended(self) -> Result<R, Rejected> {
        self.end(|_| false)
    }

    /// As [`or_ended`](Self::or_ended), where some outcomes are failures.
    #[inline]
    fn end(self, failed: impl Fn(&R) -> bool) -> Result<R, Rejected> {
        let Self { limits, outcome, after } = self;
        match (after, outcome) {
            (Some(After { late: false, .. }), Ok(outcome)) if !failed(&outcome) => Ok(outcome),
            (Some(after), Ok(outcome)) => Err(replaced(outcome, &limits, after.by)),
            (_, outcome) => outcome,
        }
    }

    /// What came in time; what came late, and that it did, unless it failed.
    #[inline]
    fn keep(self, failed: impl Fn(&R) -> bool) -> (Result<R, Rejected>, bool) {
        let Self { limits, outcome, after } = self;
        match (after, outcome) {
            (Some(after), Ok(outcome)) if failed(&outcome) => {
                (Err(replaced(outcome, &limits, after.by)), false)
            }
            (Some(After { late: true, by }), outcome) => {
                limits.late(by);
                (outcome, true)
            }
            (_, outcome) => (outcome, false),
        }
    }
}

/// Nobody waits for this outcome any more: the limit takes its place.
#[cold]
#[inline(never)]
fn replaced<L: Limits, R>(outcome: R, limits: &L, by: Limit) -> Rejected {
    // Before anybody hears of it, as the body of an async function is.
    drop(outcome);
    limits.ended(by)
}

/// An `Err` is a failure.
impl<L: Limits, T, E> Timed<L, Result<T, E>> {
    /// The outcome, and whether it came late; a late failure is a timeout.
    #[inline]
    pub fn __resil_keep(self) -> (Result<Result<T, E>, Rejected>, bool) {
        self.keep(Result::is_err)
    }

    /// The outcome; whatever came late is a timeout.
    ///
    /// # Errors
    /// The limit that the body did not keep to.
    #[inline]
    pub fn __resil_end(self) -> Result<Result<T, E>, Rejected> {
        self.end(Result::is_err)
    }
}

/// A `None` is a failure: there is nothing in it to keep.
impl<L: Limits, T> Timed<L, Option<T>> {
    /// The outcome, and whether it came late; a late `None` is a timeout.
    #[inline]
    pub fn __resil_keep(self) -> (Result<Option<T>, Rejected>, bool) {
        self.keep(Option::is_none)
    }

    /// The outcome; whatever came late is a timeout.
    ///
    /// # Errors
    /// The limit that the body did not keep to.
    #[inline]
    pub fn __resil_end(self) -> Result<Option<T>, Rejected> {
        self.end(Option::is_none)
    }
}

/// The reading of return types that know no failures. Method lookup finds the inherent methods of the others first.
pub trait TimedAs<R> {
    /// The outcome, and whether it came late.
    fn __resil_keep(self) -> (Result<R, Rejected>, bool);
    /// The outcome; whatever came late is a timeout.
    ///
    /// # Errors
    /// The limit that the body did not keep to.
    fn __resil_end(self) -> Result<R, Rejected>;
}

impl<L: Limits, R> TimedAs<R> for Timed<L, R> {
    #[inline]
    fn __resil_keep(self) -> (Result<R, Rejected>, bool) {
        self.keep(|_| false)
    }

    #[inline]
    fn __resil_end(self) -> Result<R, Rejected> {
        self.end(|_| false)
    }
}
