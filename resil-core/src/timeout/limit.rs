//! The limit that one attempt runs under.

use super::{CUT_SHORT, TIMED_OUT, Timeout};
use crate::contract::{Event, Limit, Limits, Reason, Rejected, emit};
use crate::time::{Deadline, Nanos};

/// How long one attempt may take, and which timeout says so. Made by [`Timeout::limit`].
#[derive(Clone, Copy, Debug)]
pub struct AttemptLimit {
    timeout: &'static Timeout,
    span: Nanos,
}

impl AttemptLimit {
    #[inline]
    pub(super) const fn new(timeout: &'static Timeout, span: Nanos) -> Self {
        Self { timeout, span }
    }
}

impl Limits for AttemptLimit {
    #[inline]
    fn attempt(&self) -> Option<Nanos> {
        Some(self.span)
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        Deadline::NEVER
    }

    #[inline]
    fn deadline_span(&self) -> Nanos {
        Nanos::MAX
    }

    #[cold]
    fn ended(&self, by: Limit) -> Rejected {
        let timeout = self.timeout;
        match by {
            Limit::Attempt => {
                let rejected = Rejected::new(Reason::TimedOut, timeout.name);
                timeout.counters.add(TIMED_OUT);
                emit(&Event::TimedOut(rejected));
                rejected
            }
            Limit::Deadline => {
                let rejected = Rejected::new(Reason::DeadlineExceeded, timeout.name);
                timeout.counters.add(CUT_SHORT);
                emit(&Event::DeadlineExceeded(rejected));
                rejected
            }
        }
    }
}
