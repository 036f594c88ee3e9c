//! The breaker's state in one word.
//!
//! ```text
//!  63                 40 39                        3 2   0
//! ┌─────────────────────┬──────────────────────────┬─────┐
//! │ generation (24)     │ payload (37)             │state│
//! └─────────────────────┴──────────────────────────┴─────┘
//!  closed, observe only:  revision (16) · look (1) · timed (1) · bad (19)
//!  half-open:             slow (9) · failed (9) · done (9) · issued (9)
//!  open:                  end, in milliseconds since the clock's epoch (37)
//!  disabled:              the state that `enable` goes back to (3)
//! ```
//!
//! * *generation* counts transitions, modulo 16.7 million. A permit carries the one it was issued under.
//! * *bad* is at least the number of bad marks in a window of calls: raised before one is set, lowered after one is cleared. Of a
//!   breaker that goes by failures in a row it is their number; by time, nothing.
//! * *timed* says that slowness counts, so that a call begins with a reading of the clock.
//! * *look* says that a good outcome may not be skipped: the window is not full yet, or an option has changed; by time, always.
//! * *revision* changes with the options, so that nobody takes `look` away who has not seen them.
//! * *issued* probes are out or done; at most 511.
//! * *end*: 37 bits of milliseconds are 4.3 years of process time; a later end saturates.
//!
//! Invariant: closed, nothing bad, untimed, no look is a word of which a good outcome changes nothing, however long it took.
//!
//! Pure: no atomics, no clock.

use crate::contract::State;

/// A snapshot of the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word(pub(super) u64);

/// The probes of one half-open period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Probes {
    pub(super) issued: u32,
    pub(super) done: u32,
    pub(super) failed: u32,
    pub(super) slow: u32,
}

impl Probes {
    /// Admitted and not heard of again.
    pub(super) const fn out(self) -> u32 {
        self.issued - self.done
    }
}

/// The largest number of probes that the word can count.
pub(super) const MOST_PROBES: u32 = (1 << PROBE_BITS) - 1;

const CLOSED: u64 = 0;
const OBSERVE_ONLY: u64 = 1;
const DISABLED: u64 = 2;
const HALF_OPEN: u64 = 3;
const OPEN: u64 = 4;
/// Open, with its end on the fine clock.
const OPEN_FINE: u64 = 5;
const FORCED_OPEN: u64 = 6;

const STATE: u64 = 0b111;
const PAYLOAD_SHIFT: u32 = 3;
const PAYLOAD: u64 = (1 << 37) - 1;
const GENERATION_SHIFT: u32 = 40;
const GENERATION: u64 = (1 << 24) - 1;

const BAD: u64 = (1 << 19) - 1;
const TIMED: u64 = 1 << 19;
const LOOK: u64 = 1 << 20;
const REVISION_SHIFT: u32 = 21;
const REVISION: u64 = 0xffff;

const PROBE_BITS: u32 = 9;
const PROBE: u64 = MOST_PROBES as u64;

/// What keeps a good outcome from being skipped: the low 24 bits, which a test instruction takes as they are.
const UNCLEAN: u64 = STATE | (BAD | TIMED | LOOK) << PAYLOAD_SHIFT;

impl Word {
    const fn new(state: u64, generation: u32, payload: u64) -> Self {
        Self(
            payload << PAYLOAD_SHIFT | (generation as u64 & GENERATION) << GENERATION_SHIFT | state,
        )
    }

    /// Closed, with an empty window.
    pub(super) const fn closed(generation: u32, timed: bool) -> Self {
        Self::new(CLOSED, generation, if timed { LOOK | TIMED } else { LOOK })
    }

    /// Observe only, with an empty window.
    pub(super) const fn observe_only(generation: u32) -> Self {
        Self::new(OBSERVE_ONLY, generation, LOOK)
    }

    /// Disabled, from `before`: what somebody had ordered is kept for when it is enabled again, what the breaker had
    /// decided itself is not.
    pub(super) const fn disabled(generation: u32, before: Self) -> Self {
        let ordered = match before.0 & STATE {
            ordered @ (FORCED_OPEN | OBSERVE_ONLY) => ordered,
            _ => CLOSED,
        };
        Self::new(DISABLED, generation, ordered)
    }

