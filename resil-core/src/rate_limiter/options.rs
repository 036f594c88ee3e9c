//! What can be set, and which of it makes no sense.
//!
//! Invariant: what passes `check` fits in the arithmetic of `cell/gcra.rs`.

use crate::cell::Rate;
use crate::cell::gcra::Quota;
use crate::cell::rate::LONGEST;
use crate::contract::InvalidOption;
use crate::time::Nanos;

/// The most shards: beyond that a limit is so scattered that it is none.
pub(super) const MOST_SHARDS: usize = 8;

/// How many permits there are at the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Start {
    /// As many as fit: the first burst passes at once.
    Full,
    /// None: they come in from the first call on.
    Empty,
}

impl Start {
    /// As the attribute has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Empty => "empty",
        }
    }
}

/// The options of a rate limiter, as they are at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LimiterOptions {
    /// How many in which time.
    pub rate: Rate,
    /// How many may pass at once, a multiple of `shards`.
    pub burst: u32,
    /// How long a call may wait.
    pub wait: Nanos,
    /// How many there are at the beginning.
    pub start: Start,
    /// Into how many parts it is divided, 1..=8.
    pub shards: u32,
}

impl LimiterOptions {
    /// The most that one call may cost: a shard's part of the burst.
    pub const fn most_at_once(&self) -> u32 {
        self.burst / self.shards
    }

    /// What each shard lets pass.
    pub(super) const fn quota(&self) -> Quota {
        Quota::new(self.rate, self.shards, self.most_at_once())
    }

    /// The burst that a limiter has if none is written: what the rate gives in its period.
    pub(super) const fn default_burst(rate: Rate, shards: u32) -> u32 {
        // Compared first.
        #[allow(clippy::cast_possible_truncation)]
        let burst = if rate.permits() > u32::MAX as u64 { u32::MAX } else { rate.permits() as u32 };
        match burst.checked_rem(shards) {
            None => burst,
            Some(_) if burst < shards => shards,
            Some(rest) => burst - rest,
        }
    }

    /// What is wrong with them, if anything.
    pub(super) const fn check(&self) -> Result<(), InvalidOption> {
        if let Some(problem) = self.rate.problem() {
            return Err(InvalidOption::new("rate", problem));
        }
        if self.shards == 0 || self.shards as usize > MOST_SHARDS {
            return Err(InvalidOption::new("shards", "`shards` must be in 1..=8"));
        }
        if self.burst == 0 {
            return Err(InvalidOption::new("burst", "`burst` must be at least 1"));
        }
        if !self.burst.is_multiple_of(self.shards) {
            return Err(InvalidOption::new("burst", "`burst` must be a multiple of `shards`"));
        }
        let comes_in = self.burst as u128 * self.rate.per_ns() as u128;
        if comes_in > LONGEST.0 as u128 * self.rate.permits() as u128 {
            return Err(InvalidOption::new("burst", "`burst` must come in within ten years"));
        }
        Ok(())
    }
}
