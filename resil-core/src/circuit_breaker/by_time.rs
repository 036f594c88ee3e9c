//! By the calls of the last span of time: what an outcome does to the window, and the window to the state.
//!
//! Invariant: the word of a breaker that goes by time always says `look`, so that no success is skipped; whether it has to look
//! is said by the window's newest bucket.

use super::decide::trips;
use super::machine::{Ground, Machine, Settled};
use super::word::Word;
use crate::cell::window::{Epoch, Mark};
use core::time::Duration;

impl<const W: usize> Machine<W> {
    /// An outcome goes into the window of time.
    #[inline]
    pub(super) fn record_in_time(
        &self,
        admitted: Word,
        mark: Mark,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Settled {
        if !self.load().issued(admitted) {
            return Settled::Lost;
        }
        let (epoch, now_ms) = (Epoch::new(admitted.generation()), ground.now(false).floor_ms());
        let window = self.time(ground);
        if mark.is_good() && window.only_adds(epoch, now_ms) {
            window.add_success(ground.owner(), epoch);
            return Settled::Counted;
        }
        match self.look_at_time(admitted, now_ms, mark, hint, ground) {
            Some(()) => Settled::Counted,
            None => Settled::Lost,
        }
    }

    /// Counts an outcome, looks at the window, and opens if it is bad enough; `None` if the period of `admitted` is over.
    #[inline(never)]
    fn look_at_time(
        &self,
        admitted: Word,
        now_ms: u64,
        mark: Mark,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Option<()> {
        let (epoch, window) = (Epoch::new(admitted.generation()), self.time(ground));
        let begun = window.enter(epoch, now_ms)?;
        window.add(ground.owner(), epoch, mark)?;

        // The bucket comes first: what it says of the options is then true of those read after it.
        let looked_at = window.begin_look();
        let options = ground.options();
        let held = self.time(ground).held(epoch, 0);
        if let Some(reason) = trips(held.tally, &options) {
            self.trip(admitted, reason, held.tally.into(), hint, ground);
            return Some(());
        }
        if held.tally.calls >= options.min_calls.into() {
            window.stop_looking(looked_at);
        }
        if begun && held.full {
            self.calm_down();
        }
        Some(())
    }
}
