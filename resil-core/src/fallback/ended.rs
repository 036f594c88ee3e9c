//! How a call ended, and whether that is something to answer for.
//!
//! Invariant: an outcome that is not to be answered for comes out as it went in. Ignored and aborted outcomes never are; while
//! the fallback is disabled, only refusals are that the return type has no place for.
//!
//! Which of the three readings of a return type applies is settled by method lookup: the inherent methods for
//! `Result` and `Option` come before the trait for all the rest. The name is one that no trait in the user's scope has.

use super::{Cause, Fallback};
use crate::contract::{FromRejected, Judgement, Rejected, Verdict};
use core::convert::Infallible;

/// How a call of a function that returns `R` ended, before a fallback is asked.
#[derive(Clone, Copy, Debug)]
pub enum Ended<R> {
    /// The body returned, and that is how it may be answered for. Made by [`returned`](Self::returned).
    Returned(R, Standing),
    /// A gate refused, or time ran out.
    Rejected(Rejected),
}

/// What a fallback needs to know of a judgement, in a byte: an outcome may be kept across a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// A success; of an `Option`, a `None` that nobody calls a failure still has no value to give.
    Good,
    /// A failure that may be answered for.
    Failed,
    /// Ignored or aborted: nobody answers for it.
    Left,
}

impl<R> Ended<R> {
    /// The body returned `outcome`, which was judged so.
    #[inline]
    pub const fn returned(outcome: R, judgement: Judgement) -> Self {
        let standing = match judgement.verdict() {
            Verdict::Success => Standing::Good,
            Verdict::Failure if judgement.falls_back() => Standing::Failed,
            Verdict::Failure | Verdict::Ignored => Standing::Left,
        };
        Self::Returned(outcome, standing)
    }
}

/// A return type that can carry a refusal.
impl<R: FromRejected> Ended<R> {
    /// A refusal as the outcome, if nobody is to answer for it.
    #[inline]
    #[must_use]
    pub fn __resil_pass(self, fallback: &Fallback) -> Self {
        match self {
            Self::Rejected(rejected) if !fallback.is_enabled() => {
                Self::Returned(R::__resil_reject(rejected), Standing::Left)
            }
            ended => ended,
        }
    }
}

impl<T, E> Ended<Result<T, E>> {
    /// The outcome, or what a fallback has to answer for: a refusal, or an `Err` that counts as a failure.
    ///
    /// # Errors
    /// The cause.
    #[inline]
    pub fn __resil_cause(self, fallback: &Fallback) -> Result<Result<T, E>, Cause<E>> {
        match self {
            Self::Returned(Err(error), Standing::Failed) if fallback.is_enabled() => {
                Err(Cause::Error(error))
            }
            Self::Returned(outcome, _) => Ok(outcome),
            Self::Rejected(rejected) => Err(Cause::Rejected(rejected)),
        }
    }
}

impl<T> Ended<Option<T>> {
    /// The outcome, or what a fallback has to answer for: a refusal, or a `None` that no pattern ignores or aborts.
    ///
    /// # Errors
    /// The cause.
    #[inline]
    pub fn __resil_cause(self, fallback: &Fallback) -> Result<Option<T>, Cause<()>> {
        match self {
            Self::Returned(None, Standing::Good | Standing::Failed) if fallback.is_enabled() => {
                Err(Cause::Error(()))
            }
            Self::Returned(outcome, _) => Ok(outcome),
            Self::Rejected(rejected) => Err(Cause::Rejected(rejected)),
        }
    }
}

/// The reading of return types that know no errors, or cannot carry a refusal.
pub trait EndedAs<R> {
    /// What it is: a refusal has to be answered for, whether or not the fallback is enabled.
    #[must_use]
    fn __resil_pass(self, fallback: &Fallback) -> Self;

    /// The outcome, or the refusal that a fallback has to answer for.
    ///
    /// # Errors
    /// The cause.
    fn __resil_cause(self, fallback: &Fallback) -> Result<R, Cause<Infallible>>;
}

impl<R> EndedAs<R> for Ended<R> {
    #[inline]
    fn __resil_pass(self, _fallback: &Fallback) -> Self {
        self
    }

    #[inline]
    fn __resil_cause(self, _fallback: &Fallback) -> Result<R, Cause<Infallible>> {
        match self {
            Self::Returned(outcome, _) => Ok(outcome),
            Self::Rejected(rejected) => Err(Cause::Rejected(rejected)),
        }
    }
}

/// The outcome of a call whose errors nobody answers for, or the refusal.
#[derive(Debug)]
pub struct OrRejected<R>(pub Result<R, Rejected>);

/// A return type that can carry a refusal.
impl<R: FromRejected> OrRejected<R> {
    /// A refusal as the outcome, if nobody is to answer for it.
    ///
    /// # Errors
    /// The refusal, to be answered for.
    #[inline]
    pub fn __resil_pass(self, fallback: &Fallback) -> Result<R, Rejected> {
        match self.0 {
            Err(rejected) if !fallback.is_enabled() => Ok(R::__resil_reject(rejected)),
            outcome => outcome,
        }
    }
}

/// The reading of return types that cannot carry a refusal.
pub trait OrRejectedAs<R> {
    /// What it is.
    ///
    /// # Errors
    /// The refusal, to be answered for.
    fn __resil_pass(self, fallback: &Fallback) -> Result<R, Rejected>;
}

impl<R> OrRejectedAs<R> for OrRejected<R> {
    #[inline]
    fn __resil_pass(self, _fallback: &Fallback) -> Result<R, Rejected> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Reason;

