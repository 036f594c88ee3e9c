//! While closed, or observing only: what an outcome does to what is counted, and that to the state.
//!
//! Invariant: an evaluation follows every outcome that can have raised a rate: a bad one, and each while something says `look`.

use super::criterion::Kind;
use super::machine::{Ground, Machine, Settled, Step};
use super::word::Word;
use crate::cell::window::{Epoch, Mark, Tally};
use crate::contract::{State, TripReason, Window};
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
        match self.kind {
            Kind::Calls => self.record_call(admitted, mark, hint, ground),
            Kind::Time => self.record_in_time(admitted, mark, hint, ground),
            Kind::Consecutive => self.record_in_a_row(admitted, mark, hint, ground),
        }
    }

    /// What a word that counts has counted.
    pub(super) fn held(&self, word: Word, ground: &impl Ground) -> Window {
        let epoch = Epoch::new(word.generation());
        match self.kind {
            Kind::Calls => {
                let size = ground.options().criterion.number();
                self.calls().tally(epoch, size).into()
            }
            Kind::Time => {
                let now = ground.now(false).floor_ms();
                self.time(ground).held(epoch, now).tally.into()
            }
            Kind::Consecutive => in_a_row(word.bad()),
        }
    }

    /// What becomes of a word whose window is bad enough.
    pub(super) fn tripped(
        &self,
        word: Word,
        reason: TripReason,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Step {
        let generation = word.next_generation();
        let next = match word.state() {
            State::ObserveOnly => Word::observe_only(generation),
            _ => self.open(generation, hint, ground),
        };
        Step { next, reason: Some(reason) }
    }

    /// Opens the period of `admitted`, unless that is over.
    pub(super) fn trip(
        &self,
        admitted: Word,
        reason: TripReason,
        window: Window,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) {
        let mut word = self.load();
        while word.issued(admitted) {
            let step = self.tripped(word, reason, hint, ground);
            if self.commit(&mut word, step, window, ground) {
                return;
            }
        }
    }

    /// The window is full and was evaluated under the options that `looked_at` stands for.
    pub(super) fn stop_looking(&self, looked_at: Word, admitted: Word) {
        let mut word = looked_at;
        while word.issued(admitted) && word.looks() && word.revision() == looked_at.revision() {
            let next = word.looked();
            if self.exchange(&mut word, next) {
                self.calm_down();
                return;
            }
        }
    }

    /// Closed for a full window: the next wait starts small again.
    pub(super) fn calm_down(&self) {
        // ORDERING: Relaxed, as where it is raised.
        self.streak.store(0, Ordering::Relaxed);
    }

    /// The options have changed: the next outcome looks at what was counted.
    pub(super) fn revise(&self, ground: &impl Ground) {
        let mut word = self.load();
        loop {
            let timed = ground.options().counts_slow();
            // A word that does not count stays as it is; whoever closes next comes after this exchange, and sees the options.
            let next = if word.counts() { word.revised(timed) } else { word };
            if self.exchange(&mut word, next) {
                break;
            }
        }
        if self.kind == Kind::Time {
            self.time(ground).revise();
        }
    }
}

/// What is told of calls in a row that failed or were slow.
pub(super) fn in_a_row(run: u32) -> Window {
    Window { calls: run, failures: run, slow: 0 }
}

impl From<Tally> for Window {
    fn from(tally: Tally) -> Self {
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            calls: narrow(tally.calls),
            failures: narrow(tally.failures),
            slow: narrow(tally.slow),
        }
    }
}
