//! The options that may change while calls are under way.
//!
//! Invariant: no time counts under terms that did not hold. A snapshot may mix old and new values for the moment of a change; none is
//! wrong.
//!
//! # Synchronisation
//! | access | ordering | why |
//! |---|---|---|
//! | `store` of what the terms are made of | Release | after the balance was settled under the old terms |
//! | `load` | Acquire | who sees a new value meets the settled balance |
//! | `brim`, `enabled` | Relaxed | each stands alone |

use super::options::BudgetOptions;
use crate::cell::Ratio;
use crate::cell::budget::{Bucket, Terms};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU32, AtomicU64};
use crate::time::Nanos;

/// [`BudgetOptions`], changeable.
pub(super) struct Live {
    /// The brim to which deposits fill the balance; 0 where nothing is ever deposited.
    brim: AtomicU64,
    ttl: AtomicU64,
    ratio: AtomicU32,
    min_per_sec: AtomicU32,
    /// 0 while the budget is disabled.
    enabled: AtomicU32,
}

impl Live {
    #[cfg(not(resil_loom))]
    pub(super) const fn new(options: &BudgetOptions) -> Self {
        Self {
            brim: AtomicU64::new(brim(options)),
            ttl: AtomicU64::new(options.ttl.0),
            ratio: AtomicU32::new(options.ratio.millionths()),
            min_per_sec: AtomicU32::new(options.min_per_sec),
            enabled: AtomicU32::new(1),
        }
    }

    #[cfg(resil_loom)]
    pub(super) fn new(options: &BudgetOptions) -> Self {
        Self {
            brim: AtomicU64::new(brim(options)),
            ttl: AtomicU64::new(options.ttl.0),
            ratio: AtomicU32::new(options.ratio.millionths()),
            min_per_sec: AtomicU32::new(options.min_per_sec),
            enabled: AtomicU32::new(1),
        }
    }

    /// All that a healthy call asks for.
    #[inline]
    pub(super) fn brim(&self) -> u64 {
        self.brim.load(Relaxed)
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.enabled.load(Relaxed) != 0
    }

    pub(super) fn load(&self) -> BudgetOptions {
        BudgetOptions {
            ratio: Ratio::from_millionths(self.ratio.load(Acquire)),
            min_per_sec: self.min_per_sec.load(Acquire),
            ttl: Nanos(self.ttl.load(Acquire)),
        }
    }

    pub(super) fn terms(&self) -> Terms {
        self.load().terms()
    }

    /// From `now` on `new` options hold for this balance, up to it the `old` ones. One writer at a time.
    pub(super) fn change(
        &self,
        bucket: &Bucket,
        old: &BudgetOptions,
        new: &BudgetOptions,
        now: Nanos,
    ) {
        bucket.settle(&old.terms(), now);
        self.ttl.store(new.ttl.0, Release);
        self.ratio.store(new.ratio.millionths(), Release);
        self.min_per_sec.store(new.min_per_sec, Release);
        self.set_brim();
    }

    /// One writer at a time.
    pub(super) fn set_enabled(&self, enabled: bool) {
        self.enabled.store(u32::from(enabled), Relaxed);
        self.set_brim();
    }

    fn set_brim(&self) {
        let brim = if self.is_enabled() { brim(&self.load()) } else { 0 };
        self.brim.store(brim, Relaxed);
    }
}

const fn brim(options: &BudgetOptions) -> u64 {
    if options.ratio.millionths() == 0 { 0 } else { options.terms().brim() }
}
