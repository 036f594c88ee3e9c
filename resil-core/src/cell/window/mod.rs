//! What a window of outcomes is made of: the memory, the epochs, what is known of an outcome, what is counted.
//!
//! Invariant: everything counted belongs to one *epoch* (a period in which its owner counted), and every word carries the epoch of
//! what it counts. So nothing has to be cleared between epochs, and whoever comes late from an earlier one is turned away.
//!
//! A window counts the last N calls ([`CountWindow`]) or those of the last so many seconds ([`TimeWindow`]); both are ways to use
//! the same words, so that what can do either is no larger than what can do one.

mod calls;
mod time;

pub(crate) use calls::{CountWindow, LARGEST};
pub(crate) use time::{BUCKETS, TimeWindow};

use crate::sync::AtomicU64;

/// Epochs take the upper 24 bits of a word.
const EPOCH_SHIFT: u32 = 40;
const EPOCH_BITS: u32 = 24;

/// Words in a ring: room for a count window of 1024 and then some, or for a time window's buckets.
pub(crate) const WORDS: usize = 52;

/// The memory of a window: a word that says where it stands, and `W` that say what it holds. Models use few.
pub(crate) struct Ring<const W: usize = WORDS> {
    place: AtomicU64,
    words: [AtomicU64; W],
}

impl<const W: usize> Ring<W> {
    #[cfg(not(resil_loom))]
    pub(crate) const fn new() -> Self {
        Self { place: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; W] }
    }

    #[cfg(resil_loom)]
    pub(crate) fn new() -> Self {
        Self { place: AtomicU64::new(0), words: core::array::from_fn(|_| AtomicU64::new(0)) }
    }
}

/// A period of counting; compared modulo 2²⁴.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Epoch(u32);

#[derive(PartialEq, Eq)]
enum Age {
    Earlier,
    Same,
    Later,
}

impl Epoch {
    const MASK: u32 = (1 << EPOCH_BITS) - 1;

    pub(crate) const fn new(generation: u32) -> Self {
        Self(generation & Self::MASK)
    }

    /// How `tag` stands to this epoch.
    const fn age_of(self, tag: u32) -> Age {
        match tag.wrapping_sub(self.0) & Self::MASK {
            0 => Age::Same,
            ahead if ahead < 1 << (EPOCH_BITS - 1) => Age::Later,
            _ => Age::Earlier,
        }
    }
}

/// What is known of one outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark(u64);

impl Mark {
    /// Neither failed nor slow: what an untouched slot reads as.
    pub(crate) const GOOD: Self = Self(0b00);

    pub(crate) const fn new(failed: bool, slow: bool) -> Self {
        Self(failed as u64 | (slow as u64) << 1)
    }

    pub(crate) const fn is_good(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn failed(self) -> bool {
        self.0 & 1 != 0
    }

    pub(crate) const fn slow(self) -> bool {
        self.0 & 2 != 0
    }
}

/// What a window held at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;

    #[test]
    fn epochs_are_compared_modulo_their_width() {
        let newest = Epoch::new(0);
        assert!(newest.age_of(Epoch::MASK) == Age::Earlier);
        assert!(Epoch::new(Epoch::MASK).age_of(0) == Age::Later);
    }
}
