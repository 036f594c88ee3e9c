//! How long to wait before the next try: delays that grow, and how they are spread.
//!
//! Invariant: integer nanoseconds that saturate. No delay wraps or exceeds its cap, whatever the number of the try and
//! whatever is drawn, and the draws still spread where the cap is reached. Nothing is remembered here: what a sequence
//! of waits needs to know of its past is its caller's.
//!
//! # Source
//! Full, equal and decorrelated jitter: M. Brooker, *Exponential Backoff And Jitter*, AWS Architecture Blog (2015).

use crate::contract::Ratio;
use crate::rng;
use crate::time::Nanos;
use core::fmt;
use core::time::Duration;

/// The factor of exponential growth where none is written.
pub const DEFAULT_FACTOR: u32 = 2;

/// How the delay between attempts grows. [`Jitter`] then spreads it.
///
/// # Default
/// `exponential("50ms", cap = "1s")`: the delays are 50, 100, 200, 400, 800 ms, then 1 s. The delay itself is never zero; full
/// jitter draws from all that is below it, so every fiftieth first wait is shorter than 1 ms. Who needs a floor
/// takes [`Jitter::Equal`] or [`Jitter::PlusMinus`].
///
/// # Examples
/// ```
/// use core::time::Duration;
/// use resil_core::Backoff;
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
        Self {
            shape,
            base: Nanos::from_duration(base),
            cap,
            factor: None,
        }
    }

    /// The same delay each time. Zero is allowed: at once.
    pub const fn constant(delay: Duration) -> Self {
        Self::new(Shape::Constant, delay, Nanos::MAX)
    }

    /// `base`, 2 · `base`, 3 · `base`, …, at most `cap`.
    pub const fn linear(base: Duration, cap: Duration) -> Self {
        Self::new(Shape::Linear, base, Nanos::from_duration(cap))
    }

    /// `base`, `base` · factor, `base` · factor², …, at most `cap`. The factor is 2 unless [`factor`](Self::factor) says
    /// otherwise.
    pub const fn exponential(base: Duration, cap: Duration) -> Self {
        Self::new(Shape::Exponential, base, Nanos::from_duration(cap))
    }

    /// These delays in turn; the last one again once they are used up.
    pub const fn table(delays: &'static [Duration]) -> Self {
        Self::new(Shape::Table(delays), Duration::ZERO, Nanos::MAX)
    }

    /// Whatever the caller computes each time: `Attempts::next_by` is handed the delay. [`delay`](Self::delay) itself is zero.
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
        if delay < self.cap.0 {
            Nanos(delay)
        } else {
            self.cap
        }
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

    /// The wait before retry `n`, spread. `drawn` is what this returned last for the same sequence of waits, zero at first;
    /// only decorrelated jitter looks at it.
    #[inline]
    pub(crate) fn draw(&self, jitter: Jitter, n: u32, drawn: Nanos) -> Nanos {
        match jitter {
            Jitter::Decorrelated => {
                let (base, cap) = (self.base.0, self.cap.0);
                // The cap is not below the base (`flaw`), so neither is the bound.
                let most = drawn.0.max(base).saturating_mul(3).min(cap);
                Nanos(base + rng::up_to(most.saturating_sub(base)))
            }
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

/// How a delay is spread, so that callers that failed together do not come back together.
///
/// # Default
/// [`Full`](Self::Full), which spreads most; [`None`](Self::None) beside [`Backoff::by`], whose expression may draw for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Jitter {
    /// Anything from zero to the delay.
    Full,
    /// Half of the delay, and anything from zero to the other half.
    Equal,
    /// Anything from the base to three times what was drawn last, at most the cap. Needs a backoff with both: linear or
    /// exponential, whose growth it replaces.
    Decorrelated,
    /// The delay, more or less by up to this share of it, (0, 100 %]. Near the cap the centre moves down to cap / (1 + share): no draw exceeds the
    /// cap, and draws at the cap still spread.
    PlusMinus(Ratio),
    /// The delay as it is: callers that failed together come back together.
    None,
}

impl Jitter {
    /// Draws around `delay`, at most `cap`. Decorrelated jitter, which knows no single delay, leaves it as it is.
    #[inline]
    pub(crate) fn spread(self, delay: Nanos, cap: Nanos) -> Nanos {
        let delay = delay.min(cap);
        match self {
            Self::Full => Nanos(rng::up_to(delay.0)),
            Self::Equal => {
                let drawn = delay.0 / 2;
                Nanos(delay.0 - drawn + rng::up_to(drawn))
            }
            Self::PlusMinus(share) => {
                let centre = delay.0.min(highest_centre(cap, share));
                // centre + half ≤ cap, so neither sum nor double can wrap: the centre is at most cap / (1 + share), and
                // both divisions round down.
                let half = share.share_of(centre);
                Nanos(centre - half + rng::up_to(2 * half))
            }
            Self::Decorrelated | Self::None => delay,
        }
    }

    /// As the attribute has it: `full`, `equal`, `decorrelated`, `plus_minus` or `none`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Equal => "equal",
            Self::Decorrelated => "decorrelated",
            Self::PlusMinus(_) => "plus_minus",
            Self::None => "none",
        }
    }

    /// What makes no sense about it beside this backoff, if anything; the caller words it.
    pub(crate) const fn flaw(self, backoff: &Backoff) -> Option<Flaw> {
        match self {
            Self::PlusMinus(share) if share.millionths() == 0 => Some(Flaw::ZeroShare),
            Self::Decorrelated if !matches!(backoff.shape, Shape::Linear | Shape::Exponential) => {
                Some(Flaw::NothingToCorrelate)
            }
            _ => None,
        }
    }
}

