//! The permission to make one call, and the duty to say how it went.

use super::CircuitBreaker;
use super::start::Start;
use super::word::Word;
use crate::contract::{Judgement, Verdict, Watched};
use crate::time::Nanos;
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
    start: Start,
    /// What to make of a drop.
    failed: bool,
}

impl<'a> Permit<'a> {
    #[inline]
    pub(super) fn new(breaker: &'a CircuitBreaker, admitted: Word, start: Start) -> Self {
        Self { breaker, admitted, start, failed: false }
    }

    /// The call begins now that the last gate inside the breaker has admitted it: from here on its time counts.
    ///
    /// For permits of [`acquire_gated`](CircuitBreaker::acquire_gated); of one whose time counts already it changes nothing.
    /// `reading` is the clock as that gate has read it, if it has: a timeout counts from there too.
    ///
    /// # Cost
    /// Where slowness does not count: a look at what was read on the way in. Else a clock reading, unless one is given.
    #[inline]
    pub fn begin(&mut self, reading: Option<Nanos>) {
        if self.start == Start::UNKNOWN {
            self.start = if self.admitted.waves_through() {
                Start::aside(reading)
            } else {
                self.breaker.begin(reading)
            };
        }
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
        let (breaker, admitted, start) = (permit.breaker, permit.admitted, permit.start);
        let good = matches!(judgement.verdict(), Verdict::Success);
        if !(good && breaker.passes(admitted)) {
            breaker.settle(admitted, start, judgement.verdict(), judgement.retry_after());
        }
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

    #[inline]
    fn begun(&self) -> Option<Nanos> {
        self.start.reading()
    }

    #[inline]
    fn over(&mut self, end: Nanos) {
        self.start = self.start.over(end, || self.breaker.live.slow_call());
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.breaker.abandon(self.admitted, self.start, self.failed);
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
