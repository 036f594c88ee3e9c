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
//! Relaxed throughout: the word says all there is to say, and an exchange decides by what it was. What orders a change of terms
//! is in the terms: see [`Bucket::settle`].

#[cfg(test)]
mod tests;
mod word;

pub(crate) use word::{LARGEST_RESERVE, RETRY, Terms};

use crate::sync::{AtomicU64, Ordering::Relaxed};
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
        self.word.load(Relaxed) >= brim
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

    /// Settles up to `now` under these terms, of which others may take the place then.
    ///
    /// If they are stored with Release and loaded with Acquire, whoever knows the new terms meets a word that was settled under the
    /// old ones: an exchange of an earlier one fails. So no time counts under terms that did not hold.
    pub(crate) fn settle(&self, terms: &Terms, now: Nanos) {
        self.change(|word| (word.settled(word::tick(now), terms), ()));
    }

    /// As new.
    pub(crate) fn reset(&self, terms: impl Fn() -> Terms) {
        self.change(|_| (Word::fresh(&terms()), ()));
    }

    /// What could be taken now, in parts.
    pub(crate) fn balance(&self, terms: &Terms, now: Nanos) -> u64 {
        Word(self.word.load(Relaxed)).at(word::tick(now), terms).balance()
    }

    /// Exchanges the word for what `step` makes of it, and writes nothing where that is the same.
    fn change<R>(&self, step: impl Fn(Word) -> (Word, R)) -> R {
        let mut word = Word(self.word.load(Relaxed));
        loop {
            let (next, result) = step(word);
            if next == word {
                return result;
            }
            match self.word.compare_exchange_weak(word.0, next.0, Relaxed, Relaxed) {
                Ok(_) => return result,
                Err(seen) => word = Word(seen),
            }
        }
    }
}
