//! The outcomes of the last span of time, in buckets that nobody ever clears.
//!
//! Within an epoch, three counts only rise: the successes, on one word a stripe; the failures; the slow calls. A bucket keeps where
//! they stood when it began. What a window holds is where they stand now, less where they stood when the oldest bucket in
//! it began. So a success is an addition on a line of its own thread, a failure an exchange of one word, and neither knows of buckets;
//! there is no bucket that could be found half cleared, and no outcome that comes too late for its bucket: it counts when it is
//! counted.
//!
//! Invariant: buckets are a tenth of the window long, begin at multiples of that (of the clock's epoch), and begin only later; a
//! clock that goes back stays in the newest. So an outcome counts for at least nine tenths of the window and never for longer than
//! the window, by the clock that is read; a success that is under way while a bucket begins may count into either.
//!
//! Invariant: while a bucket does not say `look`, the window holds `min_calls` and a success cannot raise a rate, so it may be
//! added without a look. While it does, every outcome is followed by a look at the window, and of those that compete, the
//! last one to change the word of failures sees all of them.
//!
//! Memory: 12 buckets of four words in the ring, whatever the span and the traffic. A window's length may change at any
//! time: the buckets know when they began. Counts are taken modulo 2⁴⁰, so a window holds less than that.
//!
//! # Synchronisation
//! | word | written | read |
//! |---|---|---|
//! | `head` (the ring's place) | `AcqRel` exchange by whoever begins a bucket (after its words), stops looking, or has changed the options (before it) | Acquire; Relaxed by a success that only adds: all that it may miss is that its bucket is over, or that the options change at this moment |
//! | a bucket's words | `AcqRel` exchange, once a lap, before `head` names the bucket | Acquire: so sums never fall behind what a bucket began with |
//! | successes, one a stripe | Release store by its owner | Acquire, before `head` is read again: who sees another epoch's word there sees that epoch's `head` |
//! | failures, slow calls | `AcqRel` exchange; by everyone who looks, changed or not, failures last | Acquire: of two who look, the second sees what the first had counted |

mod head;
#[cfg(all(test, not(resil_loom)))]
mod tests;

use super::{Age, EPOCH_SHIFT, Epoch, Mark, Ring, Tally};
use crate::cell::counters::Column;
use crate::sync::{AtomicU64, Ordering};
use head::{Head, Place};

/// Buckets in a window.
pub(crate) const BUCKETS: u64 = 10;

/// Words of a bucket: when it began, in milliseconds, and where the three counts stood: `[lap 20 | value 44]`.
const BUCKET_WORDS: usize = 4;
const BEGAN: usize = 0;
const STOOD: usize = 1;
const VALUE_SHIFT: u32 = 44;
const VALUE: u64 = (1 << VALUE_SHIFT) - 1;

/// The low bits of `[epoch 24 | count 40]`.
const COUNT: u64 = (1 << EPOCH_SHIFT) - 1;

/// Successes, failures, slow calls of an epoch, each modulo 2⁴⁰.
type Standing = [u64; 3];

/// What the window holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Held {
    pub(crate) tally: Tally,
    /// The epoch is older than the window: it began in a bucket that is no longer in it.
    pub(crate) full: bool,
}

/// The window itself; the successes in a column of stripes. Buckets are `bucket_ms` long.
pub(crate) struct TimeWindow<'a, const N: usize, const W: usize> {
    pub(crate) ring: &'a Ring<W>,
    pub(crate) successes: Column<'a, N>,
    pub(crate) bucket_ms: u64,
}

