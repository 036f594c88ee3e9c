//! One call's attempts: a few words on its stack, and the clock, counters and events around the decision.
//!
//! Invariant: a call ends in exactly one of the six outcome counters, on whatever path it is left; a scheduled retry is
//! one count, one event and one wait, and the three agree. What a scheduled attempt was paid with is spent or given back.

use super::purse::{Purse, Unbudgeted};
use super::schedule::{self, Limits};
use super::{Retry, count};
use crate::contract::{Event, Judgement, Reason, Rejected, Stop, Verdict, emit};
use crate::time::{self, Deadline, Nanos};
use core::time::Duration;

/// The attempts of one call, in order.
///
/// Begun by [`Retry::start`]. After each attempt [`next`](Self::next) says how long to wait before another one, or that
/// the call is over and its newest outcome is the answer. Nothing of it is shared: concurrent calls neither see nor slow each other.
///
/// # Cancellation
/// Dropped before the call is over (the body panicked, the future was dropped, also while it waits) it counts the call
/// as abandoned, and gives back to a budget what the attempt to come was to cost.
#[derive(Debug)]
#[must_use = "attempts that nobody ends count as abandoned"]
pub struct Attempts<'a, P: Purse = Unbudgeted> {
    retry: &'a Retry,
    purse: P,
    /// No attempt starts after this; [`Nanos::MAX`] for no limit.
    last_start: Nanos,
    /// What the backoff drew last, for decorrelated jitter.
    drawn: Nanos,
    /// The attempt under way, from 1.
    number: u32,
    /// The call is counted.
    over: bool,
}

impl<'a, P: Purse> Attempts<'a, P> {
    #[inline]
    pub(super) fn new(retry: &'a Retry, within: Nanos, purse: P) -> Self {
        let last_start = if within == Nanos::MAX { Nanos::MAX } else { from_now(within) };
        Self { retry, purse, last_start, drawn: Nanos::ZERO, number: 1, over: false }
    }

    /// Every gate has admitted the attempt under way: to be said before it runs, where the call has a budget.
    ///
    /// The first attempt so admitted pays in; a later one was paid for when it was scheduled, and now that is spent. An
    /// attempt of which this is not said is taken as admitted when [`next`](Self::next) says how it ended.
    ///
    /// # Cost
    /// Without a budget nothing; else, for a first attempt, a [`deposit`](crate::Budget::deposit).
    #[inline]
    pub fn admitted(&mut self) {
        self.purse.admit();
    }

    /// The number of the attempt under way, from 1.
    #[inline]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// What it means that a timeout or deadline ended the attempt: a failure, worth another attempt if it was the
    /// attempt's own timeout and `on_timeout` says so. One that had not begun is nobody's failure.
    #[cold]
    pub fn judge(&self, rejected: &Rejected) -> Judgement {
        let timed_out = matches!(rejected.reason(), Reason::TimedOut);
        Judgement::ended(rejected, timed_out && self.retry.options().on_timeout)
    }

    /// After an attempt: `Some(wait)` to sleep for exactly that long and to attempt again, `None` if the call is over.
    ///
    /// The wait is what the backoff drew, or the callee's `retry_after` if that is longer. It is never one that would
    /// end after `within`, or at or after `deadline` or the ambient deadline. A budget is asked before the wait begins.
    ///
    /// # Cost
    /// After a success: one count, no reading of the clock. After a failure: one reading if time limits the call.
    #[inline]
    pub fn next(&mut self, judgement: Judgement, deadline: Deadline) -> Option<Nanos> {
        self.purse.admit();
        if !judgement.is_retryable() {
            return self.end(judgement.verdict());
        }
        let decision = self.retry.again(self.at(deadline), self.purse, judgement.retry_after());
        self.follow(decision)
    }

    /// As [`next`](Self::next), where `delay` computes the backoff: called once, and only if another attempt may follow.
    ///
    /// Jitter spreads what it returned if the policy was given one.
    #[inline]
    pub fn next_by(
        &mut self,
        judgement: Judgement,
        deadline: Deadline,
        delay: impl FnOnce() -> Duration,
    ) -> Option<Nanos> {
        self.purse.admit();
        if !judgement.is_retryable() {
            return self.end(judgement.verdict());
        }
        let asked = judgement.retry_after();
        let decision = if self.retry.may_follow(self.at(deadline), asked) {
            self.retry.again_by(self.at(deadline), self.purse, asked, delay())
        } else {
            Decision::over(self.purse)
        };
        self.follow(decision)
    }

