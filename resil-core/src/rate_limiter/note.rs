//! A note on the door of an empty limiter: until when even one permit is not there. It spares a refusal the arithmetic, and where
//! the time is long the fine clock.
//!
//! Invariant: what a note says follows from one value of the word, and holds as long as the word has that value; it is left by the call
//! that took the last permit, and believed only by who finds the word as that call left it. A note that was mixed of two
//! matches no word.
//!
//! # Synchronisation
//! Relaxed throughout: the note carries its own proof, the word mixed into it. It lies beside what hardly ever changes, and is
//! written at most ten thousand times a second.

use super::bucket::Word;
use crate::sync::{AtomicU64, Ordering::Relaxed};
use crate::time::{self, Nanos};

/// What is over sooner needs no note.
const WORTH_IT: Nanos = Nanos(100_000);
/// From here on the coarse clock will do, which moves in steps of some 4 ms, at most 10.
const COARSE_FROM: Nanos = Nanos::from_ms(16);
/// How much older than another one a reading may seem.
const SKEW: Nanos = Nanos::MILLI;

/// See the module.
pub(super) struct Note {
    /// The other two and the word, by exclusive or.
    proof: AtomicU64,
    /// The end, on one of the clocks.
    until: AtomicU64,
    /// How long it was when it was written, rounded up to an even number; its last bit says on which clock.
    length: AtomicU64,
}

impl Note {
    pub(super) const fn new() -> Self {
        // Matches no word: none is ahead of every clock and in the last era.
        Self {
            proof: AtomicU64::new(u64::MAX),
            until: AtomicU64::new(0),
            length: AtomicU64::new(0),
        }
    }

    /// Whether it is about this word.
    #[inline]
    pub(super) fn is_about(&self, word: Word) -> bool {
        self.read(word).is_some()
    }

    /// The end and the length, if it is about this word.
    #[inline]
    fn read(&self, word: Word) -> Option<(u64, u64)> {
        let (until, length) = (self.until.load(Relaxed), self.length.load(Relaxed));
        (self.proof.load(Relaxed) ^ until ^ length == word.bits()).then_some((until, length))
    }

    /// Leaves a note: as long as the word is this one, there is nothing for another `left` from `at`.
    #[cold]
    #[inline(never)]
    pub(super) fn leave(&self, word: Word, left: Nanos, at: Nanos) {
        if left < WORTH_IT {
            return;
        }
        let even = left.0.next_multiple_of(2);
        let (until, length) = if left < COARSE_FROM {
            (at.plus(left).0, even)
        } else {
            (time::coarse().plus(left).0, even | 1)
        };
        self.until.store(until, Relaxed);
        self.length.store(length, Relaxed);
        self.proof.store(word.bits() ^ until ^ length, Relaxed);
    }

    /// For how long there is still nothing if the word is this one; `None` if the note cannot tell, or it is perhaps no
    /// longer than `limit`.
    #[inline]
    pub(super) fn left(&self, word: Word, limit: Nanos) -> Option<Nanos> {
        let (until, length) = self.read(word)?;
        let (now, blur) = if length & 1 == 0 {
            (time::now(), Nanos::ZERO)
        } else {
            // The two clocks run alike to a thousandth; and the coarse one is late, which matters to who would wait.
            let late = if limit == Nanos::ZERO { limit } else { COARSE_FROM };
            (time::coarse(), late.plus(Nanos(length >> 10)))
        };
        let (left, length) = (Nanos(until).since(now), Nanos(length));
        // More than at first: the clock went back, and that takes another look.
        (left > limit.plus(blur) && left <= length.plus(SKEW)).then(|| left.min(length))
    }
}
