//! What one attempt came to, worked out once and shared by every policy of the function.

use super::Rejected;
use crate::time::Nanos;
use core::time::Duration;

/// What an outcome means to the policies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// The callee did its work.
    Success,
    /// The callee failed; breakers count it.
    Failure,
    /// The outcome says nothing about the callee (a client's mistake, our own refusal): no vote.
    Ignored,
}

/// A [`Verdict`] with what retry needs to know beside it.
///
/// # Examples
/// ```
/// use core::time::Duration;
/// # use resil_core as resil;
/// use resil::{Judgement, Verdict};
///
/// let busy = Judgement::TRANSIENT.after(Duration::from_secs(2));
/// assert_eq!(busy.verdict(), Verdict::Failure);
/// assert!(busy.is_retryable());
/// assert_eq!(busy.retry_after(), Some(Duration::from_secs(2)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judgement {
    verdict: Verdict,
    retryable: bool,
    aborted: bool,
    /// [`Nanos::MAX`] for none.
    retry_after: Nanos,
}

impl Judgement {
    /// The callee did its work.
    pub const SUCCESS: Self = Self::plain(Verdict::Success, false);
    /// A failure that another attempt would not mend.
    pub const FAILURE: Self = Self::plain(Verdict::Failure, false);
    /// A failure that another attempt may mend.
    pub const TRANSIENT: Self = Self::plain(Verdict::Failure, true);
    /// No vote, and no retry.
    pub const IGNORED: Self = Self::plain(Verdict::Ignored, false);

    const fn plain(verdict: Verdict, retryable: bool) -> Self {
        Self { verdict, retryable, aborted: false, retry_after: Nanos::MAX }
    }

    /// The callee asked to be left alone for `wait` (an HTTP `Retry-After`, a gRPC pushback); kept to at most 584 years.
    #[must_use]
    pub const fn after(mut self, wait: Duration) -> Self {
        let wait = Nanos::from_duration(wait);
        self.retry_after = if wait.0 == u64::MAX { Nanos(u64::MAX - 1) } else { wait };
        self
    }

    /// What the outcome means to the policies.
    #[inline]
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether another attempt may mend it.
    #[inline]
    pub const fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// How long the callee asked to be left alone.
    #[inline]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.retry_after {
            Nanos(u64::MAX) => None,
            wait => Some(wait.to_duration()),
        }
    }

    /// Whether a fallback may answer for it: failures, unless an `abort` pattern said that they are bugs.
    #[inline]
    pub const fn falls_back(&self) -> bool {
        matches!(self.verdict, Verdict::Failure) && !self.aborted
    }
}

/// The rules of the attribute's patterns. Each keeps the callee's own hint.
impl Judgement {
    /// Matched by `abort`: a failure that is neither retried nor answered by a fallback.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn abort(self) -> Self {
        Self { verdict: Verdict::Failure, retryable: false, aborted: true, ..self }
    }

    /// Matched by `ignore`.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn ignore(self) -> Self {
        Self { verdict: Verdict::Ignored, retryable: false, aborted: false, ..self }
    }

    /// Matched by `on`: a failure, and retried.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn retry(self) -> Self {
        Self { verdict: Verdict::Failure, retryable: true, aborted: false, ..self }
    }

    /// Matched by `failure`, where no `on` selects what is retried.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn fail(self) -> Self {
        self.retry()
    }

    /// Matched by `failure` but not by the `on` beside it: a failure, not retried.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn fail_once(self) -> Self {
        Self { verdict: Verdict::Failure, retryable: false, aborted: false, ..self }
    }

    /// Matched by no pattern, where an `on` selects what is retried: the verdict stands, without a retry.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub const fn unlisted(self) -> Self {
        Self { retryable: false, ..self }
    }

    /// A limit ended the attempt: a failure, retried if the function's retry says so. If the body had not begun, no vote.
    #[doc(hidden)]
    #[cold]
    pub const fn ended(rejected: &Rejected, retryable: bool) -> Self {
        if rejected.has_begun() { Self::plain(Verdict::Failure, retryable) } else { Self::IGNORED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_overrules_the_verdict_and_keeps_the_hint() {
        let hinted = Judgement::FAILURE.after(Duration::from_secs(3));
        for ruled in
            [hinted.abort(), hinted.ignore(), hinted.retry(), hinted.fail_once(), hinted.unlisted()]
        {
            assert_eq!(ruled.retry_after(), Some(Duration::from_secs(3)));
        }
        assert_eq!(hinted.ignore().verdict(), Verdict::Ignored);
        assert!(hinted.retry().is_retryable());
        assert!(!Judgement::TRANSIENT.unlisted().is_retryable());
        assert!(!Judgement::TRANSIENT.fail_once().is_retryable());
    }

    #[test]
    fn it_fits_in_two_registers_and_keeps_any_hint() {
        assert_eq!(size_of::<Judgement>(), 16);
        for wait in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(3_600)] {
            assert_eq!(Judgement::FAILURE.after(wait).retry_after(), Some(wait));
        }
        assert!(Judgement::FAILURE.after(Duration::MAX).retry_after().is_some());
    }

    #[test]
    fn only_unaborted_failures_fall_back() {
        assert!(Judgement::FAILURE.falls_back());
        assert!(Judgement::TRANSIENT.falls_back());
        assert!(!Judgement::TRANSIENT.abort().falls_back());
        assert!(!Judgement::IGNORED.falls_back());
        assert!(!Judgement::SUCCESS.falls_back());
    }
}
