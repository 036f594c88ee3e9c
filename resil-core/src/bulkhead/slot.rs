//! The place of one call inside a bulkhead.

use super::Bulkhead;
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
}

impl<'a> Slot<'a> {
    #[inline]
    pub(super) fn new(bulkhead: &'a Bulkhead) -> Self {
        Self { bulkhead }
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
