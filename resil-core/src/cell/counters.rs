//! Event counts that cost a plain addition: one line of memory per thread, summed when somebody asks.
//!
//! Invariant: a count only rises, and no event is lost. A stripe has one writer at a time, so it adds with a load and a
//! store; threads beyond [`OWNED`] share one stripe and add with a read-modify-write. What is rare has one word for all.
//! A [`Column`] is one word of each stripe under rules of its own.
//!
//! # Synchronisation
//! | access | ordering | why |
//! |---|---|---|
//! | add on an owned stripe | Relaxed load, Relaxed store | only its owner writes; a stripe is given back with Release and taken with Acquire, which orders the old owner's last store before the new owner's first load |
//! | add on the shared stripe, or to a rare count | Relaxed `fetch_add` | a count, nothing is derived from its order |
//! | sum | Relaxed loads | a moment's reading; each stripe is read once |
//! | a column's word: `raise` | Release store by its owner, `AcqRel` exchange on the shared stripe | its `load`, Acquire: who sees the word sees what its writer had seen |
//!
//! Not to be touched from a signal handler: it could interrupt an addition of its own thread and lose one.

use crate::sync::{AtomicU64, Ordering};

/// Stripes with an owner. A thread keeps its stripe's index until it ends.
///
/// 32 lines are 2 KiB a policy; a process with more threads than that still counts right, at the price of a
/// read-modify-write for those that came late.
pub(crate) const OWNED: usize = 32;

/// The stripe of all who own none.
const SHARED: usize = OWNED;

const STRIPES: usize = OWNED + 1;

/// `N` counts (at most eight, to fit a cache line) that any thread may raise. `S` stripes, the last of them shared; models use
/// few.
pub(crate) struct Counters<const N: usize, const S: usize = STRIPES> {
    stripes: [Stripe<N>; S],
}

/// Separates the writers of two stripes.
#[repr(align(64))]
struct Stripe<const N: usize>([AtomicU64; N]);

impl<const N: usize, const S: usize> Counters<N, S> {
    const FITS_A_LINE: () = assert!(N * 8 <= 64, "a stripe is one cache line");

    #[cfg(not(resil_loom))]
    pub(crate) const fn new() -> Self {
        let () = Self::FITS_A_LINE;
        Self { stripes: [const { Stripe([const { AtomicU64::new(0) }; N]) }; S] }
    }

    #[cfg(resil_loom)]
    pub(crate) fn new() -> Self {
        let () = Self::FITS_A_LINE;
        let stripe = |_| Stripe(core::array::from_fn(|_| AtomicU64::new(0)));
        Self { stripes: core::array::from_fn(stripe) }
    }

    /// How often `index` was counted so far.
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.stripes.iter().map(|stripe| stripe.0[index].load(Ordering::Relaxed)).sum()
    }

    /// The word `index` of each stripe, for whoever counts nothing under that index.
    #[inline]
    pub(crate) fn column(&self, index: usize) -> Column<'_, N> {
        Column { stripes: &self.stripes, index }
    }
}

impl<const N: usize> Counters<N> {
    /// Counts one event of kind `index`, on this thread's stripe.
    #[inline]
    pub(crate) fn add(&self, index: usize) {
        let owner = lease::owner();
        if owner < OWNED {
            let count = &self.stripes[owner].0[index];
            count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        } else {
            self.add_unowned(index);
        }
    }

    /// Counts for a thread that has no stripe, or has not asked for one yet.
    #[cold]
    #[inline(never)]
    fn add_unowned(&self, index: usize) {
        if lease::take() {
            self.add(index);
        } else {
            self.stripes[SHARED].0[index].fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// One word of each stripe.
pub(crate) struct Column<'a, const N: usize> {
    stripes: &'a [Stripe<N>],
    index: usize,
}

impl<const N: usize> Column<'_, N> {
    /// Replaces the word of `owner`'s stripe, or of the shared one if `owner` has none. `next` is told what is there, and
    /// whether only this owner ever writes there.
    ///
    /// Nobody else may do this for the same `owner` meanwhile.
    #[inline]
    pub(crate) fn raise(&self, owner: usize, next: impl Fn(u64, bool) -> u64) {
        let shared = self.stripes.len() - 1;
        if owner < shared {
            let word = &self.stripes[owner].0[self.index];
            word.store(next(word.load(Ordering::Relaxed), true), Ordering::Release);
            return;
        }
        let word = &self.stripes[shared].0[self.index];
        let mut seen = word.load(Ordering::Relaxed);
        while let Err(now) =
            word.compare_exchange_weak(seen, next(seen, false), Ordering::AcqRel, Ordering::Relaxed)
        {
            seen = now;
        }
    }

    /// The word of each stripe.
    pub(crate) fn load(&self) -> impl Iterator<Item = u64> {
        self.stripes.iter().map(|stripe| stripe.0[self.index].load(Ordering::Acquire))
    }
}

/// The index of this thread's stripe, which it takes now if it has none; that of the shared one if none is free.
#[inline]
pub(crate) fn owner() -> usize {
    let owner = lease::owner();
    if owner < OWNED { owner } else { late_owner() }
}

#[cold]
#[inline(never)]
fn late_owner() -> usize {
    if lease::take() { lease::owner() } else { SHARED }
}

/// A number that tells this thread from most others: its stripe, if it has one.
#[inline]
pub(crate) fn stripe() -> usize {
    lease::owner()
}

/// `N` counts of what is rare: one word each.
pub(crate) struct Rare<const N: usize>([AtomicU64; N]);

impl<const N: usize> Rare<N> {
    #[cfg(not(resil_loom))]
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; N])
    }

    /// Counts one event of kind `index`.
    pub(crate) fn add(&self, index: usize) {
        self.0[index].fetch_add(1, Ordering::Relaxed);
    }

    /// How often `index` was counted so far.
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.0[index].load(Ordering::Relaxed)
    }
}