    /// What a disabled word goes back to.
    pub(super) const fn ordered(self) -> State {
        match self.payload() {
            FORCED_OPEN => State::ForcedOpen,
            OBSERVE_ONLY => State::ObserveOnly,
            _ => State::Closed,
        }
    }

    pub(super) const fn forced_open(generation: u32) -> Self {
        Self::new(FORCED_OPEN, generation, 0)
    }

    /// Open until `end_ms` of the fine or the coarse clock.
    pub(super) const fn open(generation: u32, end_ms: u64, fine: bool) -> Self {
        let end = if end_ms > PAYLOAD { PAYLOAD } else { end_ms };
        Self::new(if fine { OPEN_FINE } else { OPEN }, generation, end)
    }

    pub(super) const fn half_open(generation: u32, probes: Probes) -> Self {
        let payload = probes.issued as u64
            | (probes.done as u64) << PROBE_BITS
            | (probes.failed as u64) << (2 * PROBE_BITS)
            | (probes.slow as u64) << (3 * PROBE_BITS);
        Self::new(HALF_OPEN, generation, payload)
    }

    pub(super) const fn state(self) -> State {
        match self.0 & STATE {
            CLOSED => State::Closed,
            OBSERVE_ONLY => State::ObserveOnly,
            DISABLED => State::Disabled,
            HALF_OPEN => State::HalfOpen,
            OPEN | OPEN_FINE => State::Open,
            _ => State::ForcedOpen,
        }
    }

    /// Whether a call may begin as it is: closed, and nobody asks how long it takes.
    #[inline]
    pub(super) const fn waves_through(self) -> bool {
        self.0 & (STATE | TIMED << PAYLOAD_SHIFT) == 0
    }

    /// Whether outcomes go into the window.
    pub(super) const fn counts(self) -> bool {
        matches!(self.0 & STATE, CLOSED | OBSERVE_ONLY)
    }

    #[allow(clippy::cast_possible_truncation)] // 24 bits
    pub(super) const fn generation(self) -> u32 {
        (self.0 >> GENERATION_SHIFT & GENERATION) as u32
    }

    #[allow(clippy::cast_possible_truncation)] // 24 bits
    pub(super) const fn next_generation(self) -> u32 {
        self.generation().wrapping_add(1) & GENERATION as u32
    }

    /// Whether `self` is the state that issued `permit`'s word.
    pub(super) const fn issued(self, permit: Self) -> bool {
        (self.0 ^ permit.0) & (GENERATION << GENERATION_SHIFT | STATE) == 0
    }

    /// Whether nothing has happened between `admitted` and now that a good outcome could change.
    #[inline]
    pub(super) const fn still_clean(self, admitted: Self) -> bool {
        self.0 == admitted.0 && admitted.0 & UNCLEAN == 0
    }

    /// Whether a good outcome changes nothing. Of a word that counts.
    pub(super) const fn is_clean(self) -> bool {
        self.0 & (BAD | LOOK) << PAYLOAD_SHIFT == 0
    }

    const fn payload(self) -> u64 {
        self.0 >> PAYLOAD_SHIFT & PAYLOAD
    }

    const fn with_payload(self, payload: u64) -> Self {
        Self(self.0 & !(PAYLOAD << PAYLOAD_SHIFT) | payload << PAYLOAD_SHIFT)
    }

    pub(super) const fn looks(self) -> bool {
        self.payload() & LOOK != 0
    }

    pub(super) const fn revision(self) -> u64 {
        self.payload() >> REVISION_SHIFT & REVISION
    }

    #[allow(clippy::cast_possible_truncation)] // 19 bits
    pub(super) const fn bad(self) -> u32 {
        (self.payload() & BAD) as u32
    }

    /// One more bad mark is about to be set.
    pub(super) const fn bad_more(self) -> Self {
        let payload = self.payload();
        if payload & BAD == BAD { self } else { self.with_payload(payload + 1) }
    }

