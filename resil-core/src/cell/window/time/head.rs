//! The newest bucket of a window of time, in one word.
//!
//! Invariant: of two heads of one window the later one has another slot, lap or epoch, or (with the same bucket) another revision
//! unless it merely stopped looking; so an exchange that succeeds was meant for what it found.
//!
//! Pure: no atomics, no clock.

use crate::cell::window::{EPOCH_SHIFT, Epoch};

/// The newest bucket: `[epoch 24 | revision 11 | look 1 | earlier 4 | lap 20 | slot 4]`.
///
/// * *revision* changes with the options, so that nobody takes `look` away who has not seen them.
/// * *look* says that a success may not be added without a look at the window.
/// * *earlier* buckets of this epoch came before it; 15 stands for all larger numbers.
/// * *lap* counts how often all slots were used, from 1, modulo 2²⁰.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head(pub(super) u64);

impl Head {
    pub(super) const SLOT: u64 = 0xf;
    const LAP_SHIFT: u32 = 4;
    const LAP: u64 = (1 << 20) - 1;
    const EARLIER_SHIFT: u32 = 24;
    const EARLIER: u64 = 0xf;
    const LOOK: u64 = 1 << 28;
    const REVISION_SHIFT: u32 = 29;
    const REVISION: u64 = (1 << 11) - 1;

    #[allow(clippy::cast_possible_truncation)] // 24 bits
    pub(super) const fn epoch(self) -> u32 {
        (self.0 >> EPOCH_SHIFT) as u32
    }

    pub(super) const fn looks(self) -> bool {
        self.0 & Self::LOOK != 0
    }

    pub(super) const fn earlier(self) -> u64 {
        self.0 >> Self::EARLIER_SHIFT & Self::EARLIER
    }

    #[allow(clippy::cast_possible_truncation)] // 4 bits
    pub(super) const fn at(self) -> Place {
        Place {
            slot: (self.0 & Self::SLOT) as usize,
            // From 1, so that no untouched word is of the first.
            lap: ((self.0 >> Self::LAP_SHIFT) + 1) & Self::LAP,
        }
    }

    pub(super) const fn revision(self) -> u64 {
        self.0 >> Self::REVISION_SHIFT & Self::REVISION
    }

    /// The bucket after it, of `epoch`, with `earlier` before it; looks.
    pub(super) const fn next(self, epoch: Epoch, earlier: u64, slots: usize) -> Self {
        let slot = (self.0 & Self::SLOT) + 1;
        let lap = self.0 >> Self::LAP_SHIFT & Self::LAP;
        let (slot, lap) =
            if slot == slots as u64 { (0, (lap + 1) & Self::LAP) } else { (slot, lap) };
        let earlier = if earlier > Self::EARLIER { Self::EARLIER } else { earlier };
        Self(
            (epoch.0 as u64) << EPOCH_SHIFT
                | self.revision() << Self::REVISION_SHIFT
                | Self::LOOK
                | earlier << Self::EARLIER_SHIFT
                | lap << Self::LAP_SHIFT
                | slot,
        )
    }

    pub(super) const fn looked(self) -> Self {
        Self(self.0 & !Self::LOOK)
    }

    pub(super) const fn revised(self) -> Self {
        let revision = (self.revision() + 1) & Self::REVISION;
        let others = self.0 & !(Self::REVISION << Self::REVISION_SHIFT);
        Self(others | Self::LOOK | revision << Self::REVISION_SHIFT)
    }
}

/// Where a bucket's words are, and what they are stamped with.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) slot: usize,
    pub(super) lap: u64,
}

impl Place {
    pub(super) const fn before(self, slots: usize) -> Self {
        if self.slot == 0 {
            Self { slot: slots - 1, lap: self.lap.wrapping_sub(1) & Head::LAP }
        } else {
            Self { slot: self.slot - 1, lap: self.lap }
        }
    }
}
