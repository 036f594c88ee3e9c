//! The breaker's transitions: the word, the window, the lease of the probes.
//!
//! Invariant: the word changes only by compare-and-swap, and each transition raises the generation by one and is reported
//! once, by whoever won. What a step needs from outside (options, time, chance) comes through [`Ground`] before the
//! exchange; what it causes goes out after it.
//!
//! # Synchronisation
//! | field | written by | read by |
//! |---|---|---|
//! | `word` | every transition, every bad outcome, every probe; never by a good outcome of a clean window | every call, twice |
//! | `lease` | the admission of a probe | admissions in half-open |
//! | `streak` | whoever opened, or saw the window full | whoever opens |
//! | `window` | outcomes of a window that is not clean | evaluations |
//!
//! * All exchanges of the word are `AcqRel`: an evaluation that finds `look` set sees the options that were stored before it
//!   was set, and what a transition had read is behind it.
//! * A bad outcome is counted in the word *before* its mark is set, and taken back *after* a mark was cleared, so
//!   the word's bound is never below the number of marks. Hence the no-op of a clean window is exact: a word that is
//!   clean at the outcome says that all of the window was good, and good it stays.
//! * Of two recorders that set a mark, or one that does and one that completes `min_calls`, the later one in the order of
//!   the window's place sees both (`CountWindow::sync`); one of them opens.

use super::decide::{Ruling, rule, trips};
use super::options::BreakerOptions;
use super::word::{Probes, Word};
use crate::cell::window::{CountWindow, Epoch, Mark, Tally};
use crate::contract::{State, TripReason, Window};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::time::Nanos;
use core::time::Duration;
use crossbeam_utils::CachePadded;

/// What a breaker stands on.
pub(super) trait Ground {
    /// The options as they are now.
    fn options(&self) -> BreakerOptions;
    /// A reading of the fine or the coarse clock.
    fn now(&self, fine: bool) -> Nanos;
    /// A transition has happened.
    fn transition(&self, transition: Transition);
}

/// A transition that has happened.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Transition {
    pub(super) from: State,
    pub(super) to: State,
    /// Of the new state.
    pub(super) generation: u32,
    pub(super) reason: TripReason,
    pub(super) window: Window,
}

/// What became of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(super) enum Settled {
    Counted,
    /// It was admitted by a state that is over; nothing changed.
    Lost,
}

/// What the caller knows of its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// It succeeded or failed, fast or slowly.
    Vote(Mark),
    /// Ignored or abandoned.
    NoVote,
}

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

/// The state of a breaker. `W` words of window; models use few.
pub(super) struct Machine<const W: usize> {
    pub(super) word: AtomicU64,
    lease: AtomicU64,
    /// Openings without a full window between them.
    streak: AtomicU32,
    /// Separates those who count outcomes from those who only read the word.
    window: CachePadded<CountWindow<W>>,
}

impl<const W: usize> Machine<W> {
    #[cfg(not(resil_loom))]
    pub(super) const fn new() -> Self {
        Self {
            // The first generation is 1: an untouched window is of an earlier one.
            word: AtomicU64::new(Word::closed(1).0),
            lease: AtomicU64::new(0),
            streak: AtomicU32::new(0),
            window: CachePadded::new(CountWindow::new()),
        }
    }

    #[cfg(resil_loom)]
    pub(super) fn new() -> Self {
        Self {
            word: AtomicU64::new(Word::closed(1).0),
            lease: AtomicU64::new(0),
            streak: AtomicU32::new(0),
            window: CachePadded::new(CountWindow::new()),
        }
    }

    pub(super) fn load(&self) -> Word {
        Word(self.word.load(Ordering::Acquire))
    }

    /// The word as a call sees it on its way in.
    #[inline]
    pub(super) fn glance(&self) -> Word {
        // ORDERING: Relaxed, a closed word admits by itself; every other goes through `admit`, which loads anew.
        Word(self.word.load(Ordering::Relaxed))
    }

    /// Whether a good outcome of a call admitted at `admitted` changes nothing.
    #[inline]
    pub(super) fn still_clean(&self, admitted: Word) -> bool {
        // ORDERING: Relaxed, the decision rests on this word alone; a thread that knows of an earlier outcome also sees
        // the word that it left, by coherence.
        Word(self.word.load(Ordering::Relaxed)).still_clean(admitted)
    }

    /// Replaces `seen`; on failure `seen` is what is there now.
    fn exchange(&self, seen: &mut Word, next: Word) -> bool {
        match self.word.compare_exchange(seen.0, next.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(now) => {
                *seen = Word(now);
                false
            }
        }
    }

