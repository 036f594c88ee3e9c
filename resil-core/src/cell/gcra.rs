//! The arithmetic of a rate limiter: one number, the instant at which all that was taken has come back.
//!
//! That instant (the *theoretical arrival time*, `tat`) is kept in units of which a permit is a power of two, so taking and
//! giving back is exact; what is scaled, by one multiplication, is the clock.
//!
//! Invariant: a permit that has become due at some nanosecond is there at that nanosecond, and none is there a whole
//! nanosecond earlier, whatever the rate and however long it has been counted: the scale is rounded up in its 64th bit, so
//! that in 73 years the clock gains less than one unit, and units are never summed up but counted from the clock's epoch.
//!
//! # Source
//! The generic cell rate algorithm of ITU-T I.371 (virtual scheduling).

use super::rate::{LONGEST, Rate};
use crate::time::Nanos;

/// The low bits of every instant here are free: a word has room for something beside it.
pub(crate) const SPARE_BITS: u32 = 2;
const SPARE: u64 = (1 << SPARE_BITS) - 1;

/// Further ahead than any instant that anybody reaches.
pub(crate) const NOT_BEGUN: u64 = !SPARE;

/// Binary places of the scale: a nanosecond is at least four units and less than eight. 64 bits of units are 73 years.
const SCALE_BITS: u32 = 61;
/// Binary places of the way back: a unit is at most a quarter of a nanosecond.
const BACK_BITS: u32 = 66;
/// How much older than another one a reading may seem, from one core to the next: no reason to think that the clock went back.
const SKEW: Nanos = Nanos::MILLI;

/// A rate and a burst, in the form that calls are tested with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Quota {
    /// Units in a nanosecond, rounded up; 61 binary places.
    pub(crate) scale: u64,
    /// Nanoseconds in a unit, rounded down; 66 binary places.
    pub(crate) back: u64,
    /// What may be taken at once, in units.
    pub(crate) burst: u64,
    /// A permit has 2^`shift` units.
    pub(crate) shift: u32,
}

impl Quota {
    /// A `parts`-th of `rate`, and `burst` permits at once. The rate is one, and `burst` of it come in within ten years.
    pub(crate) const fn new(rate: Rate, parts: u32, burst: u32) -> Self {
        let (permits, per) = (rate.permits() as u128, rate.per_ns() as u128 * parts as u128);
        let (scale, shift) = normalised(permits, per);
        let back = (1_u128 << (SCALE_BITS + BACK_BITS)) / scale as u128;
        // Just above 64 bits where the scale is a power of two; then the last bit is let go.
        #[allow(clippy::cast_possible_truncation)]
        let back = if back > u64::MAX as u128 { u64::MAX } else { back as u64 };
        Self { scale, back, burst: (burst as u64) << shift, shift }
    }

    /// The permits that may be taken at once.
    #[inline]
    pub(crate) const fn most(&self) -> u32 {
        // As it was given.
        #[allow(clippy::cast_possible_truncation)]
        {
            (self.burst >> self.shift) as u32
        }
    }

    /// A reading of the clock, in units, the spare bits cleared: then a permit that was taken just now is a permit, to the unit.
    #[inline]
    pub(crate) const fn units(&self, at: Nanos) -> u64 {
        units(self.scale, at) & !SPARE
    }

    /// The shortest span in which so many units pass, whenever it begins.
    #[inline]
    pub(crate) const fn span(&self, units: u64) -> Nanos {
        // At most 2^62: a unit is at most a quarter.
        #[allow(clippy::cast_possible_truncation)]
        let ns = ((units as u128 * self.back as u128) >> BACK_BITS) as u64;
        // Too little by at most two: what `back` was rounded by, and the fraction.
        let wanted = (units as u128) << SCALE_BITS;
        let got = ns as u128 * self.scale as u128;
        Nanos(ns + (got < wanted) as u64 + (got + (self.scale as u128) < wanted) as u64)
    }

    /// How long it is from `at` until the clock shows so many units more than it does then: to the nanosecond.
    #[inline]
    pub(crate) const fn wait(&self, at: Nanos, units: u64) -> Nanos {
        let span = self.span(units);
        // What passes from now on need not be the least that passes in such a span: a part of a unit has passed already.
        let shorter = Nanos(span.0.saturating_sub(1));
        let reached = self.units(at).saturating_add(units);
        if self.units(at.plus(shorter)) >= reached { shorter } else { span }
    }

