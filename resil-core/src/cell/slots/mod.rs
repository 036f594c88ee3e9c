//! Slots for so many at a time, handed out in the order of asking.
//!
//! Invariant: never are more admitted than the limit says (it may be lowered below what is inside: then nobody enters until
//! enough have left). Who finds no room has been kept out by somebody who was inside or in front. The queue is strictly
//! first come, first served: a slot that is given up while somebody waits goes to the first, and nobody passes
//! between.
//!
//! # How it works
//! One word says it all, and changes by single read-modify-writes. To leave is one subtraction, which also says whether
//! somebody waits. To enter there are two ways, and a hint on a line of its own says which:
//!
//! * With plenty of room, an addition without a look before, which saves a transfer of the word's line between cores. Where
//!   it was too much after all it is taken back by leaving, and the caller looks again.
//! * Where it is crowded (no more than [`MARGIN`] places are free, or there are few in all) a look, and a compare-and-swap if
//!   there is room. So a refusal only reads.
//!
//! What is about to be taken back looks like somebody inside, and could turn others away for as long as its thread is
//! descheduled. Hence the margin: it takes a caller that is overtaken by as many others between its look at the hint and
//! its addition. And hence the least limit for the first way: for somebody to be turned away with nobody inside, that
//! would have to happen to as many callers at once. With a low limit it cannot happen at all. Nothing but speed
//! depends on the hint otherwise.
//!
//! While somebody waits, the word lets nobody in, whatever the count; so a slot that was left is the first waiter's from
//! the subtraction on. [`Slots::hand_over`] counts it again and takes that waiter out of the queue, both under the queue's
//! lock. It gives out whatever is free, for whoever made it so: of two who leave, one may do the work of both.
//!
//! A waiter that gives up takes the lock. Either it is still in the queue and takes itself out, or what became of it is
//! decided: a slot that was handed to it is its to pass on. Nothing is in between.
//!
//! # Synchronisation
//! | operation on `word` | ordering | why |
//! |---|---|---|
//! | enter, either way | Acquire | pairs with the Release of who left |
//! | leave | Release | what was done inside is behind it; later operations continue its release sequence |
//! | hand over | Acquire | as enter, on behalf of the waiter, which sees it through its node's `place` |
//! | limit changed | Relaxed | nothing is handed over with it |
//! | `crowded` | Relaxed | who reads an old one goes the slower way, or takes back an addition |
//!
//! The waiters' bit changes under the queue's lock, and is set exactly while the queue is not empty, but for who holds the
//! lock. Who left and saw it takes the lock after who set it has let go of it, and so finds the queue. Proved by `loom.rs`.

#[cfg(all(test, resil_loom))]
mod loom;
mod queue;
#[cfg(all(test, not(resil_loom)))]
mod tests;
mod waiter;
mod word;

pub(crate) use queue::{Place, Wake};
pub(crate) use waiter::{Joined, Waiter};
pub(crate) use word::MOST;

use crate::sync::fixed::PoisonError;
use crate::sync::{AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};
use crate::time::{self, Nanos};
use crossbeam_utils::CachePadded;
use queue::Queue;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(doc)]
use word::MARGIN;
use word::{INSIDE, WAITING, Word};

/// So many slots, and the queue for them.
pub(crate) struct Slots {
    /// Separates who enters and leaves from who only reads what stands around.
    shared: CachePadded<Shared>,
    /// Whether to look before entering, 0 or 1. Written when the count comes close to the limit, and when it is far below
    /// again.
    crowded: AtomicU32,
}

/// What every call writes.
struct Shared {
    word: AtomicU64,
    /// Touched while somebody waits, or begins to.
    queue: Mutex<Queue>,
}

impl Slots {
    /// All free.
    #[cfg(not(resil_loom))]
    pub(crate) const fn new(limit: u32) -> Self {
        let word = Word::new(limit);
        let shared = Shared { word: AtomicU64::new(word.0), queue: Mutex::new(Queue::new()) };
        Self { shared: CachePadded::new(shared), crowded: AtomicU32::new(!word.is_roomy() as u32) }
    }

    #[cfg(resil_loom)]
    pub(crate) fn new(limit: u32) -> Self {
        let word = Word::new(limit);
        let shared = Shared { word: AtomicU64::new(word.0), queue: Mutex::new(Queue::new()) };
        Self { shared: CachePadded::new(shared), crowded: AtomicU32::new(!word.is_roomy() as u32) }
    }

