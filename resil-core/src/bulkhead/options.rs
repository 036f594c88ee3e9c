//! The options of a bulkhead and their ranges.
//!
//! Invariant: what passes `check` makes sense as a whole.
//!
//! Pure.

use crate::cell::slots::MOST;
use crate::contract::InvalidOption;
use crate::time::Nanos;

/// The options of a bulkhead, as they are at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BulkheadOptions {
    /// Calls inside at a time, at most 2³⁰; 0 if it is closed.
    pub max_concurrent: u32,
    /// How long a call waits at most for a place: 0 if it never waits, [`Nanos::MAX`] if without end.
    pub wait: Nanos,
    /// How many calls wait at most; `None` for as many as `max_concurrent`.
    pub queue: Option<u32>,
}

impl BulkheadOptions {
    /// How many calls wait at most.
    pub const fn longest_queue(&self) -> u32 {
        match self.queue {
            Some(queue) => queue,
            None => self.max_concurrent,
        }
    }

    /// What is wrong with them, if anything.
    pub(super) const fn check(&self) -> Result<(), InvalidOption> {
        if self.max_concurrent > MOST {
            let problem = "`max_concurrent` must be in 0..=1073741824";
            return Err(InvalidOption::new("max_concurrent", problem));
        }
        match self.queue {
            Some(queue) if queue > MOST => {
                Err(InvalidOption::new("queue", "`queue` must be in 0..=1073741824"))
            }
            _ => Ok(()),
        }
    }
}