/// Who owns which stripe.
mod lease {
    use super::{OWNED, SHARED};
    use crate::sync::Ordering;
    use crate::sync::fixed::AtomicU64;
    use std::cell::Cell;

    /// One bit a stripe: set while a thread owns it. No lock: one that another thread held while the process forked would
    /// never be free again in the child.
    static LEASES: AtomicU64 = AtomicU64::new(0);
    const _: () = assert!(OWNED <= u64::BITS as usize);

    /// No stripe was asked for yet.
    const UNKNOWN: usize = usize::MAX;

    thread_local! {
        /// This thread's stripe, below `OWNED` if it has one. Without a destructor, so that reading it is one load.
        static OWNER: Cell<usize> = const { Cell::new(UNKNOWN) };
        /// Gives the stripe back when the thread ends.
        static LEASE: Lease = const { Lease };
    }

    struct Lease;

    impl Drop for Lease {
        fn drop(&mut self) {
            // What is counted from here on (by destructors of other thread-locals) goes to the shared stripe.
            let owned = OWNER.replace(SHARED);
            if owned < OWNED {
                // ORDERING: Release, pairs with the Acquire of whoever takes the stripe next and goes on from our counts.
                LEASES.fetch_and(!(1 << owned), Ordering::Release);
            }
        }
    }

    /// The index of this thread's stripe, if it is below [`OWNED`].
    #[inline]
    pub(super) fn owner() -> usize {
        OWNER.get()
    }

    /// Takes a stripe for this thread if it has not asked before and one is free; whether it did.
    pub(super) fn take() -> bool {
        // In the middle of the thread's end the lease could not be given back any more.
        if OWNER.get() != UNKNOWN || LEASE.try_with(|_| ()).is_err() {
            return false;
        }
        let mut leases = LEASES.load(Ordering::Relaxed);
        loop {
            let free = leases.trailing_ones() as usize;
            if free >= OWNED {
                OWNER.set(SHARED);
                return false;
            }
            let (taken, relaxed) = (leases | 1 << free, Ordering::Relaxed);
            // ORDERING: Acquire, pairs with the Release of the owner before.
            match LEASES.compare_exchange_weak(leases, taken, Ordering::Acquire, relaxed) {
                Ok(_) => {
                    OWNER.set(free);
                    return true;
                }
                Err(now) => leases = now,
            }
        }
    }

    #[cfg(test)]
    pub(super) fn taken() -> u32 {
        LEASES.load(Ordering::Relaxed).count_ones()
    }
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::thread;

    #[test]
    fn no_event_is_lost_with_more_threads_than_stripes() {
        static COUNTS: Counters<2> = Counters::new();
        const THREADS: usize = OWNED * 2;
        let all_here = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    COUNTS.add(0);
                    // Everybody holds a stripe, or has found none, before anybody goes on.
                    all_here.wait();
                    assert!(lease::taken() as usize >= OWNED, "the shared stripe was never needed");
                    for _ in 0..1_000 {
                        COUNTS.add(1);
                    }
                    // Nobody ends, and so frees a stripe, before all have looked.
                    all_here.wait();
                });
            }
        });
        assert_eq!(COUNTS.get(0), THREADS as u64);
        assert_eq!(COUNTS.get(1), THREADS as u64 * 1_000);
    }

    #[test]
    fn a_stripe_is_passed_on_when_its_thread_ends() {
        static COUNTS: Counters<1> = Counters::new();
        for _ in 0..OWNED * 4 {
            thread::spawn(|| COUNTS.add(0)).join().expect("the thread counts");
        }
        assert_eq!(COUNTS.get(0), OWNED as u64 * 4);
    }

    #[test]
    fn a_stripe_is_one_line() {
        assert_eq!(size_of::<Stripe<8>>(), 64);
        assert_eq!(size_of::<Counters<8>>(), 64 * (OWNED + 1));
    }
}
