//! One call's attempts: a few words on its stack, and the clock, counters and events around the decision.
//!
//! Invariant: a call ends in exactly one of the six outcome counters, on whatever path it is left; a scheduled retry is
//! one count, one event and one wait, and the three agree.

use super::options::Options;
use super::schedule::{self, Limits};
use super::{Retry, count};
use crate::contract::{Event, Judgement, Reason, Rejected, Stop, Verdict, emit};
use crate::time::{self, Deadline, Nanos};
use core::time::Duration;

/// The attempts of one call, in order.
///
/// Begun by [`Retry::start`]. After each attempt [`next`](Self::next) says how long to wait before another one, or that the call is over
/// and its newest outcome is the answer. Nothing of it is shared: concurrent calls neither see nor slow each other.
///
/// # Cancellation
/// Dropped before the call is over (the body panicked, the future was dropped, also while it waits) it counts the call
/// as abandoned.
#[derive(Debug)]
#[must_use = "attempts that nobody ends count as abandoned"]
pub struct Attempts<'a> {
    retry: &'a Retry,
    /// No attempt starts after this; [`Nanos::MAX`] for no limit.
    last_start: Nanos,
    /// What the backoff drew last, for decorrelated jitter.
    drawn: Nanos,
    /// The attempt under way, from 1.
    number: u32,
    /// The call is counted.
    over: bool,
}

/// Another attempt.
#[derive(Clone, Copy)]
struct Again {
    wait: Nanos,
    drawn: Nanos,
}

impl<'a> Attempts<'a> {
    #[inline]
    pub(super) fn new(retry: &'a Retry, within: Nanos) -> Self {
        let last_start = if within == Nanos::MAX {
            Nanos::MAX
        } else {
            time::now().plus(within)
        };
        Self {
            retry,
            last_start,
            drawn: Nanos::ZERO,
            number: 1,
            over: false,
        }
    }

    /// The number of the attempt under way, from 1.
    #[inline]
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// What it means that a timeout or deadline ended the attempt: a failure, worth another attempt if it was the attempt's
    /// own timeout and `on_timeout` says so.
    #[cold]
    pub fn judge(&self, rejected: &Rejected) -> Judgement {
        let timed_out = matches!(rejected.reason(), Reason::TimedOut);
        Judgement::timed_out(timed_out && self.retry.options().on_timeout)
    }

    /// After an attempt: `Some(wait)` to sleep for exactly that long and to attempt again, `None` if the call is over.
    ///
    /// The wait is what the backoff drew, or the callee's `retry_after` if that is longer. There is none that would
    /// end after `within`, at or past `deadline` or the ambient deadline.
    ///
    /// # Cost
    /// After a success: one count, no reading of the clock. After a failure: one reading if time limits the call.
    #[inline]
    pub fn next(&mut self, judgement: Judgement, deadline: Deadline) -> Option<Nanos> {
        if !judgement.is_retryable() {
            return self.end(judgement.verdict());
        }
        let again = self.retry.again(self.at(deadline), judgement.retry_after());
        self.follow(again)
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
        if !judgement.is_retryable() {
            return self.end(judgement.verdict());
        }
        if !self
            .retry
            .may_follow(self.at(deadline), judgement.retry_after())
        {
            return self.follow(None);
        }
        let again = self
            .retry
            .again_by(self.at(deadline), judgement.retry_after(), delay());
        self.follow(again)
    }

    /// After a refusal by one of our own policies: as [`next`](Self::next).
    ///
    /// Retried only if `on_rejected` says so and the refusal says when to come back. It then waits that long, or longer if the
    /// backoff says so; the refused attempt counts like one that failed.
    #[inline]
    pub fn refused(&mut self, rejected: Rejected, deadline: Deadline) -> Option<Nanos> {
        let again = self.retry.refused(self.at(deadline), rejected);
        self.follow(again)
    }

    /// Where the call stands, for the slow paths. They take it by value, so that on the fast path it need not be in
    /// memory.
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
    fn follow(&mut self, again: Option<Again>) -> Option<Nanos> {
        let Some(Again { wait, drawn }) = again else {
            self.over = true;
            return None;
        };
        self.number = self.number.saturating_add(1);
        self.drawn = drawn;
        Some(wait)
    }

