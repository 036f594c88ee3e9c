//! The word of a limiter, and every way in which it changes.
//!
//! `[tat: 62 | era: 2]`: when all that was taken will have come back, in the units of the era's quota. Written by calls that
//! are let in, give back or reserve, and by who changes the quota; read by all calls.
//!
//! Invariant: of what came in, nothing is given out twice: an exchange moves `tat` on by what was taken, from where it was or
//! from the reading of the clock if that is later, never from an earlier instant than another call has put there. A reading that has
//! become old while the exchange was tried again makes a call later than it was, not richer.
//!
//! # Synchronisation
//! | access | ordering | why |
//! |---|---|---|
//! | load, also by a failed exchange | Acquire | pairs with the Release of who begins an era: its quota is read next |
//! | exchange within an era | Relaxed | hands nothing over but the word; a read-modify-write, so the Release of the era stays visible through it |
//! | exchange into the next era | Release | after its quota was written |

use super::eras::Eras;
use crate::cell::gcra::{NOT_BEGUN, Quota, SPARE_BITS, units};
use crate::sync::{AtomicU64, Ordering, fence};
use crate::time::Nanos;
use core::fmt;
use core::num::NonZeroU64;

/// A value of the word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    /// Full from the first call on, whenever that is.
    pub(super) const FULL: Self = Self(0);
    /// Empty when the first call comes, which finds the word astray and puts it right.
    pub(super) const EMPTY: Self = Self(NOT_BEGUN);

    const ERA: u64 = (1 << SPARE_BITS) - 1;

    #[inline]
    pub(super) const fn new(tat: u64, era: usize) -> Self {
        Self(tat & !Self::ERA | era as u64 & Self::ERA)
    }

    #[inline]
    pub(super) const fn tat(self) -> u64 {
        self.0 & !Self::ERA
    }

    #[inline]
    pub(super) const fn era(self) -> usize {
        // Two bits.
        #[allow(clippy::cast_possible_truncation)]
        {
            (self.0 & Self::ERA) as usize
        }
    }

    #[inline]
    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(super) fn ticket(self) -> Option<Ticket> {
        NonZeroU64::new(self.0).map(Ticket)
    }
}

/// What was taken, to give it back with: the word as it became by it, which is never 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(NonZeroU64);

impl Ticket {
    /// Of what took nothing.
    pub(super) const NOTHING: Self = Self(NonZeroU64::MIN);

    pub(super) const fn word(self) -> Word {
        Word(self.0.get())
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.word().fmt(f)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.tat(), self.era())
    }
}

/// Why there was nothing to take; what helps sooner comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Short {
    /// There will be something after this wait.
    Wait(Nanos),
    /// There never is so much at once.
    Never,
    /// The clock went back, or this is the first call of a limiter that starts empty.
    Astray,
}

/// What became of a reservation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reserved {
    /// There was enough by then.
    Now(Ticket),
    /// It will be there after this wait.
    After(Ticket, Nanos),
}

/// Where a word was put by hand.
pub(super) struct Replaced {
    /// Where its `tat` would be if nobody waited.
    pub(super) begin: u64,
    pub(super) era: usize,
    pub(super) quota: Quota,
    pub(super) at: Nanos,
}

/// See the module.
pub(super) struct Bucket(AtomicU64);

impl Bucket {
    #[cfg(not(resil_loom))]
    pub(super) const fn new(word: Word) -> Self {
        Self(AtomicU64::new(word.0))
    }

    #[cfg(resil_loom)]
    pub(super) fn new(word: Word) -> Self {
        Self(AtomicU64::new(word.0))
    }

    #[inline]
    pub(super) fn load(&self) -> Word {
        Word(self.0.load(Ordering::Acquire))
    }

    #[inline]
    fn exchange(&self, from: Word, to: Word) -> Result<(), Word> {
        match self.0.compare_exchange_weak(from.0, to.0, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => Ok(()),
            Err(now) => Err(Word(now)),
        }
    }

    /// Takes `permits` if they are there; the word was `word` just now. Calls `emptied` with how much less there is now than
    /// one permit.
    #[inline]
    pub(super) fn take(
        &self,
        mut word: Word,
        eras: &Eras,
        permits: u32,
        at: Nanos,
        emptied: impl FnOnce(Word, u64),
    ) -> Option<Ticket> {
        loop {
            let terms = eras.terms(word.era());
            if permits > terms.most {
                return None;
            }
            let (now, cost) = (units(terms.scale, at), u64::from(permits) << terms.shift);
            if word.tat() > now.saturating_add(terms.burst - cost) {
                return None;
            }
            let taken = Word::new(Quota::taken(word.tat(), now, cost), word.era());
            match self.exchange(word, taken) {
                Ok(()) => {
                    let last = now.saturating_add(terms.burst - (1 << terms.shift));
                    if taken.tat() > last {
                        emptied(taken, taken.tat() - last);
                    }
                    return taken.ticket();
                }
                Err(newer) => word = newer,
            }
        }
    }

    /// Why [`take`](Self::take) took nothing; `None` if it would take something now. Nothing is written.
    ///
    /// `longest` is the longest that somebody may be waiting.
    #[inline]
    pub(super) fn short(
        &self,
        eras: &Eras,
        permits: u32,
        at: Nanos,
        longest: Nanos,
    ) -> Option<Short> {
        loop {
            let word = self.load();
            let quota = eras.load(word.era());
            // ORDERING: pairs with the Release of who writes a place again: if we have read that, we see the word changed.
            fence(Ordering::Acquire);
            if Word(self.0.load(Ordering::Relaxed)).era() == word.era() {
                return short(&quota, word, permits, at, longest);
            }
        }
    }

