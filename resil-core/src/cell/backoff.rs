//! How long to wait before the next try: delays that grow.
//!
//! Invariant: integer nanoseconds that saturate. No delay wraps or exceeds its cap, whatever the number of the try.
//! Nothing is remembered here: what a sequence of waits needs to know of its past is its caller's.

use super::jitter::Jitter;
use crate::time::Nanos;
use core::fmt;
use core::time::Duration;

/// The factor of exponential growth where none is written.
pub(crate) const DEFAULT_FACTOR: u32 = 2;

/// How the delay between attempts grows. [`Jitter`] then spreads it.
///
/// # Default
/// `exponential("50ms", cap = "1s")`: 50, 100, 200, 400, 800 ms, then 1 s each time. The delay is never zero. Full
/// jitter, the default, draws from all that lies below it, so one first wait in fifty is shorter than 1 ms; where a
/// floor matters, take [`Jitter::Equal`] or [`Jitter::PlusMinus`].
///
/// # Examples
/// ```
/// use core::time::Duration;
/// # use resil_core as resil;
/// use resil::Backoff;
///
/// let ms = Duration::from_millis;
/// let backoff = Backoff::exponential(ms(100), ms(350)).factor(2);
/// assert_eq!([0, 1, 2, 3].map(|n| backoff.delay(n).to_duration()), [ms(100), ms(200), ms(350), ms(350)]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    shape: Shape,
    /// The first delay; unused by a table and an expression.
    base: Nanos,
    /// No delay is longer; [`Nanos::MAX`] where there is none.
    cap: Nanos,
    /// As written; [`DEFAULT_FACTOR`] if exponential growth has none.
    factor: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Constant,
    Linear,
    Exponential,
    Table(&'static [Duration]),
    By,
}

impl Backoff {
    const fn new(shape: Shape, base: Duration, cap: Nanos) -> Self {
        Self { shape, base: Nanos::from_duration(base), cap, factor: None }
    }

    /// The same delay each time. Zero is allowed: at once.
    pub const fn constant(delay: Duration) -> Self {
        Self::new(Shape::Constant, delay, Nanos::MAX)
    }

    /// `base`, 2 · `base`, 3 · `base`, …, at most `cap`.
    pub const fn linear(base: Duration, cap: Duration) -> Self {
        Self::new(Shape::Linear, base, Nanos::from_duration(cap))
    }

    /// `base`, `base` · factor, `base` · factor², …, at most `cap`. The factor is 2 unless
    /// [`factor`](Self::factor) says otherwise.
    pub const fn exponential(base: Duration, cap: Duration) -> Self {
        Self::new(Shape::Exponential, base, Nanos::from_duration(cap))
    }

    /// These delays in turn; the last one again once they are used up.
    ///
    /// # Examples
    /// ```
    /// # use core::time::Duration;
    /// # use resil_core as resil;
    /// # use resil::{Backoff, Retry};
    /// static FETCH: Retry = Retry::builder("fetch")
    ///     .backoff(Backoff::table(const { &[Duration::from_millis(10), Duration::from_millis(50)] }))
    ///     .build();
    /// ```
    pub const fn table(delays: &'static [Duration]) -> Self {
        Self::new(Shape::Table(delays), Duration::ZERO, Nanos::MAX)
    }

    /// Whatever the caller computes each time and hands to `Attempts::next_by`; [`delay`](Self::delay) itself is zero.
    pub const fn by() -> Self {
        Self::new(Shape::By, Duration::ZERO, Nanos::MAX)
    }

    /// The factor of exponential growth, ≥ 1 (with 1 the delay stays at the base).
    #[must_use]
    pub const fn factor(mut self, factor: u32) -> Self {
        self.factor = Some(factor);
        self
    }

    /// The delay before retry `n`, counted from 0, not yet spread: the first one is the base.
    #[inline]
    pub const fn delay(&self, n: u32) -> Nanos {
        let delay = match self.shape {
            Shape::Constant => self.base.0,
            Shape::Linear => self.base.0.saturating_mul(n as u64 + 1),
            Shape::Exponential => {
                // A power beyond 64 bits saturates, and so does what it is multiplied with: the base is not zero.
                let power = (self.factor_or_default() as u64).saturating_pow(n);
                self.base.0.saturating_mul(power)
            }
            Shape::Table(delays) => return entry(delays, n),
            Shape::By => return Nanos::ZERO,
        };
        if delay < self.cap.0 { Nanos(delay) } else { self.cap }
    }

    /// What no delay exceeds, spread or not; [`Nanos::MAX`] for the shapes that have no cap.
    #[inline]
    pub const fn cap(&self) -> Nanos {
        self.cap
    }