    /// The call is over with what the attempt came to.
    #[inline]
    fn end(&mut self, verdict: Verdict) -> Option<Nanos> {
        if !self.over {
            self.over = true;
            match verdict {
                Verdict::Success if self.number == 1 => self.retry.count(count::FIRST_TRY),
                Verdict::Success => self.retry.count(count::RECOVERED),
                Verdict::Failure | Verdict::Ignored => self.retry.count(count::NOT_RETRIED),
            }
        }
        None
    }
}

impl Drop for Attempts<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.over {
            self.retry.abandoned();
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
        Limits {
            last_start: self.last_start,
            deadline: self.deadline.min(Deadline::current()).at(),
        }
    }
}

impl Retry {
    #[cold]
    #[inline(never)]
    fn again(&self, at: At, asked: Option<Duration>) -> Option<Again> {
        if !self.may_follow(at, asked) {
            return None;
        }
        let Options {
            backoff, jitter, ..
        } = self.options();
        let own = backoff.draw(*jitter, at.number - 1, at.drawn);
        self.schedule(at, own, asked)
    }

    #[cold]
    #[inline(never)]
    fn again_by(&self, at: At, asked: Option<Duration>, delay: Duration) -> Option<Again> {
        let own = self
            .options()
            .jitter
            .spread(Nanos::from_duration(delay), Nanos::MAX);
        self.schedule(at, own, asked)
    }

    #[cold]
    #[inline(never)]
    fn refused(&self, at: At, rejected: Rejected) -> Option<Again> {
        if at.over {
            return None;
        }
        let Some(asked) = rejected
            .retry_after()
            .filter(|_| self.options().on_rejected)
        else {
            self.count(count::REFUSED);
            return None;
        };
        if let Err(stop) = schedule::may_follow(self.options(), at.number, at.limits()) {
            return self.exhausted(at, stop);
        }
        let Options {
            backoff, jitter, ..
        } = self.options();
        let own = backoff.draw(*jitter, at.number - 1, at.drawn);
        self.schedule(at, own, Some(asked))
    }

    /// Whether another attempt may follow; if not, the call is counted.
    #[cold]
    #[inline(never)]
    fn may_follow(&self, at: At, asked: Option<Duration>) -> bool {
        if at.over {
            return false;
        }
        let options = self.options();
        let verdict = schedule::may_follow(options, at.number, at.limits())
            .and_then(|()| schedule::is_bearable(options, asked));
        match verdict {
            Ok(()) => true,
            Err(stop) => self.exhausted(at, stop).is_some(),
        }
    }

    fn schedule(&self, at: At, own: Nanos, asked: Option<Duration>) -> Option<Again> {
        let limits = at.limits();
        let wait = schedule::wait(own, asked);
        if limits.exist()
            && let Err(stop) = schedule::fits(wait, time::now(), limits)
        {
            return self.exhausted(at, stop);
        }
        self.count(count::RETRIES);
        emit(&Event::RetryScheduled {
            policy: self.policy_name(),
            attempt: at.number.saturating_add(1),
            wait: wait.to_duration(),
        });
        Some(Again { wait, drawn: own })
    }

    fn exhausted(&self, at: At, stop: Stop) -> Option<Again> {
        self.count(count::EXHAUSTED);
        emit(&Event::RetriesExhausted {
            policy: self.policy_name(),
            attempts: at.number,
            stop,
        });
        None
    }

    #[cold]
    #[inline(never)]
    fn abandoned(&self) {
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
            .backoff(Backoff::exponential(
                Duration::from_nanos(1),
                Duration::from_millis(1),
            ))
            .jitter(Jitter::None)
            .build();
        let mut attempts = retry.start();
        attempts.number = u32::MAX;
        assert_eq!(
            attempts.next(Judgement::TRANSIENT, Deadline::NEVER),
            Some(Nanos::from_ms(1))
        );
        assert_eq!(attempts.number(), u32::MAX);
    }

    #[test]
    fn what_a_call_keeps_on_its_stack_is_small() {
        assert!(size_of::<Attempts<'_>>() <= 32);
    }
}
