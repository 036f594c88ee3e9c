//! The options that may change while calls are under way.
//!
//! Invariant: a snapshot may mix old and new values for the moment of a change; what is decided by it is bounded by what
//! either allow.
//!
//! # Synchronisation
//! Relaxed throughout. Who changes an option revises the balance afterwards (`AcqRel`), and an exchange of the balance loads it
//! (Acquire) before the options, so that what meets the revised balance is decided by the new ones.

use super::options::BudgetOptions;
use crate::cell::budget::Terms;
use crate::contract::Ratio;
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
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
    pub(super) const fn new(options: &BudgetOptions) -> Self {
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
            ratio: Ratio::from_millionths(self.ratio.load(Relaxed)),
            min_per_sec: self.min_per_sec.load(Relaxed),
            ttl: Nanos(self.ttl.load(Relaxed)),
        }
    }

    pub(super) fn terms(&self) -> Terms {
        self.load().terms()
    }

    /// One writer at a time.
    pub(super) fn store(&self, options: &BudgetOptions) {
        self.ttl.store(options.ttl.0, Relaxed);
        self.ratio.store(options.ratio.millionths(), Relaxed);
        self.min_per_sec.store(options.min_per_sec, Relaxed);
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
