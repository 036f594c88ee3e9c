//! When a call began, in a word, or how slow it was in the end.
//!
//! Invariant: a reading that slowness is not counted from makes no call slow. What was decided stays.
//!
//! Pure.

use crate::time::Nanos;

/// The clock as it was read when the call began, and whether the breaker counts from there how slow it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Start(u64);

/// Slowness does not count. A clock that gets there has run for 292 years.
const ASIDE: u64 = 1 << 63;

impl Start {
    /// Nobody has read the clock.
    pub(super) const UNKNOWN: Self = Self(u64::MAX);
    /// The call is over, and was slow.
    const SLOW: Self = Self(u64::MAX - 1);
    /// The call is over, and was not slow.
    const FAST: Self = Self(u64::MAX - 2);

    /// Slowness counts from here.
    #[inline]
    pub(super) const fn at(reading: Nanos) -> Self {
        Self(reading.0)
    }

    /// Another gate has read the clock, and the breaker does not ask.
    #[inline]
    pub(super) fn aside(reading: Option<Nanos>) -> Self {
        reading.map_or(Self::UNKNOWN, |reading| Self(reading.0 | ASIDE))
    }

    /// The reading, whoever asked for it, while the call lasts.
    #[inline]
    pub(super) fn reading(self) -> Option<Nanos> {
        (self.0 < Self::FAST.0).then_some(Nanos(self.0 & !ASIDE))
    }

    /// The call is over. Whether it was slow is decided, if it counts.
    #[inline]
    pub(super) fn over(self, end: Nanos, slow_call: impl FnOnce() -> Nanos) -> Self {
        match self.counts_from() {
            Some(begun) if end.since(begun) > slow_call() => Self::SLOW,
            Some(_) => Self::FAST,
            None => self,
        }
    }

    /// Whether the call was slow, or is, by the clock as it is now.
    #[inline]
    pub(super) fn is_slow(self, now: impl FnOnce() -> Nanos, slow_call: Nanos) -> bool {
        self == Self::SLOW || self.counts_from().is_some_and(|begun| now().since(begun) > slow_call)
    }

    /// From where slowness counts, if it does.
    #[inline]
    pub(super) const fn counts_from(self) -> Option<Nanos> {
        if self.0 & ASIDE == 0 { Some(Nanos(self.0)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_kept_and_counts_only_where_slowness_does() {
        let reading = Nanos::from_ms(7);
        let parts = |start: Start| (start.reading(), start.counts_from());
        assert_eq!(parts(Start::at(reading)), (Some(reading), Some(reading)));
        assert_eq!(parts(Start::aside(Some(reading))), (Some(reading), None));
        assert_eq!(parts(Start::aside(None)), (None, None));
        assert_eq!(parts(Start::at(Nanos::MAX)), (None, None), "the end of time");
    }

    #[test]
    fn b11_what_is_decided_when_the_call_is_over_is_not_asked_again() {
        let (begun, slow_call) = (Nanos::from_ms(7), Nanos::from_ms(3));
        let start = Start::at(begun);
        assert!(!start.is_slow(|| Nanos::from_ms(10), slow_call));
        assert!(start.is_slow(|| Nanos::from_ms(11), slow_call), "longer than");
        for (end, slow) in [(10, false), (11, true), (0, false)] {
            let over = start.over(Nanos::from_ms(end), || slow_call);
            assert_eq!(over.is_slow(|| unreachable!("the clock"), slow_call), slow);
            assert_eq!((over.reading(), over.counts_from()), (None, None));
        }
        for start in [Start::UNKNOWN, Start::aside(Some(begun))] {
            assert_eq!(start.over(Nanos::from_ms(99), || unreachable!("what is slow")), start);
        }
    }
}
