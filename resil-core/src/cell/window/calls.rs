//! The outcomes of the last N calls, two bits each, in a ring of words.
//!
//! Invariant: every word carries the epoch of its marks. A word of an earlier epoch reads as all good and turns over in the same
//! compare-and-swap that writes its first mark of a new one, so there is no half-cleared window, and whoever comes late from an
//! earlier epoch is turned away at each step.
//!
//! A window of N slots lies in a ring of more: slot p is claimed, slot p − N leaves. N may change at any time.
//!
//! What is in flight: a slot is claimed first and marked afterwards; until then it reads as good. A recorder that sleeps
//! between the two while the window moves on by a whole lap may overwrite a newer mark: as many marks may be off as
//! threads slept so long.
//!
//! # Synchronisation
//! | operation | ordering | pairs with |
//! |---|---|---|
//! | claim: read-modify-write of `place` | Relaxed | publishes nothing; being a read-modify-write it goes on the release sequence of an earlier `sync`, which the claimer's `tally` then acquires |
//! | mark: compare-and-swap of a word | `AcqRel` | the loads of `tally` |
//! | `sync`: read-modify-write of `place` | `AcqRel` | the `sync` of another recorder, and the `tally` after a later claim: whichever of two comes second in `place`'s order sees what the first had marked |
//! | `tally`: loads | Acquire | marks; `place` carries everything that its last modifier had done |

use super::{Age, EPOCH_SHIFT, Epoch, Mark, Ring, Tally, WORDS};
use crate::sync::Ordering;

/// Marks in a word: what 24 bits of epoch leave.
const SLOTS_A_WORD: usize = 20;
const FAILURES: u64 = 0x0055_5555_5555;
const SLOW: u64 = FAILURES << 1;

/// The largest window.
pub(crate) const LARGEST: u32 = 1024;
const _: () = assert!((LARGEST as usize) < WORDS * SLOTS_A_WORD);

/// A slot of one's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Claim {
    pub(crate) slot: usize,
    /// The slot that falls out of the window for it.
    pub(crate) leaving: Option<usize>,
}

/// Where the next mark goes: `[epoch 24 | filled 20 | slot 20]`.
///
/// Written by every claim, read by every tally.
#[derive(Clone, Copy)]
struct Place {
    epoch: u32,
    filled: u32,
    slot: u32,
}

impl Place {
    const FIELD: u64 = (1 << 20) - 1;

    #[allow(clippy::cast_possible_truncation)] // masked, or 24 bits by the shift
    const fn unpack(word: u64) -> Self {
        Self {
            epoch: (word >> EPOCH_SHIFT) as u32,
            filled: (word >> 20 & Self::FIELD) as u32,
            slot: (word & Self::FIELD) as u32,
        }
    }

    const fn pack(self) -> u64 {
        (self.epoch as u64) << EPOCH_SHIFT | (self.filled as u64) << 20 | self.slot as u64
    }
}

/// The window itself.
#[derive(Clone, Copy)]
pub(crate) struct CountWindow<'a, const W: usize>(pub(crate) &'a Ring<W>);