    /// After a refusal by one of our own policies: as [`next`](Self::next).
    ///
    /// Retried only if `on_rejected` says so and the refusal says when to come back. It then waits that long, or longer
    /// if the backoff says so, and the refused attempt counts like one that failed. It loaded nobody: what a budget gave
    /// for it is given back.
    #[inline]
    pub fn refused(&mut self, rejected: Rejected, deadline: Deadline) -> Option<Nanos> {
        let decision = self.retry.refused(self.at(deadline), self.purse, rejected);
        self.follow(decision)
    }

    /// The deadline ended what was to be done before the next attempt: the call is over with the outcome it has.
    pub fn out_of_time(&mut self) {
        self.purse.give_back();
        self.retry.out_of_time(self.at(Deadline::NEVER));
        self.over = true;
    }

    /// Where the call stands, for the slow paths: by value, so that on the fast path it need not be in memory.
    #[inline]
    fn at(&self, deadline: Deadline) -> At {
        At {
            number: self.number,
            drawn: self.drawn,
            last_start: self.last_start,
            deadline,
            over: self.over,
        }
    }

    #[inline]
    fn follow(&mut self, Decision { wait, drawn, purse }: Decision<P>) -> Option<Nanos> {
        self.purse = purse;
        if wait == Nanos::MAX {
            self.over = true;
            return None;
        }
        self.number = self.number.saturating_add(1);
        self.drawn = drawn;
        Some(wait)
    }

    /// The call is over with what the attempt came to.
    #[inline]
    fn end(&mut self, verdict: Verdict) -> Option<Nanos> {
        if !self.over {
            self.over = true;
            if self.number == 1 && matches!(verdict, Verdict::Success) {
                self.retry.count(count::FIRST_TRY);
            } else {
                self.retry.ended_late(verdict);
            }
        }
        None
    }
}

impl<P: Purse> Drop for Attempts<'_, P> {
    #[inline]
    fn drop(&mut self) {
        if !self.over {
            self.retry.abandoned(self.purse);
        }
    }
}

/// Where a call stands after an attempt.
#[derive(Clone, Copy)]
struct At {
    number: u32,
    drawn: Nanos,
    last_start: Nanos,
    deadline: Deadline,
    over: bool,
}

impl At {
    fn limits(&self) -> Limits {
        // An outer guard's deadline binds as well, whatever the caller handed over.
        let deadline = self.deadline.min(Deadline::current()).at();
        Limits { last_start: self.last_start, deadline }
    }

    /// Whether the next attempt starts in time if it waits that long.
    fn fits(&self, wait: Nanos) -> Result<(), Stop> {
        let limits = self.limits();
        if limits.exist() { schedule::fits(wait, time::now(), limits) } else { Ok(()) }
    }
}

/// What a slow path decided, in two registers where there is no budget.
#[derive(Clone, Copy)]
struct Decision<P> {
    /// [`Nanos::MAX`] if the call is over; no wait is that long.
    wait: Nanos,
    /// What the backoff drew.
    drawn: Nanos,
    /// As it is after the decision.
    purse: P,
}

impl<P> Decision<P> {
    const fn over(purse: P) -> Self {
        Self { wait: Nanos::MAX, drawn: Nanos::ZERO, purse }
    }
}

#[cold]
#[inline(never)]
fn from_now(span: Nanos) -> Nanos {
    time::now().plus(span)
}

/// The slow paths: what is counted, told and measured around a decision.
impl Retry {
    #[cold]
    #[inline(never)]
    fn again<P: Purse>(&self, at: At, purse: P, asked: Option<Duration>) -> Decision<P> {
        if !self.may_follow(at, asked) {
            return Decision::over(purse);
        }
        self.schedule(at, purse, self.draw(at), asked)
    }

