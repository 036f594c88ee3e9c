//! The limits of one attempt in a pipeline: either, both, or none.

use crate::contract::{Limit, Limits, Rejected};
use crate::deadline::CallDeadline;
use crate::time::{Deadline, Nanos};
use crate::timeout::Timeout;

/// A timeout, a deadline, or both.
#[derive(Clone, Copy)]
pub(super) enum Bounds<'p> {
    Attempt(&'p Timeout),
    Call(CallDeadline<'p>),
    Both(&'p Timeout, CallDeadline<'p>),
}

impl<'p> Bounds<'p> {
    pub(super) fn new(
        timeout: Option<&'p Timeout>,
        deadline: Option<CallDeadline<'p>>,
    ) -> Option<Self> {
        Some(match (timeout.map(Timeout::limit), deadline) {
            (None, None) => return None,
            (Some(timeout), None) => Self::Attempt(timeout),
            (None, Some(deadline)) => Self::Call(deadline),
            (Some(timeout), Some(deadline)) => Self::Both(timeout, deadline),
        })
    }
}

/// As the attribute's limits: a timeout, a deadline, a pair of both.
macro_rules! as_in_the_attribute {
    ($self:ident, $limits:ident => $value:expr) => {
        match $self {
            Self::Attempt($limits) => $value,
            Self::Call($limits) => $value,
            Self::Both(timeout, deadline) => {
                let $limits = &(*timeout, deadline);
                $value
            }
        }
    };
}

impl Limits for Bounds<'_> {
    fn attempt(&self) -> Option<Nanos> {
        as_in_the_attribute!(self, limits => limits.attempt())
    }

    fn deadline(&self) -> Deadline {
        as_in_the_attribute!(self, limits => limits.deadline())
    }

    fn deadline_span(&self) -> Nanos {
        as_in_the_attribute!(self, limits => limits.deadline_span())
    }

    fn name(&self, by: Limit) -> &'static str {
        as_in_the_attribute!(self, limits => limits.name(by))
    }

    fn ended(&self, by: Limit) -> Rejected {
        as_in_the_attribute!(self, limits => limits.ended(by))
    }

    fn late(&self, by: Limit) {
        as_in_the_attribute!(self, limits => limits.late(by));
    }
}