    const TIMED_OUT: Rejected = Rejected::new(Reason::TimedOut, "f");
    const DECLINED: Result<u8, &str> = Err("declined");
    static ON: Fallback = Fallback::builder("on").build();

    #[test]
    fn f02_a_fallback_answers_for_refusals_and_failures() {
        assert_eq!(
            Ended::<Result<u8, &str>>::Rejected(TIMED_OUT).__resil_cause(&ON),
            Err(Cause::Rejected(TIMED_OUT))
        );
        for judgement in [Judgement::FAILURE, Judgement::TRANSIENT] {
            assert_eq!(
                Ended::returned(DECLINED, judgement).__resil_cause(&ON),
                Err(Cause::Error("declined"))
            );
        }
    }

    #[test]
    fn f02_not_for_ignored_and_aborted_outcomes() {
        for judgement in
            [Judgement::IGNORED, Judgement::TRANSIENT.ignore(), Judgement::TRANSIENT.abort()]
        {
            assert_eq!(
                Ended::returned(DECLINED, judgement).__resil_cause(&ON),
                Ok(DECLINED),
                "{judgement:?}"
            );
            assert_eq!(
                Ended::returned(None::<u8>, judgement).__resil_cause(&ON),
                Ok(None),
                "{judgement:?}"
            );
        }
    }

    #[test]
    fn r13_a_value_that_counts_as_a_failure_is_returned_itself() {
        let unavailable: Result<u16, &str> = Ok(503);
        assert_eq!(
            Ended::returned(unavailable, Judgement::TRANSIENT).__resil_cause(&ON),
            Ok(unavailable)
        );
        assert_eq!(
            Ended::returned(Some(503), Judgement::TRANSIENT).__resil_cause(&ON),
            Ok(Some(503))
        );
    }

    #[test]
    fn none_is_answered_for_whether_or_not_a_pattern_calls_it_a_failure() {
        for judgement in [Judgement::SUCCESS, Judgement::FAILURE, Judgement::TRANSIENT] {
            assert_eq!(
                Ended::returned(None::<u8>, judgement).__resil_cause(&ON),
                Err(Cause::Error(()))
            );
        }
        assert_eq!(
            Ended::<Option<u8>>::Rejected(TIMED_OUT).__resil_cause(&ON),
            Err(Cause::Rejected(TIMED_OUT))
        );
        assert_eq!(Ended::returned(Some(1), Judgement::SUCCESS).__resil_cause(&ON), Ok(Some(1)));
    }

    /// A return type that is opaque to the caller.
    fn opaque() -> impl Iterator<Item = u8> {
        [1, 2].into_iter()
    }

    #[test]
    fn a_plain_return_type_is_answered_for_only_when_it_was_refused() {
        assert_eq!(Ended::returned(7, Judgement::FAILURE).__resil_cause(&ON), Ok(7));
        assert_eq!(
            Ended::<u8>::Rejected(TIMED_OUT).__resil_cause(&ON),
            Err(Cause::Rejected(TIMED_OUT))
        );
        let ended: Ended<_> = Ended::returned(opaque(), Judgement::SUCCESS);
        assert_eq!(ended.__resil_cause(&ON).map(Iterator::count), Ok(2));
    }

    #[test]
    fn a_disabled_fallback_answers_only_for_what_nothing_else_could_be_returned_for() {
        #[derive(PartialEq, Debug)]
        struct Refused(Rejected);
        impl From<Rejected> for Refused {
            fn from(rejected: Rejected) -> Self {
                Self(rejected)
            }
        }
        let off = Fallback::builder("off").build();
        off.disable();
        let cause = || Err(Cause::Rejected(TIMED_OUT));

        let ended = Ended::<Result<u8, Refused>>::Rejected(TIMED_OUT).__resil_pass(&off);
        assert_eq!(ended.__resil_cause(&off), Ok(Err(Refused(TIMED_OUT))));
        let failed = Ended::returned(DECLINED, Judgement::TRANSIENT).__resil_pass(&off);
        assert_eq!(failed.__resil_cause(&off), Ok(DECLINED));
        let ended = Ended::<Result<u8, &str>>::Rejected(TIMED_OUT).__resil_pass(&off);
        assert_eq!(
            ended.__resil_cause(&off).map_err(|cause| cause.rejected()),
            Err(Some(TIMED_OUT))
        );
        let none = Ended::returned(None::<u8>, Judgement::SUCCESS).__resil_pass(&off);
        assert_eq!(none.__resil_cause(&off), Ok(None));
        assert_eq!(
            Ended::<Option<u8>>::Rejected(TIMED_OUT).__resil_pass(&off).__resil_cause(&off),
            cause()
        );
        assert_eq!(OrRejected::<u8>(Err(TIMED_OUT)).__resil_pass(&off), Err(TIMED_OUT));
        let outcome = OrRejected::<Result<u8, Refused>>(Err(TIMED_OUT));
        assert_eq!(outcome.__resil_pass(&off), Ok(Err(Refused(TIMED_OUT))));

        let ended = Ended::<Result<u8, Refused>>::Rejected(TIMED_OUT).__resil_pass(&ON);
        assert_eq!(ended.__resil_cause(&ON), Err(Cause::Rejected(TIMED_OUT)));
        let outcome = OrRejected::<Result<u8, Refused>>(Err(TIMED_OUT));
        assert_eq!(outcome.__resil_pass(&ON), Err(TIMED_OUT));
    }
}
