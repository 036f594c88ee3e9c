//! Whether a policy is in force.
//!
//! Invariant: on from the start; a call asks once, where it would act.
//!
//! # Synchronisation
//! Relaxed throughout: nothing is handed over with the switch, and a call that is under way while it is turned may go by
//! either side.

use crate::sync::{AtomicU32, Ordering::Relaxed};

/// On or off.
pub(crate) struct Switch(AtomicU32);

impl Switch {
    #[cfg(not(resil_loom))]
    pub(crate) const fn on() -> Self {
        Self(AtomicU32::new(1))
    }

    #[cfg(resil_loom)]
    pub(crate) fn on() -> Self {
        Self(AtomicU32::new(1))
    }

    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    pub(crate) fn turn(&self, on: bool) {
        self.0.store(on.into(), Relaxed);
    }
}