impl<const N: usize, const W: usize> TimeWindow<'_, N, W> {
    const SLOTS: usize = (W - 2) / BUCKET_WORDS;
    const FITS: () = assert!(2 < Self::SLOTS && Self::SLOTS as u64 <= Head::SLOT + 1);

    fn head(&self) -> Head {
        Head(self.ring.place.load(Ordering::Acquire))
    }

    fn exchange(&self, seen: Head, next: Head) -> bool {
        let (acq_rel, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
        self.ring.place.compare_exchange(seen.0, next.0, acq_rel, relaxed).is_ok()
    }

    fn failures(&self) -> &AtomicU64 {
        &self.ring.words[W - 2]
    }

    fn slow(&self) -> &AtomicU64 {
        &self.ring.words[W - 1]
    }

    fn word(&self, slot: usize, index: usize) -> &AtomicU64 {
        &self.ring.words[slot * BUCKET_WORDS + index]
    }

    /// A bucket's word; `None` if a later bucket has it, and `head` has moved on.
    fn read(&self, place: Place, index: usize) -> Option<u64> {
        let word = self.word(place.slot, index).load(Ordering::Acquire);
        (word >> VALUE_SHIFT == place.lap).then_some(word & VALUE)
    }

    /// Writes a word of the bucket `next`, unless somebody has; false, with nothing written, if `head` has moved on.
    fn put(&self, head: Head, next: Head, index: usize, value: u64) -> bool {
        let place = next.at();
        let word = self.word(place.slot, index);
        let mut seen = word.load(Ordering::Acquire);
        while seen >> VALUE_SHIFT != place.lap {
            // What was seen is of an earlier lap: who wrote a later one had seen a later head.
            if self.head() != head {
                return false;
            }
            let stamped = place.lap << VALUE_SHIFT | value & VALUE;
            match word.compare_exchange(seen, stamped, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        true
    }

    /// Whether a success of this moment needs no more than to be added.
    #[inline]
    pub(crate) fn only_adds(&self, epoch: Epoch, now_ms: u64) -> bool {
        // ORDERING: Relaxed, see the table. The words of a bucket are stamped, so an old head never takes a newer bucket's.
        let head = Head(self.ring.place.load(Ordering::Relaxed));
        let place = head.at();
        let began = self.word(place.slot, BEGAN).load(Ordering::Relaxed);
        head.epoch() == epoch.0
            && !head.looks()
            && began >> VALUE_SHIFT == place.lap
            && now_ms < (began & VALUE) + self.bucket_ms
    }

    /// Adds a success on the stripe of `owner`.
    #[inline]
    pub(crate) fn add_success(&self, owner: usize, epoch: Epoch) {
        self.successes.raise(owner, |seen, sole| match risen(epoch, seen) {
            Some(next) => next,
            // The owner has just seen `epoch` in force, so its own word is of an earlier one, however long ago.
            None if sole => first(epoch),
            None => seen,
        });
    }

    /// Begins a bucket if it is time for one; whether it did. `None` if a later epoch has begun.
    pub(crate) fn enter(&self, epoch: Epoch, now_ms: u64) -> Option<bool> {
        let () = Self::FITS;
        loop {
            let head = self.head();
            let next = match epoch.age_of(head.epoch()) {
                Age::Later => return None,
                // Where its counts stood is not asked for: at nothing.
                Age::Earlier => head.next(epoch, 0, Self::SLOTS),
                Age::Same => {
                    let Some(began) = self.read(head.at(), BEGAN) else { continue };
                    if now_ms < began + self.bucket_ms {
                        return Some(false);
                    }
                    let Some(standing) = self.standing(epoch) else { continue };
                    let next = head.next(epoch, head.earlier() + 1, Self::SLOTS);
                    let mut words = (STOOD..).zip(standing);
                    if !words.all(|(index, value)| self.put(head, next, index, value)) {
                        continue;
                    }
                    next
                }
            };
            let began = now_ms - now_ms % self.bucket_ms;
            if self.put(head, next, BEGAN, began) && self.exchange(head, next) {
                return Some(true);
            }
        }
    }

    /// Counts an outcome that is followed by a look; `None` if a later epoch has begun.
    pub(crate) fn add(&self, owner: usize, epoch: Epoch, mark: Mark) -> Option<()> {
        if !mark.failed() {
            self.add_success(owner, epoch);
        }
        if mark.slow() {
            count(self.slow(), epoch)?;
        }
        if mark.failed() {
            count(self.failures(), epoch)
        } else {
            // Changes nothing, but stands in the order of changes: see the table.
            self.failures().fetch_add(0, Ordering::AcqRel);
            Some(())
        }
    }

    /// What [`stop_looking`](Self::stop_looking) compares with: to be read before the options.
    pub(crate) fn begin_look(&self) -> Head {
        self.head()
    }

    /// The window holds enough to be judged, and was judged under the options of `looked_at`.
    pub(crate) fn stop_looking(&self, looked_at: Head) {
        if looked_at.looks() {
            self.exchange(looked_at, looked_at.looked());
        }
    }

    /// The options have changed: the next outcome looks at the window.
    pub(crate) fn revise(&self) {
        while {
            let head = self.head();
            !self.exchange(head, head.revised())
        } {}
    }

    /// Where the counts of `epoch` stand; `None` if it is not the newest.
    fn standing(&self, epoch: Epoch) -> Option<Standing> {
        let of =
            |word: u64| if word >> EPOCH_SHIFT == u64::from(epoch.0) { word & COUNT } else { 0 };
        let successes = self.successes.load().map(of).fold(0, u64::wrapping_add);
        let failures = of(self.failures().load(Ordering::Acquire));
        let slow = of(self.slow().load(Ordering::Acquire));
        (self.head().epoch() == epoch.0).then_some([successes, failures, slow])
    }

    /// What the window of `epoch` holds when the clock shows `now_ms`, or when the newest bucket began if that is later.
    pub(crate) fn held(&self, epoch: Epoch, now_ms: u64) -> Held {
        loop {
            let head = self.head();
            if head.epoch() != epoch.0 {
                return Held::default();
            }
            let Some((stood, full)) = self.oldest(head, now_ms) else { continue };
            let Some(standing) = self.standing(epoch) else { continue };
            let Some(stood) = stood else { return Held { full, ..Held::default() } };
            let [successes, failures, slow] =
                std::array::from_fn(|count| standing[count].wrapping_sub(stood[count]) & COUNT);
            return Held { tally: Tally { calls: successes + failures, failures, slow }, full };
        }
    }

    /// Where the counts stood when the oldest bucket in the window began (nowhere, if all are out of it), and whether a bucket
    /// of this epoch is older than that; `None` if `head` has moved on.
    fn oldest(&self, head: Head, now_ms: u64) -> Option<(Option<Standing>, bool)> {
        let mut place = head.at();
        let newest = self.read(place, BEGAN)?;
        let now = newest.max(now_ms - now_ms % self.bucket_ms);
        let mut oldest = None;
        // One slot less than there are: the next bucket's words may be written at any time.
        for back in 0..=head.earlier().min(Self::SLOTS as u64 - 2) {
            if now.saturating_sub(self.read(place, BEGAN)?) >= self.bucket_ms * BUCKETS {
                break;
            }
            oldest = Some((back, place));
            place = place.before(Self::SLOTS);
        }
        Some(match oldest {
            None => (None, true),
            // The first of its epoch: whatever its words say, they were meant for another.
            Some((back, _)) if back == head.earlier() => (Some([0; 3]), false),
            Some((_, place)) => {
                let mut stood = [0; 3];
                for (index, stood) in (STOOD..).zip(&mut stood) {
                    *stood = self.read(place, index)?;
                }
                (Some(stood), true)
            }
        })
    }
}

/// A count that is one higher, or the first of `epoch`; `None` if a later epoch counts there.
#[inline]
fn risen(epoch: Epoch, seen: u64) -> Option<u64> {
    #[allow(clippy::cast_possible_truncation)] // 24 bits
    match epoch.age_of((seen >> EPOCH_SHIFT) as u32) {
        Age::Same => Some(seen & !COUNT | (seen + 1) & COUNT),
        Age::Earlier => Some(first(epoch)),
        Age::Later => None,
    }
}

/// The first of `epoch`.
#[inline]
const fn first(epoch: Epoch) -> u64 {
    (epoch.0 as u64) << EPOCH_SHIFT | 1
}

fn count(word: &AtomicU64, epoch: Epoch) -> Option<()> {
    let mut seen = word.load(Ordering::Relaxed);
    loop {
        let next = risen(epoch, seen)?;
        match word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => return Some(()),
            Err(now) => seen = now,
        }
    }
}
