//! The deadline that one call runs under.

use super::{DeadlineLimit, EXCEEDED};
use crate::contract::{Event, Limit, Limits, Reason, Rejected, emit};
use crate::time::{Deadline, Nanos};

/// By when one call has to be over, and which deadline says so. Made by [`DeadlineLimit::start`].
#[derive(Clone, Copy, Debug)]
pub struct CallDeadline {
    limit: &'static DeadlineLimit,
    /// Not clipped: whether a caller's deadline is sooner is looked up where it matters.
    at: Nanos,
}

impl CallDeadline {
    #[inline]
    pub(super) const fn new(limit: &'static DeadlineLimit, at: Nanos) -> Self {
        Self { limit, at }
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

impl Limits for CallDeadline {
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

    #[cold]
    fn ended(&self, _by: Limit) -> Rejected {
        let rejected = Rejected::new(Reason::DeadlineExceeded, self.limit.name);
        self.limit.counters.add(EXCEEDED);
        emit(&Event::DeadlineExceeded(rejected));
        rejected
    }
}
