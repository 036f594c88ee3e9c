//! The permission to make one call, and the duty to say how it went.

use super::CircuitBreaker;
use super::machine::Outcome;
use super::word::Word;
use crate::cell::window::Mark;
use crate::contract::{Judgement, Verdict, Watched};
use crate::time::{self, Nanos};
use core::fmt;
use core::mem::ManuallyDrop;

/// A call admitted by a [`CircuitBreaker`].
///
/// Carries the generation it was issued under: if the breaker has changed its state when the call ends, its outcome changes
/// nothing and is counted as lost.
///
/// Dropped without a verdict, it is abandoned: a probe's place is given back and nothing is voted, unless the call was
/// already slower than `slow_call`, or the guard that held it saw the body panic or its timeout pass; then it is a
/// failure.
#[must_use = "a permit that is dropped at once counts as an abandoned call"]
pub struct Permit<'a> {
    breaker: &'a CircuitBreaker,
    admitted: Word,
    /// When the call began; [`Nanos::MAX`] where slowness does not count.
    start: Nanos,
    /// What to make of a drop.
    failed: bool,
}

impl<'a> Permit<'a> {
    #[inline]
    pub(super) fn new(breaker: &'a CircuitBreaker, admitted: Word, start: Nanos) -> Self {
        Self { breaker, admitted, start, failed: false }
    }

    /// The callee did its work.
    #[inline]
    pub fn success(self) {
        self.settle(Judgement::SUCCESS);
    }

    /// The callee failed.
    #[inline]
    pub fn failure(self) {
        self.settle(Judgement::FAILURE);
    }

    /// The outcome says nothing about the callee.
    #[inline]
    pub fn ignore(self) {
        self.settle(Judgement::IGNORED);
    }

    /// Says how the call went. A failure's `retry_after` lengthens the open wait if this failure opens the breaker.
    ///
    /// # Cost
    /// Success while the window is clean: one relaxed load, and one addition on this thread's own line. One clock reading
    /// more where slowness counts.
    #[inline]
    pub fn settle(self, judgement: Judgement) {
        let permit = ManuallyDrop::new(self);
        let good = matches!(judgement.verdict(), Verdict::Success);
        if good && permit.start == Nanos::MAX && permit.breaker.passes(permit.admitted) {
            return;
        }
        permit.breaker.settle(
            permit.admitted,
            permit.outcome(judgement.verdict()),
            judgement.retry_after(),
        );
    }

    fn outcome(&self, verdict: Verdict) -> Outcome {
        match verdict {
            Verdict::Success => Outcome::Vote(Mark::new(false, self.is_slow())),
            Verdict::Failure => Outcome::Vote(Mark::new(true, self.is_slow())),
            Verdict::Ignored => Outcome::NoVote,
        }
    }

    fn is_slow(&self) -> bool {
        self.start != Nanos::MAX && time::now().since(self.start) > self.breaker.slow_call()
    }
}

impl Watched for Permit<'_> {
    #[inline]
    fn running(&mut self, running: bool) {
        self.failed = running;
    }

    #[inline]
    fn overdue(&mut self) {
        self.failed = true;
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        let slow = self.is_slow();
        self.breaker.abandon(self.admitted, (self.failed || slow).then_some(Mark::new(true, slow)));
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("breaker", &self.breaker.name())
            .field("state", &self.admitted.state())
            .field("generation", &self.admitted.generation())
            .finish()
    }
}