impl<const W: usize> CountWindow<'_, W> {
    const SLOTS: usize = W * SLOTS_A_WORD;

    /// Takes the next slot of a window of `size`; `None` if a later epoch has begun.
    pub(crate) fn claim(self, epoch: Epoch, size: u32) -> Option<Claim> {
        debug_assert!(size >= 1 && (size as usize) < Self::SLOTS);
        let mut seen = self.0.place.load(Ordering::Relaxed);
        loop {
            let mut place = Place::unpack(seen);
            match epoch.age_of(place.epoch) {
                Age::Later => return None,
                Age::Earlier => place = Place { epoch: epoch.0, filled: 0, ..place },
                Age::Same => {}
            }
            let (slot, slots) = (place.slot as usize, Self::SLOTS);
            let leaving = (place.filled >= size).then(|| (slot + slots - size as usize) % slots);
            #[allow(clippy::cast_possible_truncation)] // below `SLOTS`
            let next = Place {
                filled: (place.filled + 1).min(size),
                slot: ((slot + 1) % slots) as u32,
                ..place
            };
            let (new, relaxed) = (next.pack(), Ordering::Relaxed);
            match self.0.place.compare_exchange_weak(seen, new, relaxed, relaxed) {
                Ok(_) => return Some(Claim { slot, leaving }),
                Err(now) => seen = now,
            }
        }
    }

    /// Writes `mark` into `slot`, unless it is there. `Some(true)` if a bad mark was there before; `None`, with
    /// nothing written, if a later epoch has begun.
    pub(crate) fn set(self, epoch: Epoch, slot: usize, mark: Mark) -> Option<bool> {
        let word = &self.0.words[slot / SLOTS_A_WORD];
        let shift = slot % SLOTS_A_WORD * 2;
        let mut seen = word.load(Ordering::Acquire);
        loop {
            #[allow(clippy::cast_possible_truncation)] // 24 bits
            let marks = match epoch.age_of((seen >> EPOCH_SHIFT) as u32) {
                Age::Later => return None,
                Age::Earlier => 0,
                Age::Same => seen & ((1 << EPOCH_SHIFT) - 1),
            };
            let before = Mark(marks >> shift & 0b11);
            if before == mark {
                return Some(!before.is_good());
            }
            let next =
                u64::from(epoch.0) << EPOCH_SHIFT | marks & !(0b11 << shift) | mark.0 << shift;
            match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(!before.is_good()),
                Err(now) => seen = now,
            }
        }
    }

    /// Stands between setting a mark and counting: of two recorders that both do this, or of one that does and one that
    /// claims, the second sees what the first had set. Without it, each could miss the other's mark and
    /// neither would find the window bad enough.
    pub(crate) fn sync(self) {
        self.0.place.fetch_add(0, Ordering::AcqRel);
    }

    /// Counts the last `size` outcomes of `epoch`.
    pub(crate) fn tally(self, epoch: Epoch, size: u32) -> Tally {
        let place = Place::unpack(self.0.place.load(Ordering::Acquire));
        if epoch.age_of(place.epoch) != Age::Same {
            return Tally::default();
        }
        let filled = place.filled.min(size);
        let mut tally = Tally { calls: filled.into(), ..Tally::default() };
        let (mut end, mut left) = (place.slot as usize, filled as usize);
        while left > 0 {
            if end == 0 {
                end = Self::SLOTS;
            }
            let index = (end - 1) / SLOTS_A_WORD;
            let first = index * SLOTS_A_WORD;
            let take = left.min(end - first);
            let range = ((1 << (2 * take)) - 1) << (2 * (end - first - take));
            let word = self.0.words[index].load(Ordering::Acquire);
            if word >> EPOCH_SHIFT == u64::from(epoch.0) {
                tally.failures += u64::from((word & range & FAILURES).count_ones());
                tally.slow += u64::from((word & range & SLOW).count_ones());
            }
            end -= take;
            left -= take;
        }
        tally
    }
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: Epoch = Epoch::new(1);
    const FAILED: Mark = Mark::new(true, false);

    fn record<const W: usize>(
        window: CountWindow<'_, W>,
        epoch: Epoch,
        size: u32,
        mark: Mark,
    ) -> u32 {
        let claim = window.claim(epoch, size).expect("the epoch is the newest");
        let overwritten = window.set(epoch, claim.slot, mark).expect("the epoch is the newest");
        let left =
            claim.leaving.is_some_and(|slot| window.set(epoch, slot, Mark::GOOD) == Some(true));
        u32::from(overwritten) + u32::from(left)
    }

    #[test]
    fn a_late_recorder_changes_nothing_in_a_later_epoch() {
        let ring = Ring::<2>::new();
        let window = CountWindow(&ring);
        let late = window.claim(ONE, 4).expect("the first epoch");
        let two = Epoch::new(2);
        record(window, two, 4, Mark::GOOD);
        record(window, two, 4, FAILED);
        let before = window.tally(two, 4);
        assert_eq!(window.set(ONE, late.slot, FAILED), None);
        assert_eq!(window.claim(ONE, 4), None);
        assert_eq!(window.tally(two, 4), before);
        assert_eq!(before, Tally { calls: 2, failures: 1, slow: 0 });
        assert_eq!(window.tally(ONE, 4), Tally::default());
    }

    #[test]
    fn every_call_counts_once_at_every_size() {
        for size in [1, 2, 19, 20, 21, 100, LARGEST] {
            let ring: Ring = Ring::new();
            let window = CountWindow(&ring);
            for _ in 0..size {
                record(window, ONE, size, FAILED);
            }
            assert_eq!(
                window.tally(ONE, size),
                Tally { calls: size.into(), failures: size.into(), slow: 0 }
            );
            for _ in 0..size {
                assert_eq!(record(window, ONE, size, Mark::GOOD), 1, "one failure leaves a call");
            }
            assert_eq!(window.tally(ONE, size), Tally { calls: size.into(), failures: 0, slow: 0 });
        }
    }

    /// The plain window: a list.
    #[derive(Default)]
    struct Plain {
        marks: Vec<Mark>,
    }

    impl Plain {
        /// What falls out of the window is forgotten, also if the window grows again.
        fn push(&mut self, size: usize, mark: Mark) {
            self.marks.push(mark);
            let surplus = self.marks.len().saturating_sub(size);
            self.marks.drain(..surplus);
        }

        #[allow(clippy::cast_possible_truncation)]
        fn tally(&self, size: usize) -> Tally {
            let last = &self.marks[self.marks.len().saturating_sub(size)..];
            let count =
                |wanted: fn(Mark) -> bool| last.iter().filter(|m| wanted(**m)).count() as u64;
            Tally {
                calls: last.len() as u64,
                failures: count(Mark::failed),
                slow: count(Mark::slow),
            }
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Record(bool, bool),
        Resize(u32),
        NewEpoch,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            40 => (any::<bool>(), any::<bool>()).prop_map(|(failed, slow)| Step::Record(failed, slow)),
            2 => (1_u32..39).prop_map(Step::Resize),
            1 => Just(Step::NewEpoch),
        ]
    }

    proptest! {
        /// One thread, any marks, sizes changed and epochs begun at any time: the same counts as a list, and the marks
        /// cleared are exactly those set.
        #[test]
        fn it_agrees_with_a_list(steps in proptest::collection::vec(step(), 1..400)) {
            let ring = Ring::<2>::new();
            let window = CountWindow(&ring);
            let mut plain = Plain::default();
            let (mut size, mut generation, mut bad) = (10, 1, 0);
            for step in steps {
                match step {
                    Step::Record(failed, slow) => {
                        let mark = Mark::new(failed, slow);
                        bad += u32::from(!mark.is_good());
                        bad -= record(window, Epoch::new(generation), size, mark);
                        plain.push(size as usize, mark);
                    }
                    Step::Resize(to) => size = to,
                    Step::NewEpoch => {
                        generation += 1;
                        plain.marks.clear();
                        bad = 0;
                        record(window, Epoch::new(generation), size, Mark::GOOD);
                        plain.push(size as usize, Mark::GOOD);
                    }
                }
                let tally = window.tally(Epoch::new(generation), size);
                prop_assert_eq!(tally, plain.tally(size as usize));
                let marked = plain.marks.iter().filter(|m| !m.is_good()).count();
                prop_assert!(bad as usize >= marked);
            }
        }
    }
}