/// The centre around which ± `share` just reaches the cap.
const fn highest_centre(cap: Nanos, share: Ratio) -> u64 {
    let whole = Ratio::ONE.millionths() as u128;
    // At most `cap`, since it is divided by 1 + share.
    #[allow(clippy::cast_possible_truncation)]
    {
        (cap.0 as u128 * whole / (whole + share.millionths() as u128)) as u64
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
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn delays<const N: usize>(backoff: Backoff) -> [u64; N] {
        core::array::from_fn(|n| backoff.delay(u32::try_from(n).expect("small")).0 / MS)
    }

    fn deviation(draws: &[u64]) -> f64 {
        #[allow(clippy::cast_precision_loss)] // a statistic
        let draws: Vec<f64> = draws.iter().map(|&ns| ns as f64).collect();
        #[allow(clippy::cast_precision_loss)]
        let count = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / count;
        (draws.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>() / count).sqrt()
    }

    #[test]
    fn rt02_no_draw_exceeds_the_cap_and_draws_at_the_cap_still_spread() {
        rng::seed(2);
        let backoff = Backoff::exponential(ms(100), ms(1_000));
        for jitter in [
            Jitter::PlusMinus(Ratio::percent(20)),
            Jitter::PlusMinus(Ratio::ONE),
            Jitter::Full,
            Jitter::Equal,
            Jitter::Decorrelated,
        ] {
            let mut drawn = vec![Nanos::ZERO; 100_000];
            for n in 0..=20 {
                for last in &mut drawn {
                    *last = backoff.draw(jitter, n, *last);
                }
                let draws: Vec<u64> = drawn.iter().map(|drawn| drawn.0).collect();
                let most = draws.iter().max().expect("many");
                assert!(*most <= 1_000 * MS, "{jitter:?} drew {most} ns at try {n}");
                let spread = deviation(&draws);
                assert!(
                    spread > 5.0 * 1e6,
                    "{jitter:?} spreads {spread} ns at try {n}"
                );
            }
        }
    }

    #[test]
    fn rt02_a_cap_smaller_than_the_jitter_gives_no_negative_delay() {
        for cap in 0..6 {
            for share in [1, 500_000, 1_000_000] {
                let jitter = Jitter::PlusMinus(Ratio::from_millionths(share));
                for _ in 0..1_000 {
                    let drawn = jitter.spread(Nanos(100 * MS), Nanos(cap));
                    assert!(drawn.0 <= cap, "{drawn:?} for a cap of {cap} ns");
                }
            }
        }
    }

    #[test]
    fn r02_full_draws_from_all_below_equal_from_the_upper_half() {
        rng::seed(3);
        let backoff = Backoff::exponential(Duration::from_nanos(4), Duration::from_nanos(8));
        let seen = |jitter| {
            let mut seen: Vec<u64> = (0..2_000)
                .map(|_| backoff.draw(jitter, 1, Nanos::ZERO).0)
                .collect();
            seen.sort_unstable();
            seen.dedup();
            seen
        };
        assert_eq!(seen(Jitter::Full), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(seen(Jitter::Equal), [4, 5, 6, 7, 8]);
        assert_eq!(seen(Jitter::PlusMinus(Ratio::percent(50))), [3, 4, 5, 6, 7]);
        assert_eq!(seen(Jitter::None), [8]);
        // Decorrelated from the base: 4 to 3 · 4, at most 8.
        assert_eq!(seen(Jitter::Decorrelated), [4, 5, 6, 7, 8]);
    }

    #[test]
    fn r02_plus_minus_is_centred_on_the_delay_below_the_cap() {
        rng::seed(4);
        let jitter = Jitter::PlusMinus(Ratio::percent(20));
        let draws: Vec<u64> = (0..10_000)
            .map(|_| jitter.spread(Nanos(1_000), Nanos(10_000)).0)
            .collect();
        assert_eq!(draws.iter().min(), Some(&800));
        assert_eq!(draws.iter().max(), Some(&1_200));
        // A delay without a cap spreads around itself, however long.
        let longest = (0..10_000)
            .map(|_| jitter.spread(Nanos(1_000), Nanos::MAX).0)
            .max();
        assert_eq!(longest, Some(1_200));
    }

    #[test]
    fn r02_decorrelated_draws_up_to_three_times_the_last_draw() {
        rng::seed(5);
        let backoff = Backoff::linear(Duration::from_nanos(10), Duration::from_nanos(200));
        let most = |last| {
            (0..5_000)
                .map(|_| backoff.draw(Jitter::Decorrelated, 9, Nanos(last)).0)
                .max()
        };
        assert_eq!(most(0), Some(30));
        assert_eq!(most(20), Some(60));
        assert_eq!(most(100), Some(200));
        let least = (0..5_000)
            .map(|_| backoff.draw(Jitter::Decorrelated, 9, Nanos(100)).0)
            .min();
        assert_eq!(least, Some(10));
    }

    #[test]
    fn rt03_the_first_delay_is_the_base() {
        assert_eq!(
            delays(Backoff::exponential(ms(100), ms(10_000))),
            [100, 200, 400, 800]
        );
        assert_eq!(
            delays(Backoff::exponential(ms(100), ms(10_000)).factor(3)),
            [100, 300, 900, 2_700]
        );
        assert_eq!(
            delays(Backoff::exponential(ms(100), ms(10_000)).factor(1)),
            [100, 100, 100]
        );
        assert_eq!(
            delays(Backoff::linear(ms(100), ms(250))),
            [100, 200, 250, 250]
        );
        assert_eq!(delays(Backoff::constant(ms(70))), [70, 70, 70]);
        assert_eq!(
            delays(Backoff::table(const { &[ms(10), ms(0), ms(50)] })),
            [10, 0, 50, 50, 50]
        );
    }

    #[test]
    fn r03_the_last_attempt_there_can_be_neither_panics_nor_wraps() {
        let longest = Duration::MAX;
        for (backoff, expected) in [
            (Backoff::exponential(ms(1), ms(60_000)), ms(60_000)),
            (
                Backoff::exponential(ms(1), ms(60_000)).factor(u32::MAX),
                ms(60_000),
            ),
            (Backoff::exponential(ms(7), ms(60_000)).factor(1), ms(7)),
            (
                Backoff::exponential(Duration::from_nanos(1), longest),
                Nanos::MAX.to_duration(),
            ),
            (
                Backoff::linear(ms(1), longest),
                Duration::from_nanos(MS << 32),
            ),
            (Backoff::linear(longest, longest), Nanos::MAX.to_duration()),
            (Backoff::table(const { &[ms(3), ms(9)] }), ms(9)),
            (Backoff::constant(longest), Nanos::MAX.to_duration()),
        ] {
            assert_eq!(
                backoff.delay(u32::MAX).to_duration(),
                expected,
                "{backoff:?}"
            );
            for jitter in [Jitter::Full, Jitter::Equal, Jitter::PlusMinus(Ratio::ONE)] {
                assert!(
                    backoff.draw(jitter, u32::MAX, Nanos::MAX).to_duration()
                        <= expected.max(ms(14))
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
        assert_eq!(
            Backoff::exponential(ms(5_000), ms(1_000)).flaw(),
            Some(Flaw::CapBelowBase)
        );
        assert_eq!(
            Backoff::linear(ms(5_000), ms(1_000)).flaw(),
            Some(Flaw::CapBelowBase)
        );
        assert_eq!(
            Backoff::linear(Duration::ZERO, ms(1)).flaw(),
            Some(Flaw::ZeroBase)
        );
        assert_eq!(exponential.factor(0).flaw(), Some(Flaw::ZeroFactor));
        assert_eq!(
            Backoff::constant(ms(5)).factor(2).flaw(),
            Some(Flaw::MisplacedFactor)
        );
        assert_eq!(Backoff::table(&[]).flaw(), Some(Flaw::EmptyTable));
        assert_eq!(
            Jitter::PlusMinus(Ratio::ZERO).flaw(&exponential),
            Some(Flaw::ZeroShare)
        );
        assert_eq!(Jitter::PlusMinus(Ratio::ONE).flaw(&exponential), None);
        assert_eq!(Jitter::Decorrelated.flaw(&exponential), None);
        for backoff in [
            Backoff::constant(ms(5)),
            Backoff::by(),
            Backoff::table(const { &[ms(1)] }),
        ] {
            assert_eq!(
                Jitter::Decorrelated.flaw(&backoff),
                Some(Flaw::NothingToCorrelate)
            );
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

        /// Against the definitions of SEMANTICS R2 in real numbers, one nanosecond of rounding apart.
        #[test]
        fn a_draw_stays_in_the_range_of_its_kind(
            base in 1..(1_u64 << 50), over in 0..(1_u64 << 50), n in 0..60_u32,
            last in 0..(1_u64 << 51), share in 1..=1_000_000_u32, seed: u64,
        ) {
            rng::seed(seed);
            let cap = base + over;
            let backoff = Backoff::exponential(Duration::from_nanos(base), Duration::from_nanos(cap));
            let delay = backoff.delay(n).0;
            let draw = |jitter| backoff.draw(jitter, n, Nanos(last)).0;

            prop_assert!(draw(Jitter::Full) <= delay);
            let equal = draw(Jitter::Equal);
            prop_assert!(delay.div_ceil(2) <= equal && equal <= delay);
            prop_assert_eq!(draw(Jitter::None), delay);

            let decorrelated = draw(Jitter::Decorrelated);
            prop_assert!(base <= decorrelated && decorrelated <= cap.min(last.max(base) * 3));

            let drawn = draw(Jitter::PlusMinus(Ratio::from_millionths(share)));
            prop_assert!(drawn <= cap);
            #[allow(clippy::cast_precision_loss)] // below 2⁵²
            {
                let share = f64::from(share) / 1e6;
                let centre = (delay as f64).min(cap as f64 / (1.0 + share));
                prop_assert!((drawn as f64) >= centre * (1.0 - share) - 2.0);
                prop_assert!((drawn as f64) <= centre * (1.0 + share) + 2.0);
            }
        }
    }
}
