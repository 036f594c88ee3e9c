//! While closed, or observing only: what an outcome does to the window, and the window to the state.
//!
//! Invariant: the word's bound is never below the number of bad marks, and an evaluation follows every outcome that can have raised
//! a rate: a bad one, and each while the word says `look`.

use super::decide::trips;
use super::machine::{Ground, Machine, Settled, Step};
use super::word::Word;
use crate::cell::window::{Epoch, Mark, Tally};
use crate::contract::{State, Window};
use crate::sync::Ordering;
use core::time::Duration;

impl<const W: usize> Machine<W> {
    /// An outcome of a state that counts.
    pub(super) fn record(
        &self,
        admitted: Word,
        mark: Mark,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Settled {
        let epoch = Epoch::new(admitted.generation());
        let mut word = self.load();
        if !word.issued(admitted) {
            return Settled::Lost;
        }
        if mark.is_good() {
            if word.is_clean() {
                return Settled::Counted;
            }
        } else if !self.amend(&mut word, admitted, Word::bad_more) {
            return Settled::Lost;
        }

        let Some(claim) = self.window.claim(epoch, ground.options().window) else {
            return Settled::Lost;
        };
        let Some(replaced) = self.window.set(epoch, claim.slot, mark) else { return Settled::Lost };
        let left = claim
            .leaving
            .is_some_and(|slot| self.window.set(epoch, slot, Mark::GOOD) == Some(true));
        let cleared = u32::from(replaced) + u32::from(left);
        if cleared > 0 {
            self.amend(&mut word, admitted, |word| word.bad_less(cleared));
        }

        if !mark.is_good() {
            self.window.sync();
        } else if !word.looks() {
            return Settled::Counted;
        }
        self.evaluate(admitted, epoch, hint, ground);
        Settled::Counted
    }

    /// Looks at the window, and opens if it is bad enough.
    fn evaluate(&self, admitted: Word, epoch: Epoch, hint: Option<Duration>, ground: &impl Ground) {
        // The word comes first: what it says of the options is then true of those read after it.
        let mut word = self.load();
        let options = ground.options();
        let tally = self.window.tally(epoch, options.window);
        let Some(reason) = trips(tally, &options) else {
            if word.looks() && tally.calls >= options.window {
                self.stop_looking(word, admitted);
            }
            return;
        };
        while word.issued(admitted) {
            let generation = word.next_generation();
            let next = match word.state() {
                State::ObserveOnly => Word::observe_only(generation),
                _ => self.open(generation, hint, ground),
            };
            let step = Step { next, reason: Some(reason) };
            if self.commit(&mut word, step, tally.into(), ground) {
                return;
            }
        }
    }

    /// The window is full and was evaluated under the options that `looked_at` stands for.
    fn stop_looking(&self, looked_at: Word, admitted: Word) {
        let mut word = looked_at;
        while word.issued(admitted) && word.looks() && word.revision() == looked_at.revision() {
            let next = word.looked();
            if self.exchange(&mut word, next) {
                // Closed for a full window: the next wait starts small again.
                // ORDERING: Relaxed, as where it is raised.
                self.streak.store(0, Ordering::Relaxed);
                return;
            }
        }
    }

    /// The options have changed: the next outcome looks at the window.
    pub(super) fn revise(&self, ground: &impl Ground) {
        let mut word = self.load();
        loop {
            let timed = ground.options().counts_slow();
            // A word that does not count stays as it is; whoever closes next comes after this exchange, and sees the options.
            let next = if word.counts() { word.revised(timed) } else { word };
            if self.exchange(&mut word, next) {
                return;
            }
        }
    }
}

impl From<Tally> for Window {
    fn from(tally: Tally) -> Self {
        Self { calls: tally.calls, failures: tally.failures, slow: tally.slow }
    }
}
