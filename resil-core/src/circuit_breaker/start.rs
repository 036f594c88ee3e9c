//! When a call began, in a word.
//!
//! Invariant: a reading that slowness is not counted from makes no call slow.
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

    /// The reading, whoever asked for it.
    #[inline]
    pub(super) fn reading(self) -> Option<Nanos> {
        (self != Self::UNKNOWN).then_some(Nanos(self.0 & !ASIDE))
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
}
