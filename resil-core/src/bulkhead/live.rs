//! The options that may change while calls are under way.
//!
//! # Synchronisation
//! Relaxed throughout. Each is read by itself, by who finds no room; `max_concurrent` is in force through the limit of the
//! slots, and kept here for what is not in force while the bulkhead is disabled.

use super::options::BulkheadOptions;
use crate::cell::Switch;
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::time::Nanos;

/// [`BulkheadOptions`], changeable.
pub(super) struct Live {
    max_concurrent: AtomicU32,
    /// [`AS_LIMIT`] if it follows `max_concurrent`.
    queue: AtomicU32,
    wait: AtomicU64,
    /// Whether the limit is in force.
    pub(super) switch: Switch,
}

/// Beyond every number that is accepted.
const AS_LIMIT: u32 = u32::MAX;

impl Live {
    pub(super) const fn new(options: &BulkheadOptions) -> Self {
        Self {
            max_concurrent: AtomicU32::new(options.max_concurrent),
            queue: AtomicU32::new(match options.queue {
                Some(queue) => queue,
                None => AS_LIMIT,
            }),
            wait: AtomicU64::new(options.wait.0),
            switch: Switch::on(),
        }
    }

    pub(super) fn load(&self) -> BulkheadOptions {
        let queue = self.queue.load(Relaxed);
        BulkheadOptions {
            max_concurrent: self.max_concurrent.load(Relaxed),
            wait: Nanos(self.wait.load(Relaxed)),
            queue: (queue != AS_LIMIT).then_some(queue),
        }
    }

    pub(super) fn store(&self, options: &BulkheadOptions) {
        self.max_concurrent.store(options.max_concurrent, Relaxed);
        self.wait.store(options.wait.0, Relaxed);
        self.queue.store(options.queue.unwrap_or(AS_LIMIT), Relaxed);
    }
}
