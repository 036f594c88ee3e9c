//! The limit that one attempt runs under.

use super::{CUT_SHORT, LATE, TIMED_OUT, Timeout};
use crate::contract::{Event, Limit, Limits, Reason, Rejected, emit};
use crate::time::{Deadline, Nanos};

/// The time of one attempt that is known only at the call, and which timeout it belongs to. Made by [`Timeout::limit_of`].
#[derive(Clone, Copy, Debug)]
pub struct AttemptLimit<'a> {
    timeout: &'a Timeout,
    span: Nanos,
}

impl<'a> AttemptLimit<'a> {
    #[inline]
    pub(super) const fn new(timeout: &'a Timeout, span: Nanos) -> Self {
        Self { timeout, span }
    }
}

impl Limits for AttemptLimit<'_> {
    #[inline]
    fn attempt(&self) -> Option<Nanos> {
        self.timeout.is_enabled().then_some(self.span)
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        Deadline::NEVER
    }

    #[inline]
    fn deadline_span(&self) -> Nanos {
        Nanos::MAX
    }

    #[inline]
    fn name(&self, _by: Limit) -> &'static str {
        self.timeout.name
    }

    fn ended(&self, by: Limit) -> Rejected {
        self.timeout.ended(by)
    }

    fn late(&self, by: Limit) {
        self.timeout.late(by);
    }
}

/// A timeout whose time is written: see [`Timeout::limit`].
impl Limits for Timeout {
    #[inline]
    fn attempt(&self) -> Option<Nanos> {
        // Without a time there is none, rather than no end of it; `limit` lets nobody come here so.
        self.is_enabled().then_some(self.after.unwrap_or(Nanos::ZERO))
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        Deadline::NEVER
    }

    #[inline]
    fn deadline_span(&self) -> Nanos {
        Nanos::MAX
    }

    #[inline]
    fn name(&self, _by: Limit) -> &'static str {
        self.name
    }

    #[cold]
    fn ended(&self, by: Limit) -> Rejected {
        let rejected = self.rejected(by);
        let (count, event) = match by {
            Limit::Attempt => (TIMED_OUT, Event::TimedOut(rejected)),
            Limit::Deadline => (CUT_SHORT, Event::DeadlineExceeded(rejected)),
        };
        self.counters.add(count);
        emit(&event);
        rejected
    }

    #[cold]
    fn late(&self, by: Limit) {
        self.counters.add(LATE);
        emit(&Event::Late(self.rejected(by)));
    }
}

impl Timeout {
    fn rejected(&self, by: Limit) -> Rejected {
        let reason = match by {
            Limit::Attempt => Reason::TimedOut,
            Limit::Deadline => Reason::DeadlineExceeded,
        };
        Rejected::new(reason, self.name)
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use super::*;
    use crate::contract::{Counter, Policy, limited, recorded};
    use crate::testing::pause;
    use crate::time::testkit::poll_once;
    use core::future::pending;
    use core::pin::pin;
    use core::task::Poll;
    use core::time::Duration;

    fn counts(policy: &dyn Policy) -> Vec<(&'static str, u64)> {
        let mut counts = Vec::new();
        policy.counters(&mut |Counter { name, value }| counts.push((name, value)));
        counts
    }

    #[test]
    fn an_attempt_that_times_out_is_counted_and_told_once() {
        static CHARGE: Timeout =
            Timeout::builder("shop::charge").after(Duration::from_millis(100)).build();
        let clock = pause();
        let timed_out = Rejected::new(Reason::TimedOut, "shop::charge");
        let mut permit = ();
        let mut future = pin!(limited(&mut permit, CHARGE.limit(), pending::<()>()));
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("100ms");
        let (poll, events) = recorded(|| poll_once(future.as_mut()));
        assert_eq!(poll, Poll::Ready(Err(timed_out)));
        assert_eq!(events, [Event::TimedOut(timed_out)]);
        assert_eq!(counts(&CHARGE), [("timed_out", 1), ("cut_short", 0), ("late", 0)]);
    }

    #[test]
    fn to11_a_computed_zero_times_out_at_once() {
        static DYNAMIC: Timeout = Timeout::builder("shop::dynamic").build();
        let _clock = pause();
        let mut permit = ();
        let mut started = false;
        {
            let body = async { started = true };
            let mut future = pin!(limited(&mut permit, DYNAMIC.limit_of(Duration::ZERO), body));
            let timed_out = Rejected::new(Reason::TimedOut, "shop::dynamic");
            assert_eq!(poll_once(future.as_mut()), Poll::Ready(Err(timed_out)));
        }
        assert!(!started);
        assert_eq!(counts(&DYNAMIC), [("timed_out", 1), ("cut_short", 0), ("late", 0)]);
    }

    #[test]
    fn a_deadline_that_was_carried_here_is_counted_apart() {
        static WORKER: Timeout =
            Timeout::builder("shop::worker").after(Duration::from_millis(100)).build();
        let clock = pause();
        let mut permit = ();
        let body = limited(&mut permit, WORKER.limit(), pending::<()>());
        let mut task = pin!(Deadline::after(Duration::from_millis(50)).attach(body));
        assert!(poll_once(task.as_mut()).is_pending());
        clock.advance("50ms");
        let (poll, events) = recorded(|| poll_once(task.as_mut()));
        let exceeded = Rejected::new(Reason::DeadlineExceeded, "shop::worker");
        assert_eq!(poll, Poll::Ready(Err(exceeded)));
        assert_eq!(events, [Event::DeadlineExceeded(exceeded)]);
        assert_eq!(counts(&WORKER), [("timed_out", 0), ("cut_short", 1), ("late", 0)]);
    }
}