    /// The first delay.
    pub const fn base(&self) -> Nanos {
        self.delay(0)
    }

    /// The factor of the growth, if it is exponential.
    pub const fn growth_factor(&self) -> Option<u32> {
        match self.shape {
            Shape::Exponential => Some(self.factor_or_default()),
            _ => None,
        }
    }

    /// As the attribute has it: `constant`, `linear`, `exponential`, `table` or `by`.
    pub const fn as_str(&self) -> &'static str {
        match self.shape {
            Shape::Constant => "constant",
            Shape::Linear => "linear",
            Shape::Exponential => "exponential",
            Shape::Table(_) => "table",
            Shape::By => "by",
        }
    }

    /// The wait before retry `n`, spread. `drawn` is what this returned last for the same sequence of waits, zero at
    /// first; only decorrelated jitter looks at it.
    #[inline]
    pub(crate) fn draw(&self, jitter: Jitter, n: u32, drawn: Nanos) -> Nanos {
        match jitter {
            Jitter::Decorrelated => Jitter::correlate(drawn, self.base, self.cap),
            _ => jitter.spread(self.delay(n), self.cap),
        }
    }

    /// Whether the caller computes the delays.
    pub(crate) const fn is_by(&self) -> bool {
        matches!(self.shape, Shape::By)
    }

    /// What makes no sense about it, if anything; the caller words it.
    pub(crate) const fn flaw(&self) -> Option<Flaw> {
        if self.factor.is_some() && !matches!(self.shape, Shape::Exponential) {
            return Some(Flaw::MisplacedFactor);
        }
        match self.shape {
            Shape::Linear | Shape::Exponential => {
                if self.base.0 == 0 {
                    Some(Flaw::ZeroBase)
                } else if self.cap.0 < self.base.0 {
                    Some(Flaw::CapBelowBase)
                } else if matches!(self.factor, Some(0)) {
                    Some(Flaw::ZeroFactor)
                } else {
                    None
                }
            }
            Shape::Table([]) => Some(Flaw::EmptyTable),
            Shape::Constant | Shape::Table(_) | Shape::By => None,
        }
    }

    /// What makes no sense about this jitter beside this backoff, if anything.
    pub(crate) const fn jitter_flaw(&self, jitter: Jitter) -> Option<Flaw> {
        match jitter {
            Jitter::PlusMinus(share) if share.millionths() == 0 => Some(Flaw::ZeroShare),
            Jitter::Decorrelated if !matches!(self.shape, Shape::Linear | Shape::Exponential) => {
                Some(Flaw::NothingToCorrelate)
            }
            _ => None,
        }
    }

    const fn factor_or_default(&self) -> u32 {
        match self.factor {
            Some(factor) => factor,
            None => DEFAULT_FACTOR,
        }
    }
}

const fn entry(delays: &[Duration], n: u32) -> Nanos {
    let Some(last) = delays.len().checked_sub(1) else {
        return Nanos::ZERO;
    };
    let n = n as usize;
    Nanos::from_duration(delays[if n < last { n } else { last }])
}

impl fmt::Debug for Backoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, cap) = (self.base.to_duration(), self.cap.to_duration());
        match self.shape {
            Shape::Constant => write!(f, "constant({base:?})"),
            Shape::Linear => write!(f, "linear({base:?}, cap = {cap:?})"),
            Shape::Exponential => {
                write!(
                    f,
                    "exponential({base:?}, factor = {}, cap = {cap:?})",
                    self.factor_or_default()
                )
            }
            Shape::Table(delays) => write!(f, "table{delays:?}"),
            Shape::By => f.write_str("by"),
        }
    }
}