    /// Takes a slot if one is free and nobody waits for one.
    #[inline]
    pub(crate) fn try_enter(&self) -> bool {
        if self.crowded.load(Ordering::Relaxed) != 0 {
            return self.look_and_enter();
        }
        let before = Word(self.shared.word.fetch_add(INSIDE, Ordering::Acquire));
        before.admits_plenty() || self.look_again(before)
    }

    /// As `try_enter`; writes nothing unless it enters.
    #[inline(never)]
    fn look_and_enter(&self) -> bool {
        let mut word = self.load();
        while word.admits() {
            match self.exchange(word, word.entered(), Ordering::Acquire) {
                Ok(()) => {
                    if word.is_roomy() {
                        self.crowded.store(0, Ordering::Relaxed);
                    }
                    return true;
                }
                Err(now) => word = now,
            }
        }
        false
    }

    /// Entered without a look, and it turns out that there was not much room, if any.
    #[cold]
    #[inline(never)]
    fn look_again(&self, before: Word) -> bool {
        self.crowded.store(1, Ordering::Relaxed);
        before.admits() || {
            // What we took away from others meanwhile goes to them.
            self.leave();
            self.look_and_enter()
        }
    }

    /// Gives a slot back, to the first who waits if somebody does.
    #[inline]
    pub(crate) fn leave(&self) {
        let before = Word(self.shared.word.fetch_sub(INSIDE, Ordering::Release));
        if before.waits() {
            self.hand_over();
        }
    }

    /// Changes the limit. Room that this makes goes to those who wait; with a limit of 0 they are sent away.
    pub(crate) fn set_limit(&self, limit: u32) {
        let mut word = self.load();
        while let Err(now) = self.exchange(word, word.with_limit(limit), Ordering::Relaxed) {
            word = now;
        }
        self.crowded.store((!word.with_limit(limit).is_roomy()).into(), Ordering::Relaxed);
        if word.waits() {
            self.hand_over();
        }
    }

    /// Gives what is free to the first of the queue; sends those away whose time is over when it is their turn, and all of
    /// them if nobody may enter any more. One at a time: rarely are there more, and each is called without the lock.
    #[cold]
    #[inline(never)]
    fn hand_over(&self) {
        while let (Some(first), more) = self.decide() {
            wake(first);
            if !more {
                return;
            }
        }
    }

    /// What becomes of the first of the queue, if that can be said: who it was, and whether there may be more to do.
    fn decide(&self) -> (Option<Wake>, bool) {
        let mut queue = self.lock();
        let Some(due) = queue.first_due() else { return (None, false) };
        let last = queue.len() == 1;
        let mut word = self.load();
        let (place, next) = loop {
            let (place, next) = if word.limit() == 0 {
                (Place::Refused, word)
            } else if !word.has_room() {
                return (None, false);
            // At the very instant it is still served.
            } else if due != Nanos::MAX && due < time::now() {
                (Place::Refused, word)
            } else {
                (Place::Granted, word.entered())
            };
            let next = if last { next.without_waiters() } else { next };
            match self.exchange(word, next, Ordering::Acquire) {
                Ok(()) => break (place, next),
                Err(now) => word = now,
            }
        };
        (queue.decide(place), !last && (place == Place::Refused || next.has_room()))
    }

    /// The queue has become empty: its last has gone away.
    fn no_more_waiters(&self, queue: &MutexGuard<'_, Queue>) {
        debug_assert!(queue.is_empty());
        self.shared.word.fetch_and(!WAITING, Ordering::Relaxed);
    }

    /// How many are inside. For a moment also those who find that they may not be.
    pub(crate) fn in_flight(&self) -> u32 {
        self.load().in_flight()
    }

    /// How many more may be inside.
    pub(crate) fn available(&self) -> u32 {
        let word = self.load();
        word.limit().saturating_sub(word.in_flight())
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> u32 {
        if self.load().waits() { self.lock().len() } else { 0 }
    }

    #[inline]
    fn load(&self) -> Word {
        Word(self.shared.word.load(Ordering::Relaxed))
    }

    /// `next` in place of `word`; what it was instead if that is not what it is.
    #[inline]
    fn exchange(&self, word: Word, next: Word, success: Ordering) -> Result<(), Word> {
        match self.shared.word.compare_exchange_weak(word.0, next.0, success, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            Err(now) => Err(Word(now)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing under the lock panics.
        self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes one who waited; whatever its waker does, who left goes on.
fn wake(wake: Wake) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| wake.wake())) {
        // The payload's own destructor may panic as well.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
}