    /// Takes `permits` now or ahead of time, if they are there within `limit`. The caller holds the limiter's lock, so that it
    /// can list the reservation before the quota changes.
    pub(super) fn reserve(
        &self,
        eras: &Eras,
        permits: u32,
        at: Nanos,
        limit: Nanos,
        longest: Nanos,
    ) -> Result<Reserved, Short> {
        let mut word = self.load();
        loop {
            let quota = eras.load(word.era());
            let wait = match short(&quota, word, permits, at, longest) {
                None => Nanos::ZERO,
                Some(Short::Wait(wait)) if wait <= limit => wait,
                Some(short) => return Err(short),
            };
            let cost = u64::from(permits) << quota.shift;
            let taken = Quota::taken(word.tat(), quota.units(at), cost);
            let taken = Word::new(taken, word.era());
            match (self.exchange(word, taken), taken.ticket()) {
                (Ok(()), Some(ticket)) if wait == Nanos::ZERO => return Ok(Reserved::Now(ticket)),
                (Ok(()), Some(ticket)) => return Ok(Reserved::After(ticket, wait)),
                (Ok(()), None) => return Ok(Reserved::Now(Ticket::NOTHING)),
                (Err(newer), _) => word = newer,
            }
        }
    }

    /// Gives back `permits` that were taken for this ticket and not used: as much of them as has not come back by itself.
    ///
    /// A ticket of an earlier era says nothing about that any more: then what is given back makes the bucket at most full.
    pub(super) fn give_back(&self, eras: &Eras, ticket: Ticket, permits: u32, at: Nanos) {
        let mut word = self.load();
        loop {
            let quota = eras.load(word.era());
            let cost = u64::from(permits) << quota.shift;
            let ticket = ticket.word();
            let known = if ticket.era() == word.era() { ticket } else { word };
            let tat = Quota::given_back(word.tat(), known.tat(), quota.units(at), cost);
            match self.exchange(word, Word::new(tat, word.era())) {
                Ok(()) => return,
                Err(newer) => word = newer,
            }
        }
    }

    /// Leaves nothing to take at `at`; debts stay.
    pub(super) fn drain(&self, eras: &Eras, at: Nanos) {
        let mut word = self.load();
        loop {
            let quota = eras.load(word.era());
            let empty = quota.units(at).saturating_add(quota.burst);
            match self.exchange(word, Word::new(word.tat().max(empty), word.era())) {
                Ok(()) => return,
                Err(newer) => word = newer,
            }
        }
    }

    /// Puts `tat` at what `place` says, given the quota, what it is and the clock's units, and so many `permits` further;
    /// leaves it where that says nothing.
    ///
    /// The clock is read after the word, and again after each exchange that fails: it is not older than any call that is in the word.
    /// The caller holds the limiter's lock.
    pub(super) fn replace(
        &self,
        eras: &Eras,
        clock: impl Fn() -> Nanos,
        permits: u64,
        place: impl Fn(&Quota, u64, u64) -> Option<u64>,
    ) -> Option<Replaced> {
        let mut word = self.load();
        loop {
            let (at, quota) = (clock(), eras.load(word.era()));
            let begin = place(&quota, word.tat(), quota.units(at))?;
            let tat = begin.saturating_add(permits << quota.shift);
            match self.exchange(word, Word::new(tat, word.era())) {
                Ok(()) => return Some(Replaced { begin, era: word.era(), quota, at }),
                Err(newer) => word = newer,
            }
        }
    }

    /// The permits that could be taken at `at`.
    pub(super) fn available(&self, eras: &Eras, at: Nanos) -> u64 {
        let word = self.load();
        let quota = eras.load(word.era());
        quota.available(word.tat(), quota.units(at))
    }

    /// Begins the next era, whose quota is in its place: what can be taken, or is owed, stays as many permits.
    ///
    /// The clock is read after the word, and again after each exchange that fails: no call that is in the word was let in later.
    /// The caller holds the limiter's lock. Returns the reading at which it was done.
    pub(super) fn begin_era(
        &self,
        eras: &Eras,
        clock: impl Fn() -> Nanos,
        longest: Nanos,
    ) -> Nanos {
        let mut word = self.load();
        loop {
            let at = clock();
            let (old, new) = (eras.load(word.era()), eras.load(word.era() + 1));
            let (now, new_now) = (old.units(at), new.units(at));
            let tat = if old.is_astray(word.tat(), now, longest) {
                new_now.saturating_add(new.burst)
            } else {
                old.carried(word.tat(), now, &new, new_now)
            };
            let next = Word::new(tat, word.era() + 1);
            // ORDERING: Release, so that who loads the word reads the quota that was written before.
            match self.0.compare_exchange(word.0, next.0, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return at,
                Err(newer) => word = Word(newer),
            }
        }
    }
}

#[inline]
fn short(quota: &Quota, word: Word, permits: u32, at: Nanos, longest: Nanos) -> Option<Short> {
    if permits > quota.most() {
        return Some(Short::Never);
    }
    let (now, cost) = (quota.units(at), u64::from(permits) << quota.shift);
    match quota.short(word.tat(), now, cost) {
        0 => None,
        _ if quota.is_astray(word.tat(), now, longest) => Some(Short::Astray),
        units => Some(Short::Wait(quota.wait(at, units))),
    }
}
