//! The breaker's state and how it changes: what `closed` and `half_open` build on.
//!
//! Invariant: the word changes only by compare-and-swap, and each transition raises the generation by one and is reported
//! once, by whoever won. What a step needs from outside (options, time, chance) comes through [`Ground`] before the
//! exchange; what it causes goes out after it.
//!
//! # Synchronisation
//! | field | written by | read by |
//! |---|---|---|
//! | `word` | every transition, every bad outcome, every probe, every change of options; never by a good outcome of a clean window | every call, twice |
//! | `lease` | the admission of a probe | admissions in half-open |
//! | `streak` | whoever opened, or saw that it was closed for a full window | whoever opens |
//! | `ring` | outcomes of a window of calls that is not clean; outcomes that begin a bucket, fail, or look at a window of time | evaluations; every success of a window of time |
//!
//! * All exchanges of the word are `AcqRel`: an evaluation that finds `look` set sees the options that were stored before it
//!   was set, and what a transition had read is behind it.
//! * A bad outcome is counted in the word *before* its mark is set, and taken back *after* a mark was cleared, so
//!   the word's bound is never below the number of marks. Hence the no-op of a clean window is exact: a word that is
//!   clean at the outcome says that all of the window was good, and good it stays.
//! * `slow_call` and the word's `timed` agree in the end: who changes the option touches the word afterwards, in every state, and
//!   who closes looks at the option once more after its exchange. Of the two read-modify-writes of the word, the second sees
//!   what was stored before the first.
//! * Of two recorders that set a mark, or one that does and one that completes `min_calls`, the later one in the order of
//!   the window's place (of time: of its word of failures) sees both; one of them opens.

use super::criterion::Kind;
use super::options::BreakerOptions;
use super::word::{Probes, Word};
use crate::cell::counters::Column;
use crate::cell::window::{CountWindow, Mark, Ring, TimeWindow};
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
    /// A word of each stripe, for the successes in a window of time.
    fn successes(&self) -> Column<'_, 8>;
    /// The caller's stripe.
    fn owner(&self) -> usize;
    /// How long the buckets of a window of time are now.
    fn bucket_ms(&self) -> u64;
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

/// The state of a breaker. `W` words of window; models use few.
pub(super) struct Machine<const W: usize> {
    pub(super) word: AtomicU64,
    pub(super) lease: AtomicU64,
    /// Openings without a full window between them.
    pub(super) streak: AtomicU32,
    /// What a closed word goes by.
    pub(super) kind: Kind,
    /// Separates those who count outcomes from those who only read the word.
    pub(super) ring: CachePadded<Ring<W>>,
}

impl<const W: usize> Machine<W> {
    #[cfg(not(resil_loom))]
    pub(super) const fn new(kind: Kind, timed: bool) -> Self {
        Self {
            // The first generation is 1: an untouched window is of an earlier one.
            word: AtomicU64::new(Word::closed(1, timed).0),
            lease: AtomicU64::new(0),
            streak: AtomicU32::new(0),
            kind,
            ring: CachePadded::new(Ring::new()),
        }
    }

    #[cfg(resil_loom)]
    pub(super) fn new(kind: Kind, timed: bool) -> Self {
        Self {
            word: AtomicU64::new(Word::closed(1, timed).0),
            lease: AtomicU64::new(0),
            streak: AtomicU32::new(0),
            kind,
            ring: CachePadded::new(Ring::new()),
        }
    }

    /// The window of a breaker that counts calls.
    pub(super) fn calls(&self) -> CountWindow<'_, W> {
        CountWindow(&self.ring)
    }

    /// The window of a breaker that goes by time.
    pub(super) fn time<'a>(&'a self, ground: &'a impl Ground) -> TimeWindow<'a, 8, W> {
        let (successes, bucket_ms) = (ground.successes(), ground.bucket_ms());
        TimeWindow { ring: &self.ring, successes, bucket_ms }
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
    pub(super) fn exchange(&self, seen: &mut Word, next: Word) -> bool {
        match self.word.compare_exchange(seen.0, next.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(now) => {
                *seen = Word(now);
                false
            }
        }
    }

    /// Replaces `word` and, if it is another state, reports it. On failure `word` is what is there now.
    pub(super) fn commit(
        &self,
        word: &mut Word,
        step: Step,
        window: Window,
        ground: &impl Ground,
    ) -> bool {
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
        if to == State::Closed && ground.options().counts_slow() != word.is_timed() {
            // The option changed between its reading and the exchange.
            self.revise(ground);
        }
        true
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

    /// Changes the word as `change` says while it is of `admitted`'s period; false if that is over.
    pub(super) fn amend(
        &self,
        word: &mut Word,
        admitted: Word,
        change: impl Fn(Word) -> Word,
    ) -> bool {
        while word.issued(admitted) {
            let next = change(*word);
            if self.exchange(word, next) {
                *word = next;
                return true;
            }
        }
        false
    }

    /// Goes to `state`, whatever the present one. `Closed` and `ObserveOnly` start with an empty window.
    pub(super) fn go(&self, state: State, ground: &impl Ground) {
        let mut word = self.load();
        while word.state() != state && !self.leave_for(state, &mut word, ground) {}
    }

    /// Ends `Disabled`, if that is the present state: back to what had been ordered before, or closed with an empty window.
    pub(super) fn enable(&self, ground: &impl Ground) {
        let mut word = self.load();
        while word.state() == State::Disabled && !self.leave_for(word.ordered(), &mut word, ground)
        {
        }
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
            State::Disabled => Word::disabled(generation, *word),
            State::ObserveOnly => Word::observe_only(generation),
            _ => Word::closed(generation, ground.options().counts_slow()),
        };
        let window = self.counted(*word, ground);
        self.commit(word, Step { next, reason: Some(TripReason::Manual) }, window, ground)
    }

    /// What the state of `word` has counted.
    pub(super) fn counted(&self, word: Word, ground: &impl Ground) -> Window {
        if word.counts() {
            self.held(word, ground)
        } else if word.state() == State::HalfOpen {
            window_of(word.probes())
        } else {
            Window::default()
        }
    }
}

/// The next word, and why it is another state; `None` if it is not.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) next: Word,
    pub(super) reason: Option<TripReason>,
}

/// The end of a span that begins now, in milliseconds, rounded up: it never comes early.
pub(super) fn end_of(now: Nanos, span: Nanos) -> u64 {
    now.plus(span).ceil_ms()
}

/// The probes that are in.
pub(super) fn window_of(probes: Probes) -> Window {
    Window { calls: probes.done, failures: probes.failed, slow: probes.slow }
}
