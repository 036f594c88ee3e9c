//! The place of one call inside a bulkhead.

use super::Bulkhead;
use crate::time::{self, Nanos};
use core::fmt;

/// A call that was admitted by a [`Bulkhead`]: it is inside until this is dropped.
///
/// However the call ends (it returns, panics, or its future is dropped), the place is given back, to the first who waits if
/// somebody does.
///
/// # Cost
/// Dropping it is one subtraction. Where somebody waits it takes the queue's lock, and wakes that one.
#[must_use = "a slot that is dropped at once guards nothing"]
pub struct Slot<'a> {
    bulkhead: &'a Bulkhead,
    /// It was not free at once.
    waited: bool,
}

impl<'a> Slot<'a> {
    #[inline]
    pub(super) fn new(bulkhead: &'a Bulkhead, waited: bool) -> Self {
        Self { bulkhead, waited }
    }

    /// When the call begins, if the clock was read before it came here: then, unless it has waited for this place.
    ///
    /// # Cost
    /// None without a wait; after one, a clock reading.
    #[inline]
    pub fn begun(&self, reading: Nanos) -> Nanos {
        if self.waited { time::now() } else { reading }
    }
}

impl Drop for Slot<'_> {
    #[inline]
    fn drop(&mut self) {
        self.bulkhead.slots.leave();
    }
}

impl fmt::Debug for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").field("bulkhead", &self.bulkhead.name()).finish()
    }
}