    /// `cleared` bad marks are gone.
    pub(super) const fn bad_less(self, cleared: u32) -> Self {
        let payload = self.payload();
        let bad = (payload & BAD).saturating_sub(cleared as u64);
        self.with_payload(payload & !BAD | bad)
    }

    /// The window is full and was evaluated.
    pub(super) const fn looked(self) -> Self {
        self.with_payload(self.payload() & !LOOK)
    }

    /// The options have changed.
    pub(super) const fn revised(self, timed: bool) -> Self {
        let revision = (self.revision() + 1) & REVISION;
        let timed = if timed { TIMED } else { 0 };
        self.with_payload(self.payload() & BAD | timed | LOOK | revision << REVISION_SHIFT)
    }

    pub(super) const fn is_timed(self) -> bool {
        self.payload() & TIMED != 0
    }

    /// The end of an open word, and whether it is on the fine clock.
    pub(super) const fn end(self) -> (u64, bool) {
        (self.payload(), self.0 & STATE == OPEN_FINE)
    }

    #[allow(clippy::cast_possible_truncation)] // 9 bits each
    pub(super) const fn probes(self) -> Probes {
        let payload = self.payload();
        Probes {
            issued: (payload & PROBE) as u32,
            done: (payload >> PROBE_BITS & PROBE) as u32,
            failed: (payload >> (2 * PROBE_BITS) & PROBE) as u32,
            slow: (payload >> (3 * PROBE_BITS) & PROBE) as u32,
        }
    }

    /// The same half-open period with other probes.
    pub(super) const fn with_probes(self, probes: Probes) -> Self {
        Self::half_open(self.generation(), probes)
    }
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_generation_wraps_and_leaves_its_neighbours_alone() {
        let last = Word::closed(0x00ff_ffff, false);
        assert_eq!(last.next_generation(), 0);
        assert!(Word::open(last.generation(), u64::MAX, false).end().0 == PAYLOAD);
        assert_eq!(Word::open(last.generation(), u64::MAX, true).generation(), 0x00ff_ffff);
    }

    #[test]
    fn only_a_closed_full_window_without_anything_bad_is_clean() {
        let full = Word::closed(7, false).looked();
        assert!(full.still_clean(full));
        let unclean = [
            Word::closed(7, false),
            Word::closed(7, true).looked(),
            full.bad_more(),
            full.revised(false),
            full.revised(true),
            Word::observe_only(7).looked(),
            Word::disabled(7, full),
            Word::half_open(7, Probes::default()),
        ];
        for word in unclean {
            assert!(!word.still_clean(word), "{word:?}");
            assert!(!word.still_clean(full), "{word:?}");
        }
        assert!(!Word::closed(8, false).looked().still_clean(full), "another generation");
    }

    #[test]
    fn the_bound_never_wraps() {
        let full = Word::closed(1, false).looked();
        assert_eq!(full.bad_less(3), full);
        assert_eq!(full.bad_more().bad_more().bad_less(2), full);
        assert_eq!(full.with_payload(BAD).bad_more(), full.with_payload(BAD));
    }

    proptest! {
        #[test]
        fn probes_survive_packing(issued in 0..=MOST_PROBES, done in 0..=MOST_PROBES,
                                  failed in 0..=MOST_PROBES, slow in 0..=MOST_PROBES, generation in 0_u32..1 << 24) {
            let probes = Probes { issued, done, failed, slow };
            let word = Word::half_open(generation, probes);
            prop_assert_eq!((word.probes(), word.generation(), word.state()), (probes, generation, State::HalfOpen));
        }

        #[test]
        fn a_revision_keeps_what_was_counted(bad in 0_u32..50, revisions in 0_u32..70_000) {
            let mut word = Word::closed(3, false).looked();
            for _ in 0..bad { word = word.bad_more(); }
            for _ in 0..revisions { word = word.revised(false); }
            prop_assert_eq!(word.bad_less(bad), word.bad_less(u32::MAX));
            prop_assert_eq!(word.revision(), u64::from(revisions % 65_536));
            prop_assert_eq!((word.generation(), word.state()), (3, State::Closed));
        }
    }
}
