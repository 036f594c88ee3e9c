//! A balance of retries that any thread may draw on: what calls deposit, what time brings, and what time takes away.
//!
//! Invariant: a balance never exceeds [`Terms::full`], and each change of it is one exchange of one word, decided by what the word
//! was: no retry is granted twice, no deposit is lost, no time is counted twice. Whatever the interleaving, in any span there are granted
//! at most what was there at its beginning, what is deposited in it, and `min_per_sec` for its length (and a tick).
//!
//! # Source
//! Ratio, floor and memory follow Finagle's `RetryBudget`; how it forgets without a clock on the healthy path is ours: see
//! `word.rs`.
//!
//! # Synchronisation
//! | access | ordering | why |
//! |---|---|---|
//! | glance of a deposit | Relaxed load | only asks whether there is something to do; what is done is decided anew |
//! | load before an exchange, failed exchange | Acquire | the terms are loaded after it: who meets a word that was settled for a change of terms knows the new ones |
//! | exchange | `AcqRel` | the same, from the side of the change |

#[cfg(test)]
mod tests;
mod word;

pub(crate) use word::{LARGEST_RESERVE, RETRY, Terms};

use crate::sync::{AtomicU64, Ordering};
use crate::time::Nanos;
use word::Word;

/// A balance that any thread may draw on.
///
/// Terms and time are its owner's: `terms` says what holds now and is asked again in each round.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// A [`Word`]. Deposits and withdrawals exchange it; a deposit that finds it full only reads.
    word: AtomicU64,
}

impl Bucket {
    #[cfg(not(resil_loom))]
    pub(crate) const fn new(terms: &Terms) -> Self {
        Self { word: AtomicU64::new(Word::fresh(terms).0) }
    }

    #[cfg(resil_loom)]
    pub(crate) fn new(terms: &Terms) -> Self {
        Self { word: AtomicU64::new(Word::fresh(terms).0) }
    }

    /// Whether it is full to this [`brim`](Terms::brim), as far as can be said without a clock.
    #[inline]
    pub(crate) fn is_full(&self, brim: u64) -> bool {
        self.word.load(Ordering::Relaxed) >= brim
    }

    /// Adds what `parts` takes from the terms, as far as there is room.
    pub(crate) fn put(
        &self,
        parts: impl Fn(&Terms) -> u64,
        terms: impl Fn() -> Terms,
        now: impl Fn() -> Nanos,
    ) {
        self.change(|word| {
            let terms = terms();
            let parts = parts(&terms);
            if parts == 0 || word.balance() >= terms.full() {
                return (word, ());
            }
            let next = word.with(parts, &terms);
            (next.unwrap_or_else(|| word.with_at(parts, word::tick(now()), &terms)), ())
        });
    }

    /// Takes a whole retry, if there is one.
    pub(crate) fn take(&self, terms: impl Fn() -> Terms, now: Nanos) -> bool {
        self.change(|word| word.without(word::tick(now), &terms()))
    }

    /// Settles up to `now` under these terms. A change of terms settles under the old ones, changes, and settles under the new
    /// ones, so that no time counts under both.
    pub(crate) fn settle(&self, terms: &Terms, now: Nanos) {
        self.change(|word| (word.settled(word::tick(now), terms), ()));
    }

    /// As new.
    pub(crate) fn reset(&self, terms: impl Fn() -> Terms) {
        self.change(|_| (Word::fresh(&terms()), ()));
    }

    /// What could be taken now, in parts.
    pub(crate) fn balance(&self, terms: &Terms, now: Nanos) -> u64 {
        Word(self.word.load(Ordering::Acquire)).at(word::tick(now), terms).balance()
    }

    /// Exchanges the word for what `step` makes of it, and writes nothing where that is the same.
    fn change<R>(&self, step: impl Fn(Word) -> (Word, R)) -> R {
        let mut word = Word(self.word.load(Ordering::Acquire));
        loop {
            let (next, result) = step(word);
            if next == word {
                return result;
            }
            let exchanged = self.word.compare_exchange_weak(
                word.0,
                next.0,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match exchanged {
                Ok(_) => return result,
                Err(seen) => word = Word(seen),
            }
        }
    }
}
