//! The word of [`Slots`](super::Slots): who is inside, how many may be, whether somebody waits.
//!
//! ```text
//!  63          32  31      30             0
//! ┌──────────────┬────────┬────────────────┐
//! │ limit        │waiters │ in flight (31) │
//! └──────────────┴────────┴────────────────┘
//! ```
//!
//! * *in flight*: slots that are taken: whoever was admitted, or was handed a slot and has not picked it up yet; and whoever
//!   entered without a look, and will find that there was no room. May exceed the limit after that was lowered, until
//!   enough have left.
//! * *waiters*: the queue is not empty. It stands above the count, so that one comparison of the two halves says whether a
//!   caller may pass: there is room, and nobody was here before.
//! * *limit*: at most [`MOST`], so a count that exceeds it by one a thread does not reach the bit above.
//!
//! Pure: no atomics, no clock.

/// The largest limit.
pub(crate) const MOST: u32 = 1 << 30;

/// More than this many places have to be free for a caller to enter without a look: no more threads than that get ahead of
/// one that is between two instructions, unless it is descheduled. Twice as many for callers to begin with it again.
pub(super) const MARGIN: u32 = if cfg!(resil_loom) { 1 } else { 16 };

const WAITERS: u32 = 1 << 31;
const LIMIT_SHIFT: u32 = 32;

/// A snapshot of the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word(pub(super) u64);

impl Word {
    pub(super) const fn new(limit: u32) -> Self {
        Self((limit as u64) << LIMIT_SHIFT)
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the lower half
    const fn low(self) -> u32 {
        self.0 as u32
    }

    /// How many may be inside.
    #[inline]
    pub(super) const fn limit(self) -> u32 {
        (self.0 >> LIMIT_SHIFT) as u32
    }

    /// How many are inside.
    pub(super) const fn in_flight(self) -> u32 {
        self.low() & !WAITERS
    }

    /// Whether somebody waits.
    #[inline]
    pub(super) const fn waits(self) -> bool {
        self.low() >= WAITERS
    }

    /// Whether a caller may pass at once.
    #[inline]
    pub(super) const fn admits(self) -> bool {
        self.low() < self.limit()
    }

    /// Whether a caller may pass at once, and so may many after it.
    #[inline]
    pub(super) const fn admits_plenty(self) -> bool {
        // A count is far from the end of the half word, and so is the bit from its own.
        self.low() + MARGIN < self.limit()
    }

    /// Whether callers need not look before they enter: never with a low limit.
    pub(super) const fn is_roomy(self) -> bool {
        self.low() + 2 * MARGIN < self.limit()
    }

    /// Whether the first who waits may pass.
    pub(super) const fn has_room(self) -> bool {
        self.in_flight() < self.limit()
    }

    /// One more is inside. Of a word that has room.
    #[inline]
    pub(super) const fn entered(self) -> Self {
        Self(self.0 + INSIDE)
    }

    pub(super) const fn with_waiters(self) -> Self {
        Self(self.0 | WAITING)
    }

    pub(super) const fn without_waiters(self) -> Self {
        Self(self.0 & !WAITING)
    }

    pub(super) const fn with_limit(self, limit: u32) -> Self {
        Self(self.low() as u64 | (limit as u64) << LIMIT_SHIFT)
    }
}

/// What one more inside adds to the word.
pub(super) const INSIDE: u64 = 1;
/// The waiters' bit in the word.
pub(super) const WAITING: u64 = WAITERS as u64;

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_largest_limit_stays_clear_of_the_bit_above_the_count() {
        let full = Word(Word::new(MOST).0 + u64::from(MOST));
        assert_eq!((full.in_flight(), full.limit(), full.waits()), (MOST, MOST, false));
        assert!(!full.admits() && !full.has_room());
        let last = Word(full.0 - INSIDE);
        assert!(last.admits());
        assert_eq!(last.entered(), full);
    }

    #[test]
    fn nobody_passes_those_who_wait() {
        let waits = Word::new(2).with_waiters();
        assert!(!waits.admits(), "not past the queue");
        assert!(waits.has_room(), "but the first of the queue may");
        assert_eq!((waits.entered().in_flight(), waits.entered().waits()), (1, true));
    }

    #[test]
    fn a_new_limit_leaves_the_rest_alone() {
        let word = Word::new(5).entered().entered().with_waiters().with_limit(1);
        assert_eq!((word.limit(), word.in_flight(), word.waits()), (1, 2, true));
        assert!(!word.has_room());
        assert!(!Word::new(0).admits());
    }
}