    /// How far `tat` is too late for so many units to be taken at `now`; 0 if they can be. They are at most the burst.
    #[inline]
    pub(crate) const fn short(&self, tat: u64, now: u64, cost: u64) -> u64 {
        tat.saturating_sub(now.saturating_add(self.burst - cost))
    }

    /// `tat` after so many units were taken, now or ahead of time. It does not wrap for thirty years, and then counts as gone back.
    #[inline]
    pub(crate) const fn taken(tat: u64, now: u64, cost: u64) -> u64 {
        (if tat > now { tat } else { now }).wrapping_add(cost)
    }

    /// `tat` after so many units, taken when it became `ticket`, were not used.
    ///
    /// Gives back what has not come back by itself: until `ticket` at least that much of it was still out, whatever was
    /// taken since.
    pub(crate) const fn given_back(tat: u64, ticket: u64, now: u64, cost: u64) -> u64 {
        // Rounded down: nobody gains by it.
        let out = ticket.saturating_sub(now) & !SPARE;
        tat.saturating_sub(if out < cost { out } else { cost })
    }

    /// Whether `tat` is further ahead than anything can have put it: the clock went back.
    ///
    /// `longest` is the longest that somebody may be waiting.
    #[inline]
    pub(crate) const fn is_astray(&self, tat: u64, now: u64, longest: Nanos) -> bool {
        let ahead = tat.saturating_sub(now);
        let bursts = self.burst.saturating_mul(2);
        // Hardly ever: then no more is worked out.
        if ahead <= bursts {
            return false;
        }
        let longest = if longest.0 > LONGEST.0 { LONGEST } else { longest };
        ahead - bursts > self.units(longest.plus(SKEW))
    }

    /// The permits that can be taken at `now`.
    pub(crate) const fn available(&self, tat: u64, now: u64) -> u64 {
        let short_of_full = tat.saturating_sub(now);
        self.burst.saturating_sub(short_of_full) >> self.shift
    }

    /// The same `tat` under `new`, where this quota's clock shows `now` and the new one's `new_now`.
    ///
    /// What can be taken stays the same number of permits, at most the new burst; so does what is owed.
    pub(crate) const fn carried(&self, tat: u64, now: u64, new: &Self, new_now: u64) -> u64 {
        let owed = tat as i128 - (now as i128 + self.burst as i128);
        let owed = if new.shift >= self.shift {
            owed << (new.shift - self.shift)
        } else {
            // Rounded up: nobody gains by it.
            -(-owed >> (self.shift - new.shift))
        };
        let tat = (new_now as i128 + new.burst as i128 + owed + SPARE as i128) & !(SPARE as i128);
        // Compared first.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        if tat < new_now as i128 {
            new_now
        } else if tat > NOT_BEGUN as i128 {
            NOT_BEGUN
        } else {
            tat as u64
        }
    }
}

/// A reading of the clock in units of a scale. The spare bits are not cleared.
#[inline]
pub(crate) const fn units(scale: u64, at: Nanos) -> u64 {
    // Shifted first, so that the upper half of the product is the answer. What is cut off is 73 years away; a clock that
    // gets there goes back to 0, as far as a limiter sees.
    let at = (at.0 << (u64::BITS - SCALE_BITS)) as u128;
    #[allow(clippy::cast_possible_truncation)]
    {
        ((at * scale as u128) >> u64::BITS) as u64
    }
}

/// `permits / per · 2^shift`, rounded up to 64 bits of which the first is set, with 61 places behind the point.
const fn normalised(permits: u128, per: u128) -> (u64, u32) {
    // 128 binary places, in two steps of long division.
    let (high, rest) = ((permits << 64) / per, (permits << 64) % per);
    if high > u64::MAX as u128 {
        return (1 << 63, SPARE_BITS); // one in a nanosecond
    }
    let (low, rest) = ((rest << 64) / per, (rest << 64) % per);
    let places = high << 64 | low;
    let zeros = places.leading_zeros();
    let places = places << zeros;
    let shift = zeros + SPARE_BITS + 1;
    // The upper half.
    #[allow(clippy::cast_possible_truncation)]
    let scale = (places >> 64) as u64;
    if places & u64::MAX as u128 == 0 && rest == 0 {
        return (scale, shift);
    }
    match scale.checked_add(1) {
        Some(scale) => (scale, shift),
        None => (1 << 63, shift - 1),
    }
}

#[cfg(all(test, not(resil_loom)))]
mod tests;
