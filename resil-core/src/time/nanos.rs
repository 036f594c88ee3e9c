//! Nanoseconds since the clock's epoch, or between two readings.
//!
//! Invariant: arithmetic saturates. A difference is never negative, a sum never wraps, so that a reading which
//! seems older than it is (another core's counter, a manual clock set back) changes no decision for the worse.

use core::time::Duration;

/// A reading of the clock, or a span between two readings, in nanoseconds.
///
/// 64 bits hold 584 years; [`Nanos::MAX`] stands for "never".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Further away than any clock gets: "never".
    pub const MAX: Self = Self(u64::MAX);
    /// One millisecond, the unit of coarse ticks.
    pub const MILLI: Self = Self(1_000_000);

    /// Converts a duration, saturating at [`Nanos::MAX`].
    pub const fn from_duration(duration: Duration) -> Self {
        let ns = duration.as_nanos();
        // The comparison makes the cast lossless.
        #[allow(clippy::cast_possible_truncation)]
        if ns > u64::MAX as u128 { Self::MAX } else { Self(ns as u64) }
    }

    /// Converts back to a duration.
    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Later by `span`, at most [`Nanos::MAX`].
    #[inline]
    #[must_use]
    pub const fn plus(self, span: Self) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The span since `earlier`; zero if the clock seems to have gone back.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// Whole milliseconds, rounded up: an end that is stored in ticks never comes early.
    #[inline]
    pub const fn ceil_ms(self) -> u64 {
        self.0.div_ceil(Self::MILLI.0)
    }

    /// Whole milliseconds, rounded down.
    #[inline]
    pub const fn floor_ms(self) -> u64 {
        self.0 / Self::MILLI.0
    }

    /// From whole milliseconds, saturating.
    #[inline]
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(Self::MILLI.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_never_negative() {
        assert_eq!(Nanos(5).since(Nanos(9)), Nanos::ZERO);
        assert_eq!(Nanos(9).since(Nanos(5)), Nanos(4));
    }

    #[test]
    fn sums_saturate_at_never() {
        assert_eq!(Nanos::MAX.plus(Nanos(1)), Nanos::MAX);
        assert_eq!(Nanos::from_duration(Duration::MAX), Nanos::MAX);
        assert_eq!(Nanos::from_ms(u64::MAX), Nanos::MAX);
    }

    #[test]
    fn ends_round_up_and_readings_down() {
        assert_eq!(Nanos(0).ceil_ms(), 0);
        assert_eq!(Nanos(1).ceil_ms(), 1);
        assert_eq!(Nanos(1_000_000).ceil_ms(), 1);
        assert_eq!(Nanos(1_000_001).ceil_ms(), 2);
        assert_eq!(Nanos(1_999_999).floor_ms(), 1);
    }
}
