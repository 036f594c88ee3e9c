//! By the last N calls: what an outcome does to the window, and the window to the state.
//!
//! Invariant: the word's bound is never below the number of bad marks, so that a success of a clean word may be skipped.

use super::decide::trips;
use super::machine::{Ground, Machine, Settled};
use super::word::Word;
use crate::cell::window::{Epoch, Mark};
use core::time::Duration;

impl<const W: usize> Machine<W> {
    /// An outcome goes into the window of calls.
    pub(super) fn record_call(
        &self,
        admitted: Word,
        mark: Mark,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Settled {
        let (epoch, window) = (Epoch::new(admitted.generation()), self.calls());
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

        let Some(claim) = window.claim(epoch, ground.options().criterion.number()) else {
            return Settled::Lost;
        };
        let Some(replaced) = window.set(epoch, claim.slot, mark) else { return Settled::Lost };
        let left =
            claim.leaving.is_some_and(|slot| window.set(epoch, slot, Mark::GOOD) == Some(true));
        let cleared = u32::from(replaced) + u32::from(left);
        if cleared > 0 {
            self.amend(&mut word, admitted, |word| word.bad_less(cleared));
        }

        if !mark.is_good() {
            window.sync();
        } else if !word.looks() {
            return Settled::Counted;
        }
        self.evaluate_calls(admitted, epoch, hint, ground);
        Settled::Counted
    }

    /// Looks at the window, and opens if it is bad enough.
    fn evaluate_calls(
        &self,
        admitted: Word,
        epoch: Epoch,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) {
        // The word comes first: what it says of the options is then true of those read after it.
        let word = self.load();
        let options = ground.options();
        let size = options.criterion.number();
        let tally = self.calls().tally(epoch, size);
        if let Some(reason) = trips(tally, &options) {
            self.trip(admitted, reason, tally.into(), hint, ground);
        } else if word.looks() && tally.calls >= size.into() {
            self.stop_looking(word, admitted);
        }
    }
}
