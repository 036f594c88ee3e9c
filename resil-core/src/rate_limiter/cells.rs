//! The permits of one call, until it is sure that it is made.

use super::{RateLimiter, Taken};
use crate::time::Nanos;
use core::fmt;
use core::mem::ManuallyDrop;

/// What a [`RateLimiter`] has given a call, and takes back if the call is not made after all.
///
/// A call may have to pass other gates, which can still refuse it. Dropped before [`spend`](Self::spend), the permits go back:
/// as much of them as has not come in again meanwhile.
#[must_use = "permits that are dropped at once are given back"]
pub struct Cells<'a> {
    limiter: &'a RateLimiter,
    taken: Taken,
    spent: bool,
}

impl<'a> Cells<'a> {
    #[inline]
    pub(super) const fn new(limiter: &'a RateLimiter, taken: Taken) -> Self {
        Self { limiter, taken, spent: false }
    }

    /// The call is made: the permits are gone for good. Doing it again changes nothing.
    ///
    /// Returns the reading of the clock at which they were given: after a wait, that of its end.
    #[inline]
    pub const fn spend(&mut self) -> Nanos {
        self.spent = true;
        self.taken.at
    }

    /// As [`spend`](Self::spend), where that is known at once: nothing has to be kept beside the call.
    #[inline]
    pub fn take(self) -> Nanos {
        ManuallyDrop::new(self).taken.at
    }

    /// How many were asked for.
    pub const fn permits(&self) -> u32 {
        self.taken.permits
    }
}

impl Drop for Cells<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.spent {
            self.limiter.give_back(self.taken);
        }
    }
}

impl fmt::Debug for Cells<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cells")
            .field("limiter", &self.limiter.name())
            .field("permits", &self.taken.permits)
            .field("spent", &self.spent)
            .finish()
    }
}
