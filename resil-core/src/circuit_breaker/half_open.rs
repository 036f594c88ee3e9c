//! From open to half-open and out of it: who may probe, and what the probes decide.
//!
//! Invariant: at most `probes` calls of a half-open period are admitted and not given back, by one exchange each; the exchange that
//! takes in the deciding outcome is the transition. A probe that does not return ends the period when its lease is over.

use super::criterion::Kind;
use super::decide::{Ruling, rule};
use super::machine::{Ground, Machine, Outcome, Settled, Step, end_of, window_of};
use super::word::{Probes, Word};
use crate::contract::{State, TripReason, Window};
use crate::sync::Ordering;
use crate::time::Nanos;
use core::time::Duration;

/// The end of a half-open period in which a probe is out: `[generation 24 | fine 1 | milliseconds 39]`.
#[derive(Clone, Copy)]
struct Lease {
    generation: u32,
    fine: bool,
    end_ms: u64,
}

impl Lease {
    const END: u64 = (1 << 39) - 1;

    const fn pack(self) -> u64 {
        let end = if self.end_ms > Self::END { Self::END } else { self.end_ms };
        (self.generation as u64) << 40 | (self.fine as u64) << 39 | end
    }

    #[allow(clippy::cast_possible_truncation)] // 24 bits
    const fn unpack(word: u64) -> Self {
        Self {
            generation: (word >> 40) as u32,
            fine: word >> 39 & 1 != 0,
            end_ms: word & Self::END,
        }
    }
}

impl<const W: usize> Machine<W> {
    /// Admits a call, and says under which word; or refuses it, with the rest of the wait if it is known.
    pub(super) fn admit(&self, ground: &impl Ground) -> Result<Word, Option<Nanos>> {
        let mut word = self.load();
        loop {
            match word.state() {
                State::Closed | State::ObserveOnly | State::Disabled => return Ok(word),
                State::ForcedOpen => return Err(None),
                State::Open => {
                    let (end, fine) = word.end();
                    let (end, now) = (Nanos::from_ms(end), ground.now(fine));
                    if now < end {
                        return Err(Some(end.since(now)));
                    }
                    let first = Probes { issued: 1, ..Probes::default() };
                    let next = Word::half_open(word.next_generation(), first);
                    let step = Step { next, reason: Some(TripReason::WaitOver) };
                    if self.commit(&mut word, step, Window::default(), ground) {
                        self.lend(word, ground);
                        return Ok(word);
                    }
                }
                State::HalfOpen => {
                    let (probes, options) = (word.probes(), ground.options());
                    if let Some(step) = self.expired(word, probes, ground) {
                        self.commit(&mut word, step, window_of(probes), ground);
                    } else if probes.issued < options.probes {
                        let issued = Probes { issued: probes.issued + 1, ..probes };
                        let step = Step { next: word.with_probes(issued), reason: None };
                        if self.commit(&mut word, step, Window::default(), ground) {
                            self.lend(word, ground);
                            return Ok(word);
                        }
                    } else if probes.out() == 0 {
                        // Fewer probes are asked for than before, and those are in.
                        let step = self.ruled(word, probes, None, ground);
                        self.commit(&mut word, step, window_of(probes), ground);
                    } else {
                        return Err(None);
                    }
                }
            }
        }
    }

    /// The way out of half-open if a probe has been out for too long.
    fn expired(&self, word: Word, probes: Probes, ground: &impl Ground) -> Option<Step> {
        let lease = Lease::unpack(self.lease.load(Ordering::Acquire));
        let held = probes.out() > 0 && lease.generation == word.generation();
        if !held || ground.now(lease.fine) < Nanos::from_ms(lease.end_ms) {
            return None;
        }
        // The wait begins where the lease ended, also if nobody came to see it.
        let wait = ground.options().open_wait(self.streak.load(Ordering::Relaxed), None);
        let end = lease.end_ms.saturating_add(wait.ceil_ms());
        let next = Word::open(word.next_generation(), end, lease.fine);
        Some(Step { next, reason: Some(TripReason::ProbeTimeout) })
    }

    /// A probe goes out under `word`: its time runs from now.
    fn lend(&self, word: Word, ground: &impl Ground) {
        let options = ground.options();
        let fine = options.needs_fine_clock();
        let end_ms = end_of(ground.now(fine), options.probe_timeout);
        let lease = Lease { generation: word.generation(), fine, end_ms };
        let mut seen = self.lease.load(Ordering::Acquire);
        loop {
            let held = Lease::unpack(seen);
            let newer = held.generation == lease.generation && held.end_ms >= end_ms;
            // Who was overtaken by the end of its own half-open period has nothing to prolong.
            if newer || self.load().generation() != lease.generation {
                return;
            }
            match self.lease.compare_exchange(
                seen,
                lease.pack(),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// A probe's outcome.
    pub(super) fn vote(
        &self,
        admitted: Word,
        outcome: Outcome,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Settled {
        let mut word = self.load();
        while word.issued(admitted) {
            let mut probes = word.probes();
            let step = match outcome {
                Outcome::NoVote => {
                    probes.issued -= 1;
                    Step { next: word.with_probes(probes), reason: None }
                }
                Outcome::Vote(mark) => {
                    probes.done += 1;
                    let slow_is_failed = self.kind == Kind::Consecutive && mark.slow();
                    probes.failed += u32::from(mark.failed() || slow_is_failed);
                    probes.slow += u32::from(mark.slow());
                    self.ruled(word, probes, hint, ground)
                }
            };
            if self.commit(&mut word, step, window_of(probes), ground) {
                return Settled::Counted;
            }
        }
        Settled::Lost
    }

    /// What a half-open word becomes when its probes stand at `probes`.
    fn ruled(
        &self,
        word: Word,
        probes: Probes,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Step {
        let (generation, options) = (word.next_generation(), ground.options());
        match rule(probes, &options) {
            Ruling::Wait => Step { next: word.with_probes(probes), reason: None },
            Ruling::Close => {
                let next = Word::closed(generation, options.counts_slow());
                Step { next, reason: Some(TripReason::Recovered) }
            }
            Ruling::Open(reason) => {
                Step { next: self.open(generation, hint, ground), reason: Some(reason) }
            }
        }
    }

    /// An open word whose wait begins now.
    pub(super) fn open(
        &self,
        generation: u32,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Word {
        let options = ground.options();
        let fine = options.needs_fine_clock();
        let wait = options.open_wait(self.streak.load(Ordering::Relaxed), hint);
        Word::open(generation, end_of(ground.now(fine), wait), fine)
    }
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_lease_survives_packing_and_a_later_end_saturates() {
        for generation in [0, 1, 0x00ff_ffff] {
            for fine in [false, true] {
                for (end_ms, kept) in
                    [(0, 0), (10_000, 10_000), (Lease::END, Lease::END), (u64::MAX, Lease::END)]
                {
                    let lease = Lease::unpack(Lease { generation, fine, end_ms }.pack());
                    assert_eq!(
                        (lease.generation, lease.fine, lease.end_ms),
                        (generation, fine, kept)
                    );
                }
            }
        }
    }
}
