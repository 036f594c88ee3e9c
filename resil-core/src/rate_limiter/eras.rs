//! The quotas that a limiter has had lately: the present one, and those that calls under way may still be reading.
//!
//! Invariant: a place is written before any word names it, and only by who holds the limiter's lock. It is written again four
//! changes later; whoever has read it meanwhile finds that its word has moved on: an exchange fails, and a refusal looks
//! again. (Unless it was stalled for exactly four changes, or eight: then a refusal may be unfounded, and an exchange needs
//! the same 62 bits besides.)
//!
//! # Synchronisation
//! | access | ordering | why |
//! |---|---|---|
//! | read of a place | Relaxed | follows an Acquire load of the word that names it |
//! | write of a place | Release | who reads what is written here, and then passes an Acquire fence, sees that the word has moved on |

use crate::cell::gcra::Quota;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// As many as the free bits of a word can tell apart.
const PLACES: usize = 1 << crate::cell::gcra::SPARE_BITS;

/// See the module.
pub(super) struct Eras([Era; PLACES]);

/// One [`Quota`], on a line that is hardly ever written.
#[repr(align(32))]
struct Era {
    scale: AtomicU64,
    burst: AtomicU64,
    back: AtomicU64,
    shift: AtomicU32,
    most: AtomicU32,
}

/// What a call has to know to be let in.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    pub(super) scale: u64,
    pub(super) burst: u64,
    pub(super) shift: u32,
    /// The burst, in permits.
    pub(super) most: u32,
}

impl Eras {
    #[cfg(not(resil_loom))]
    pub(super) const fn new(quota: &Quota) -> Self {
        Self([Era::new(quota), Era::new(quota), Era::new(quota), Era::new(quota)])
    }

    #[cfg(resil_loom)]
    pub(super) fn new(quota: &Quota) -> Self {
        Self(core::array::from_fn(|_| Era::new(quota)))
    }

    /// What the era of a word asks of a call.
    #[inline]
    pub(super) fn terms(&self, era: usize) -> Terms {
        let era = &self.0[era % PLACES];
        Terms {
            scale: era.scale.load(Ordering::Relaxed),
            burst: era.burst.load(Ordering::Relaxed),
            shift: era.shift.load(Ordering::Relaxed),
            most: era.most.load(Ordering::Relaxed),
        }
    }

    pub(super) fn load(&self, era: usize) -> Quota {
        let Terms { scale, burst, shift, .. } = self.terms(era);
        let back = self.0[era % PLACES].back.load(Ordering::Relaxed);
        Quota { scale, back, burst, shift }
    }

    /// Writes the quota of the era that no word names yet.
    pub(super) fn store(&self, era: usize, quota: &Quota) {
        let era = &self.0[era % PLACES];
        era.scale.store(quota.scale, Ordering::Release);
        era.burst.store(quota.burst, Ordering::Release);
        era.back.store(quota.back, Ordering::Release);
        era.shift.store(quota.shift, Ordering::Release);
        era.most.store(quota.most(), Ordering::Release);
    }
}

impl Era {
    #[cfg(not(resil_loom))]
    const fn new(quota: &Quota) -> Self {
        Self {
            scale: AtomicU64::new(quota.scale),
            burst: AtomicU64::new(quota.burst),
            back: AtomicU64::new(quota.back),
            shift: AtomicU32::new(quota.shift),
            most: AtomicU32::new(quota.most()),
        }
    }

    #[cfg(resil_loom)]
    fn new(quota: &Quota) -> Self {
        Self {
            scale: AtomicU64::new(quota.scale),
            burst: AtomicU64::new(quota.burst),
            back: AtomicU64::new(quota.back),
            shift: AtomicU32::new(quota.shift),
            most: AtomicU32::new(quota.most()),
        }
    }
}
