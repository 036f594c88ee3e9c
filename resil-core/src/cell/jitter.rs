//! How a delay is spread, so that callers that failed together do not come back together.
//!
//! Invariant: no draw exceeds the cap, and draws still spread where the delay has reached it. Integer nanoseconds.
//!
//! # Source
//! Full, equal and decorrelated jitter: M. Brooker, *Exponential Backoff And Jitter*, AWS Architecture Blog (2015).

use super::Ratio;
use crate::rng;
use crate::time::Nanos;

/// How a delay is spread, so that callers that failed together do not come back together.
///
/// # Default
/// [`Full`](Self::Full), which spreads most; [`None`](Self::None) beside `Backoff::by`, whose expression may draw for
/// itself.
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
    /// The delay, more or less by up to this share of it, (0, 100 %]. Near the cap the centre moves down to
    /// cap / (1 + share), so that no draw exceeds the cap and draws at the cap still spread.
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
                // Neither sum nor double can wrap: centre + half is at most the cap, and both divisions round down.
                let half = share.share_of(centre);
                Nanos(centre - half + rng::up_to(2 * half))
            }
            Self::Decorrelated | Self::None => delay,
        }
    }

    /// Draws from `base` to three times what was `drawn` last (nothing yet: the base), at most `cap`.
    #[inline]
    pub(crate) fn correlate(drawn: Nanos, base: Nanos, cap: Nanos) -> Nanos {
        let most = drawn.max(base).0.saturating_mul(3).min(cap.0);
        Nanos(base.0 + rng::up_to(most.saturating_sub(base.0)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::backoff::Backoff;
    use core::time::Duration;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
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
            let mut last_draws = vec![Nanos::ZERO; 100_000];
            for n in 0..=20 {
                for last in &mut last_draws {
                    *last = backoff.draw(jitter, n, *last);
                }
                let draws: Vec<u64> = last_draws.iter().map(|draw| draw.0).collect();
                let most = draws.iter().max().expect("many");
                assert!(*most <= 1_000 * MS, "{jitter:?} drew {most} ns at try {n}");
                let at_cap = draws.iter().filter(|&&draw| draw == 1_000 * MS).count();
                assert!(
                    at_cap < 1_000,
                    "{jitter:?} draws the cap itself {at_cap} times at try {n}"
                );
                let spread = deviation(&draws);
                assert!(spread > 5.0 * 1e6, "{jitter:?} spreads {spread} ns at try {n}");
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
            let mut seen: Vec<u64> =
                (0..2_000).map(|_| backoff.draw(jitter, 1, Nanos::ZERO).0).collect();
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
        let draws: Vec<u64> =
            (0..10_000).map(|_| jitter.spread(Nanos(1_000), Nanos(10_000)).0).collect();
        assert_eq!(draws.iter().min(), Some(&800));
        assert_eq!(draws.iter().max(), Some(&1_200));
        // A delay without a cap spreads around itself, however long.
        let longest = (0..10_000).map(|_| jitter.spread(Nanos(1_000), Nanos::MAX).0).max();
        assert_eq!(longest, Some(1_200));
    }

    #[test]
    fn r02_decorrelated_draws_up_to_three_times_the_last_draw() {
        rng::seed(5);
        let backoff = Backoff::linear(Duration::from_nanos(10), Duration::from_nanos(200));
        let most =
            |last| (0..5_000).map(|_| backoff.draw(Jitter::Decorrelated, 9, Nanos(last)).0).max();
        assert_eq!(most(0), Some(30));
        assert_eq!(most(20), Some(60));
        assert_eq!(most(100), Some(200));
        let least = (0..5_000).map(|_| backoff.draw(Jitter::Decorrelated, 9, Nanos(100)).0).min();
        assert_eq!(least, Some(10));
    }

    proptest! {
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
