//! The deadline that one call runs under.

use super::{DeadlineLimit, EXCEEDED, LATE};
use crate::contract::{Event, Limit, Limits, Reason, Rejected, emit};
use crate::time::{Deadline, Nanos, now};

/// By when one call has to be over, and which deadline says so. Made by [`DeadlineLimit::start`].
#[derive(Clone, Copy, Debug)]
pub struct CallDeadline<'a> {
    limit: &'a DeadlineLimit,
    /// Not clipped: whether a caller's deadline is sooner is looked up where it matters.
    at: Nanos,
}

impl<'a> CallDeadline<'a> {
    #[inline]
    pub(super) const fn new(limit: &'a DeadlineLimit, at: Nanos) -> Self {
        Self { limit, at }
    }

    /// When the call began. Its first attempt begins then as well, where no gate stands before it.
    ///
    /// # Cost
    /// None, unless the deadline never comes or is disabled: then a clock reading.
    #[inline]
    pub fn begun(&self) -> Nanos {
        if self.at == Nanos::MAX { now() } else { self.at.since(self.limit.after) }
    }

    /// By when the call has to be over: its own deadline, or the caller's if that is sooner.
    ///
    /// # Cost
    /// One thread-local read.
    #[inline]
    pub fn deadline(&self) -> Deadline {
        Deadline::at_instant(self.at).min(Deadline::current())
    }
}

impl Limits for CallDeadline<'_> {
    #[inline]
    fn attempt(&self) -> Option<Nanos> {
        None
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        Deadline::at_instant(self.at)
    }

    #[inline]
    fn deadline_span(&self) -> Nanos {
        self.limit.after
    }

    #[inline]
    fn name(&self, _by: Limit) -> &'static str {
        self.limit.name
    }

    #[cold]
    fn ended(&self, _by: Limit) -> Rejected {
        let rejected = self.rejected();
        self.limit.counters.add(EXCEEDED);
        emit(&Event::DeadlineExceeded(rejected));
        rejected
    }

    #[cold]
    fn late(&self, _by: Limit) {
        self.limit.counters.add(LATE);
        emit(&Event::Late(self.rejected()));
    }
}

impl CallDeadline<'_> {
    fn rejected(&self) -> Rejected {
        Rejected::new(Reason::DeadlineExceeded, self.limit.name)
    }
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use super::*;
    use crate::contract::{Policy, limited, recorded};
    use crate::testing::pause;
    use crate::time::sleep;
    use crate::time::testkit::poll_once;
    use core::future::pending;
    use core::pin::pin;
    use core::task::Poll;
    use core::time::Duration;

    fn exceeded(limit: &DeadlineLimit) -> u64 {
        let mut count = 0;
        limit.counters(&mut |counter| {
            if counter.name == "exceeded" {
                count = counter.value;
            }
        });
        count
    }

    #[test]
    fn it_counts_from_the_start_of_the_call_not_of_the_attempt() {
        static CALL: DeadlineLimit =
            DeadlineLimit::builder("shop::call").after(Duration::from_millis(100)).build();
        let clock = pause();
        let call = CALL.start();
        for (waits, ends) in [("60ms", false), ("40ms", true)] {
            let mut permit = ();
            let mut attempt = pin!(limited(&mut permit, call, pending::<()>()));
            assert!(poll_once(attempt.as_mut()).is_pending());
            clock.advance(waits);
            let (poll, events) = recorded(|| poll_once(attempt.as_mut()));
            assert_eq!(poll.is_ready(), ends);
            let exceeded = Rejected::new(Reason::DeadlineExceeded, "shop::call");
            if ends {
                assert_eq!(poll, Poll::Ready(Err(exceeded)));
                assert_eq!(events, [Event::DeadlineExceeded(exceeded)]);
            }
        }
        assert_eq!(exceeded(&CALL), 1);
        assert!(call.deadline().is_expired());
    }

    #[test]
    fn a_call_inside_another_has_no_more_time_than_that_one() {
        static OUTER: DeadlineLimit =
            DeadlineLimit::builder("shop::outer").after(Duration::from_millis(100)).build();
        static INNER: DeadlineLimit =
            DeadlineLimit::builder("shop::inner").after(Duration::from_secs(1)).build();
        let clock = pause();
        let begin = now();
        let body = async {
            sleep(Nanos::from_ms(30)).await;
            let inner = INNER.start();
            let left = inner.deadline().remaining();
            limited(&mut (), inner, pending::<()>()).await.ok();
            left
        };
        let mut permit = ();
        let mut call = pin!(limited(&mut permit, OUTER.start(), body));
        assert!(poll_once(call.as_mut()).is_pending());
        clock.advance("30ms");
        assert!(poll_once(call.as_mut()).is_pending());
        assert_eq!(clock.timers(), 1, "the outer deadline is the only one to wait for");
        clock.advance("70ms");
        let outer = Rejected::new(Reason::DeadlineExceeded, "shop::outer");
        assert_eq!(poll_once(call.as_mut()), Poll::Ready(Err(outer)));
        assert_eq!(now().since(begin), Nanos::from_ms(100));
        assert_eq!((exceeded(&OUTER), exceeded(&INNER)), (1, 0), "counted where it was set");
    }

    #[test]
    fn what_is_left_is_clipped_by_a_caller() {
        static LONG: DeadlineLimit =
            DeadlineLimit::builder("shop::long").after(Duration::from_secs(9)).build();
        let _clock = pause();
        let outer = Deadline::after(Duration::from_secs(1));
        let mut task = pin!(outer.attach(async { LONG.start().deadline() }));
        assert_eq!(poll_once(task.as_mut()), Poll::Ready(outer));
        assert_eq!(LONG.start().deadline().remaining(), Some(Duration::from_secs(9)));
    }
}
