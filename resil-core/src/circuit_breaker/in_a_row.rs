//! By failures in a row: each outcome is one exchange of the word, or none.
//!
//! Invariant: the word's count of bad outcomes is the length of the row, and the failure that completes it is the transition: nothing
//! lies between counting and deciding. A success writes only if there is a row to end (or, once in a period, to tell that
//! it was closed for as many outcomes as a row has); so the clean word's no-op is exact here too.

use super::closed::in_a_row;
use super::machine::{Ground, Machine, Settled, Step};
use super::word::Word;
use crate::cell::window::{Epoch, Mark};
use crate::contract::{TripReason, Window};
use core::time::Duration;

impl<const W: usize> Machine<W> {
    /// An outcome goes on with the row, or ends it. Slow is as bad as failed.
    pub(super) fn record_in_a_row(
        &self,
        admitted: Word,
        mark: Mark,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Settled {
        let mut word = self.load();
        loop {
            if !word.issued(admitted) {
                return Settled::Lost;
            }
            let row = word.bad() + 1;
            let (step, window) = if mark.is_good() {
                (Step { next: word.bad_less(u32::MAX), reason: None }, Window::default())
            } else if row >= ground.options().criterion.number() {
                (self.tripped(word, TripReason::Consecutive, hint, ground), in_a_row(row))
            } else {
                (Step { next: word.bad_more(), reason: None }, Window::default())
            };
            if step.next == word || self.commit(&mut word, step, window, ground) {
                break;
            }
        }
        if word.issued(admitted) && word.looks() {
            self.count_outcome(word, admitted, ground);
        }
        Settled::Counted
    }

    /// Counts outcomes since it was closed, until there are as many as a row has: closed for a full window.
    fn count_outcome(&self, word: Word, admitted: Word, ground: &impl Ground) {
        let (epoch, window) = (Epoch::new(admitted.generation()), self.calls());
        let row = ground.options().criterion.number();
        let counted = window.claim(epoch, row).is_some();
        if counted && window.tally(epoch, row).calls >= row.into() {
            self.stop_looking(word, admitted);
        }
    }
}