/// What can be wrong with a backoff or its jitter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flaw {
    /// A growing delay that starts at zero stays there.
    ZeroBase,
    /// The first delay would exceed the cap.
    CapBelowBase,
    /// The second delay would be zero.
    ZeroFactor,
    /// Only exponential growth has a factor.
    MisplacedFactor,
    /// A table without an entry.
    EmptyTable,
    /// ± 0 spreads nothing.
    ZeroShare,
    /// Decorrelated jitter without a base and a cap.
    NothingToCorrelate,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Ratio;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn delays<const N: usize>(backoff: Backoff) -> [u64; N] {
        core::array::from_fn(|n| backoff.delay(u32::try_from(n).expect("small")).0 / MS)
    }

    #[test]
    fn rt03_the_first_delay_is_the_base() {
        assert_eq!(delays(Backoff::exponential(ms(100), ms(10_000))), [100, 200, 400, 800]);
        assert_eq!(
            delays(Backoff::exponential(ms(100), ms(10_000)).factor(3)),
            [100, 300, 900, 2_700]
        );
        assert_eq!(delays(Backoff::exponential(ms(100), ms(10_000)).factor(1)), [100, 100, 100]);
        assert_eq!(delays(Backoff::linear(ms(100), ms(250))), [100, 200, 250, 250]);
        assert_eq!(delays(Backoff::constant(ms(70))), [70, 70, 70]);
        assert_eq!(delays(Backoff::table(const { &[ms(10), ms(0), ms(50)] })), [10, 0, 50, 50, 50]);
    }

    #[test]
    fn r03_the_last_attempt_there_can_be_neither_panics_nor_wraps() {
        let longest = Duration::MAX;
        for (backoff, expected) in [
            (Backoff::exponential(ms(1), ms(60_000)), ms(60_000)),
            (Backoff::exponential(ms(1), ms(60_000)).factor(u32::MAX), ms(60_000)),
            (Backoff::exponential(ms(7), ms(60_000)).factor(1), ms(7)),
            (Backoff::exponential(Duration::from_nanos(1), longest), Nanos::MAX.to_duration()),
            (Backoff::linear(ms(1), longest), Duration::from_nanos(MS << 32)),
            (Backoff::linear(longest, longest), Nanos::MAX.to_duration()),
            (Backoff::table(const { &[ms(3), ms(9)] }), ms(9)),
            (Backoff::constant(longest), Nanos::MAX.to_duration()),
        ] {
            assert_eq!(backoff.delay(u32::MAX).to_duration(), expected, "{backoff:?}");
            for jitter in [Jitter::Full, Jitter::Equal, Jitter::PlusMinus(Ratio::ONE)] {
                let drawn = backoff.draw(jitter, u32::MAX, Nanos::MAX);
                assert!(
                    drawn <= backoff.cap() && drawn.to_duration() <= expected.saturating_mul(2)
                );
            }
        }
        let backoff = Backoff::exponential(ms(1), longest);
        assert!(backoff.draw(Jitter::Decorrelated, u32::MAX, Nanos::MAX) >= backoff.base());
    }

    #[test]
    fn rt05_a_cap_below_the_base_and_other_nonsense_has_a_flaw() {
        let exponential = Backoff::exponential(ms(5), ms(10));
        assert_eq!(exponential.flaw(), None);
        assert_eq!(Backoff::exponential(ms(5), ms(5)).factor(1).flaw(), None);
        assert_eq!(Backoff::constant(Duration::ZERO).flaw(), None);
        assert_eq!(Backoff::by().flaw(), None);
        assert_eq!(Backoff::exponential(ms(5_000), ms(1_000)).flaw(), Some(Flaw::CapBelowBase));
        assert_eq!(Backoff::linear(ms(5_000), ms(1_000)).flaw(), Some(Flaw::CapBelowBase));
        assert_eq!(Backoff::linear(Duration::ZERO, ms(1)).flaw(), Some(Flaw::ZeroBase));
        assert_eq!(exponential.factor(0).flaw(), Some(Flaw::ZeroFactor));
        assert_eq!(Backoff::constant(ms(5)).factor(2).flaw(), Some(Flaw::MisplacedFactor));
        assert_eq!(Backoff::table(&[]).flaw(), Some(Flaw::EmptyTable));
        assert_eq!(exponential.jitter_flaw(Jitter::PlusMinus(Ratio::ZERO)), Some(Flaw::ZeroShare));
        assert_eq!(exponential.jitter_flaw(Jitter::PlusMinus(Ratio::ONE)), None);
        assert_eq!(exponential.jitter_flaw(Jitter::Decorrelated), None);
        for backoff in [Backoff::constant(ms(5)), Backoff::by(), Backoff::table(const { &[ms(1)] })]
        {
            assert_eq!(backoff.jitter_flaw(Jitter::Decorrelated), Some(Flaw::NothingToCorrelate));
        }
    }

    proptest! {
        /// Against the same in 128 bits, step by step.
        #[test]
        fn a_delay_is_what_repeated_multiplication_gives(
            base in 1..=u64::MAX, over in 0..=u64::MAX, factor in 1..=9_u32, n in 0..200_u32,
        ) {
            let cap = base.saturating_add(over);
            let (base_d, cap_d) = (Duration::from_nanos(base), Duration::from_nanos(cap));
            let mut exponential = u128::from(base);
            for _ in 0..n {
                exponential = (exponential * u128::from(factor)).min(u128::from(cap));
            }
            let linear = (u128::from(base) * u128::from(n + 1)).min(u128::from(cap));
            let grown = Backoff::exponential(base_d, cap_d).factor(factor);
            prop_assert_eq!(u128::from(grown.delay(n).0), exponential);
            prop_assert_eq!(u128::from(Backoff::linear(base_d, cap_d).delay(n).0), linear);
        }
    }
}