    #[cold]
    #[inline(never)]
    fn again_by<P: Purse>(
        &self,
        at: At,
        purse: P,
        asked: Option<Duration>,
        delay: Duration,
    ) -> Decision<P> {
        let own = self.options().jitter.spread(Nanos::from_duration(delay), Nanos::MAX);
        self.schedule(at, purse, own, asked)
    }

    #[cold]
    #[inline(never)]
    fn refused<P: Purse>(&self, at: At, mut purse: P, rejected: Rejected) -> Decision<P> {
        purse.give_back();
        if at.over {
            return Decision::over(purse);
        }
        let Some(asked) =
            rejected.retry_after().filter(|_| self.options().on_rejected && self.is_enabled())
        else {
            self.count(count::REFUSED);
            return Decision::over(purse);
        };
        match schedule::may_follow(self.options(), at.number, at.limits()) {
            Ok(()) => self.schedule(at, purse, self.draw(at), Some(asked)),
            Err(stop) => {
                self.exhausted(at, stop);
                Decision::over(purse)
            }
        }
    }

    /// Whether another attempt may follow; if not, the call is counted.
    #[cold]
    #[inline(never)]
    fn may_follow(&self, at: At, asked: Option<Duration>) -> bool {
        if at.over {
            return false;
        }
        if !self.is_enabled() {
            self.count(count::NOT_RETRIED);
            return false;
        }
        let may_follow = schedule::may_follow(self.options(), at.number, at.limits())
            .and_then(|()| schedule::is_bearable(self.options(), asked));
        if let Err(stop) = may_follow {
            self.exhausted(at, stop);
        }
        may_follow.is_ok()
    }

    fn draw(&self, at: At) -> Nanos {
        self.options().backoff.draw(self.options().jitter, at.number - 1, at.drawn)
    }

    fn schedule<P: Purse>(
        &self,
        at: At,
        mut purse: P,
        own: Nanos,
        asked: Option<Duration>,
    ) -> Decision<P> {
        let wait = schedule::wait(own, asked);
        if let Err(stop) = at.fits(wait).and_then(|()| purse.pay()) {
            self.exhausted(at, stop);
            return Decision::over(purse);
        }
        self.count(count::RETRIES);
        emit(&Event::RetryScheduled {
            policy: self.policy_name(),
            attempt: at.number.saturating_add(1),
            wait: wait.to_duration(),
        });
        Decision { wait, drawn: own, purse }
    }

    #[cold]
    #[inline(never)]
    fn out_of_time(&self, at: At) {
        if !at.over {
            // The attempt that was scheduled did not begin.
            self.exhausted(At { number: (at.number - 1).max(1), ..at }, Stop::Deadline);
        }
    }

    fn exhausted(&self, at: At, stop: Stop) {
        self.count(count::EXHAUSTED);
        emit(&Event::RetriesExhausted { policy: self.policy_name(), attempts: at.number, stop });
    }

    /// Not by a success at the first try.
    #[cold]
    #[inline(never)]
    fn ended_late(&self, verdict: Verdict) {
        self.count(match verdict {
            Verdict::Success => count::RECOVERED,
            Verdict::Failure | Verdict::Ignored => count::NOT_RETRIED,
        });
    }

    #[cold]
    #[inline(never)]
    fn abandoned<P: Purse>(&self, mut purse: P) {
        purse.give_back();
        self.count(count::ABANDONED);
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use super::*;
    use crate::cell::backoff::Backoff;
    use crate::cell::jitter::Jitter;

    #[test]
    fn r03_an_attempt_number_at_its_limit_stays_there() {
        let _clock = crate::testing::pause();
        let retry = Retry::builder("f")
            .within(Duration::from_secs(1))
            .backoff(Backoff::exponential(Duration::from_nanos(1), Duration::from_millis(1)))
            .jitter(Jitter::None)
            .build();
        let mut attempts = retry.start();
        attempts.number = u32::MAX;
        assert_eq!(attempts.next(Judgement::TRANSIENT, Deadline::NEVER), Some(Nanos::from_ms(1)));
        assert_eq!(attempts.number(), u32::MAX);
    }

    #[test]
    fn what_a_call_keeps_on_its_stack_is_small() {
        assert!(size_of::<Attempts<'_>>() <= 32);
    }
}
