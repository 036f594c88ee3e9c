//! Places for the expiries of threads: a few watches each, in a seat that a thread leases while it lives.
//!
//! Invariant: a seat belongs to one thread at a time, and is free again only when nothing in it is armed. The daemon looks at
//! every seat that is leased.
//!
//! # Synchronisation
//! `leased` has one bit a seat. A thread sets it before it arms anything there, and the daemon reads it by a
//! read-modify-write in its second look: so a thread whose seat the daemon has not seen yet sees the plan that the daemon
//! has published. It is the argument of `Watch::look`, one level up.

use super::watch::{Ended, Watch};
use crate::sync::{AtomicU64, Ordering};
use crate::time::Nanos;
use crossbeam_utils::CachePadded;

/// Scopes within each other that a thread has a place for.
pub(super) const SLOTS: usize = if cfg!(resil_loom) { 1 } else { 4 };

/// What one thread watches: the scopes it is in, outermost first.
pub(super) struct Seat([Watch; SLOTS]);

impl Seat {
    #[inline]
    pub(super) fn slot(&self, depth: usize) -> Option<&Watch> {
        self.0.get(depth)
    }
}

/// The seats of `N` threads, and where they wait for hooks to end.
pub(super) struct Seats<const N: usize> {
    leased: AtomicU64,
    /// Padded apart: a thread arms in its own line.
    all: [CachePadded<Seat>; N],
    pub(super) ended: Ended,
}

impl<const N: usize> Seats<N> {
    #[cfg(not(resil_loom))]
    pub(super) const fn new() -> Self {
        const { assert!(N <= u64::BITS as usize, "one bit each") };
        let all = [const { CachePadded::new(Seat([const { Watch::new() }; SLOTS])) }; N];
        Self { leased: AtomicU64::new(0), all, ended: Ended::new() }
    }

    #[cfg(resil_loom)]
    pub(super) fn new() -> Self {
        let seat = |_| CachePadded::new(Seat(core::array::from_fn(|_| Watch::new())));
        let all = core::array::from_fn(seat);
        Self { leased: AtomicU64::new(0), all, ended: Ended::new() }
    }

    /// Takes a seat, if there is one.
    pub(super) fn lease(&self) -> Option<usize> {
        let mut leased = self.leased.load(Ordering::Relaxed);
        loop {
            let seat = leased.trailing_ones() as usize;
            if seat >= N {
                return None;
            }
            // ORDERING: AcqRel. Acquire pairs with the Release of whoever had the seat before, and with `earliest`; Release
            // pairs with the latter as well.
            let (acq_rel, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.leased.compare_exchange_weak(leased, leased | 1 << seat, acq_rel, relaxed) {
                Ok(_) => return Some(seat),
                Err(now) => leased = now,
            }
        }
    }

    /// Gives the seat back. Nothing in it is armed.
    pub(super) fn vacate(&self, seat: usize) {
        // ORDERING: Release, pairs with the Acquire of whoever leases it next.
        self.leased.fetch_and(!(1 << seat), Ordering::Release);
    }

    #[cfg(all(test, not(resil_loom)))]
    pub(super) fn leased(&self) -> u32 {
        self.leased.load(Ordering::Relaxed).count_ones()
    }

    #[inline]
    pub(super) fn seat(&self, seat: usize) -> &Seat {
        &self.all[seat]
    }

    /// Runs the hooks that are due, and says when the next one is. Of one thread's the innermost comes first.
    pub(super) fn fire(&self, now: impl FnOnce() -> Nanos) -> Nanos {
        // ORDERING: Acquire, pairs with the Release of `lease`; what is missed here `earliest` finds.
        let leased = self.leased.load(Ordering::Acquire);
        if leased == 0 {
            return Nanos::MAX;
        }
        let now = now();
        let watches = self.of(leased).flat_map(|seat| seat.0.iter().rev());
        watches.map(|watch| watch.fire(now, &self.ended)).min().unwrap_or(Nanos::MAX)
    }

    /// When the first hook is due: the daemon's second look.
    pub(super) fn earliest(&self) -> Nanos {
        let leased = self.leased.fetch_or(0, Ordering::AcqRel);
        let watches = self.of(leased).flat_map(|seat| seat.0.iter());
        watches.map(Watch::look).min().unwrap_or(Nanos::MAX)
    }

    fn of(&self, leased: u64) -> impl Iterator<Item = &CachePadded<Seat>> {
        let seats = self.all.iter().enumerate();
        seats.filter(move |(seat, _)| leased & (1 << seat) != 0).map(|(_, seat)| seat)
    }

    /// In a child process: nothing is armed, and all seats but `own` are free.
    #[cfg(not(resil_loom))]
    #[allow(dead_code)] // where processes cannot fork
    pub(super) fn forget(&self, own: Option<usize>) {
        let leased = own.map_or(0, |seat| 1 << seat);
        // ORDERING: Relaxed, the process has one thread at that moment.
        self.leased.store(leased, Ordering::Relaxed);
        self.all.iter().flat_map(|seat| seat.0.iter()).for_each(Watch::forget);
    }
}