    /// Replaces `word` and, if it is another state, reports it. On failure `word` is what is there now.
    fn commit(&self, word: &mut Word, step: Step, window: Window, ground: &impl Ground) -> bool {
        let from = *word;
        if !self.exchange(word, step.next) {
            return false;
        }
        *word = step.next;
        let Some(reason) = step.reason else { return true };
        if step.next.state() == State::Open && reason != TripReason::Manual {
            // ORDERING: Relaxed, an opinion about the next wait; whoever opens next comes after this period.
            self.streak.fetch_add(1, Ordering::Relaxed);
        }
        let (from, to) = (from.state(), step.next.state());
        ground.transition(Transition { from, to, generation: word.generation(), reason, window });
        true
    }

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

    /// Takes in the outcome of a call that was admitted under `admitted`.
    pub(super) fn settle(
        &self,
        admitted: Word,
        outcome: Outcome,
        hint: Option<Duration>,
        ground: &impl Ground,
    ) -> Settled {
        match (admitted.state(), outcome) {
            (State::HalfOpen, _) => self.vote(admitted, outcome, hint, ground),
            (State::Closed | State::ObserveOnly, Outcome::Vote(mark)) => {
                self.record(admitted, mark, hint, ground)
            }
            _ if self.load().issued(admitted) => Settled::Counted,
            _ => Settled::Lost,
        }
    }

    /// A probe's outcome.
    fn vote(
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
                    probes.failed += u32::from(mark.failed());
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
        let generation = word.next_generation();
        match rule(probes, &ground.options()) {
            Ruling::Wait => Step { next: word.with_probes(probes), reason: None },
            Ruling::Close => {
                Step { next: Word::closed(generation), reason: Some(TripReason::Recovered) }
            }
            Ruling::Open(reason) => {
                Step { next: self.open(generation, hint, ground), reason: Some(reason) }
            }
        }
    }

    /// An open word whose wait begins now.
    fn open(&self, generation: u32, hint: Option<Duration>, ground: &impl Ground) -> Word {
        let options = ground.options();
        let fine = options.needs_fine_clock();
        let wait = options.open_wait(self.streak.load(Ordering::Relaxed), hint);
        Word::open(generation, end_of(ground.now(fine), wait), fine)
    }

    /// An outcome of a state that counts.
    fn record(
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

    /// Changes the word as `change` says while it is of `admitted`'s period; false if that is over.
    fn amend(&self, word: &mut Word, admitted: Word, change: impl Fn(Word) -> Word) -> bool {
        while word.issued(admitted) {
            let next = change(*word);
            if self.exchange(word, next) {
                *word = next;
                return true;
            }
        }
        false
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
    pub(super) fn revise(&self) {
        let mut word = self.load();
        while word.counts() {
            let next = word.revised();
            if self.exchange(&mut word, next) {
                return;
            }
        }
    }

    /// Goes to `state`, whatever the present one. `Closed` and `ObserveOnly` start with an empty window.
    pub(super) fn go(&self, state: State, ground: &impl Ground) {
        let mut word = self.load();
        while word.state() != state && !self.leave_for(state, &mut word, ground) {}
    }

    /// As new: closed, an empty window, the shortest wait.
    pub(super) fn reset(&self, ground: &impl Ground) {
        let mut word = self.load();
        while !self.leave_for(State::Closed, &mut word, ground) {}
        // ORDERING: Relaxed, as where it is raised.
        self.streak.store(0, Ordering::Relaxed);
    }

    fn leave_for(&self, state: State, word: &mut Word, ground: &impl Ground) -> bool {
        let generation = word.next_generation();
        let next = match state {
            State::ForcedOpen => Word::forced_open(generation),
            State::Disabled => Word::disabled(generation),
            State::ObserveOnly => Word::observe_only(generation),
            _ => Word::closed(generation),
        };
        let window = self.counted(*word, &ground.options());
        self.commit(word, Step { next, reason: Some(TripReason::Manual) }, window, ground)
    }

    /// What the state of `word` has counted.
    pub(super) fn counted(&self, word: Word, options: &BreakerOptions) -> Window {
        if word.counts() {
            self.window.tally(Epoch::new(word.generation()), options.window).into()
        } else if word.state() == State::HalfOpen {
            window_of(word.probes())
        } else {
            Window::default()
        }
    }
}

/// The next word, and why it is another state; `None` if it is not.
struct Step {
    next: Word,
    reason: Option<TripReason>,
}

/// The end of a span that begins now, in milliseconds, rounded up: it never comes early.
fn end_of(now: Nanos, span: Nanos) -> u64 {
    now.plus(span).ceil_ms()
}

fn window_of(probes: Probes) -> Window {
    Window { calls: probes.done, failures: probes.failed, slow: probes.slow }
}

impl From<Tally> for Window {
    fn from(tally: Tally) -> Self {
        Self { calls: tally.calls, failures: tally.failures, slow: tally.slow }
    }
}
