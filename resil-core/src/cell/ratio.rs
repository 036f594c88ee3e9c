//! A share of a whole, without floating point.

use core::fmt;

/// A share between 0 and 1, in millionths.
///
/// Comparisons of rates are done in integers, so that no rounding decides whether a breaker opens.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::Ratio;
/// assert_eq!(Ratio::percent(50), Ratio::of(0.5));
/// assert_eq!(Ratio::percent(50).to_string(), "50%");
/// assert_eq!(Ratio::from_millionths(1_234).to_string(), "0.1234%");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ratio(u32);

impl Ratio {
    /// The whole: 100 %.
    pub const ONE: Self = Self(Self::WHOLE);
    /// Nothing: 0 %.
    pub const ZERO: Self = Self(0);

    const WHOLE: u32 = 1_000_000;

    /// From whole percent, `0..=100`.
    ///
    /// # Panics
    /// If `percent` is above 100; in a `static` that is a compile error.
    pub const fn percent(percent: u32) -> Self {
        assert!(percent <= 100, "a ratio is at most 100 %");
        Self(percent * (Self::WHOLE / 100))
    }

    /// From a fraction, `0.0..=1.0`, rounded to millionths.
    ///
    /// # Panics
    /// If `fraction` is negative, above 1 or not a number; in a `static` that is a compile error.
    pub const fn of(fraction: f64) -> Self {
        match Self::try_of(fraction) {
            Some(ratio) => ratio,
            None => panic!("a ratio is a number between 0.0 and 1.0"),
        }
    }

    /// As [`of`](Self::of), or `None` where that panics.
    pub const fn try_of(fraction: f64) -> Option<Self> {
        if fraction >= 0.0 && fraction <= 1.0 {
            // In 0.0..=1_000_000.5 by the line above.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            Some(Self((fraction * Self::WHOLE as f64 + 0.5) as u32))
        } else {
            None
        }
    }

    /// From millionths, `0..=1_000_000`.
    ///
    /// # Panics
    /// If above a million; in a `static` that is a compile error.
    pub const fn from_millionths(millionths: u32) -> Self {
        assert!(millionths <= Self::WHOLE, "a ratio is at most 1_000_000 millionths");
        Self(millionths)
    }

    /// The share that `part` is of `whole`, rounded down; all of nothing is 0.
    #[allow(clippy::cast_possible_truncation)] // at most a million
    pub(crate) const fn part_of(part: u64, whole: u64) -> Self {
        if whole == 0 {
            return Self::ZERO;
        }
        let part = if part > whole { whole } else { part };
        Self((part as u128 * Self::WHOLE as u128 / whole as u128) as u32)
    }

    /// In millionths.
    #[inline]
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// Whether `part` of `whole` is at least this share. `part` and `whole` are below 2⁴⁴.
    #[inline]
    pub const fn reached_by(self, part: u64, whole: u64) -> bool {
        part * Self::WHOLE as u64 >= self.0 as u64 * whole
    }

    /// This share of `whole`, rounded down.
    #[inline]
    pub const fn share_of(self, whole: u64) -> u64 {
        // At most `whole`, since the ratio is at most one.
        #[allow(clippy::cast_possible_truncation)]
        {
            (whole as u128 * self.0 as u128 / Self::WHOLE as u128) as u64
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = Self::WHOLE / 100;
        let (whole, rest) = (self.0 / unit, self.0 % unit);
        if rest == 0 {
            return write!(f, "{whole}%");
        }
        let digits = format!("{rest:04}");
        write!(f, "{whole}.{}%", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comparison_includes_equality() {
        assert!(Ratio::percent(50).reached_by(5, 10));
        assert!(!Ratio::percent(50).reached_by(4, 9));
        assert!(Ratio::from_millionths(333_333).reached_by(1, 3));
        assert!(Ratio::ONE.reached_by(3, 3));
        assert!(!Ratio::ONE.reached_by(2, 3));
    }

    #[test]
    fn what_is_no_ratio_is_refused() {
        for fraction in [-0.1, 1.000_001, f64::NAN, f64::INFINITY] {
            assert_eq!(Ratio::try_of(fraction), None);
        }
        assert_eq!(Ratio::try_of(1.0), Some(Ratio::ONE));
        assert_eq!(Ratio::try_of(0.0), Some(Ratio::ZERO));
    }

    #[test]
    fn a_part_is_rounded_down() {
        assert_eq!(Ratio::part_of(1, 3), Ratio::from_millionths(333_333));
        assert_eq!(Ratio::part_of(u64::MAX, u64::MAX), Ratio::ONE);
        assert_eq!((Ratio::part_of(2, 1), Ratio::part_of(0, 0)), (Ratio::ONE, Ratio::ZERO));
    }

    #[test]
    fn a_share_never_exceeds_the_whole() {
        assert_eq!(Ratio::ONE.share_of(u64::MAX), u64::MAX);
        assert_eq!(Ratio::percent(20).share_of(11), 2);
    }
}
