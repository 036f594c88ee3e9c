//! The options of a retry budget, and their ranges.
//!
//! Invariant: what passes `check` makes sense as a whole.

use crate::cell::Ratio;
use crate::cell::budget::{LARGEST_RESERVE, Terms};
use crate::contract::InvalidOption;
use crate::time::Nanos;

/// Time is counted in ticks of 16 ms: what is forgotten sooner was not remembered.
const SHORTEST_TTL: Nanos = Nanos::from_ms(100);
const LONGEST_TTL: Nanos = Nanos::from_ms(24 * 60 * 60 * 1_000);

/// The options of a retry budget, as they are at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BudgetOptions {
    /// What a first attempt deposits, of a retry.
    pub ratio: Ratio,
    /// Retries that time brings, a second.
    pub min_per_sec: u32,
    /// How long deposits are remembered, and how much of `min_per_sec` is saved up.
    pub ttl: Nanos,
}

impl BudgetOptions {
    pub(super) const fn terms(&self) -> Terms {
        Terms::new(self.ratio, self.min_per_sec, self.ttl)
    }

    /// What is wrong with them, if anything.
    pub(super) const fn check(&self) -> Result<(), InvalidOption> {
        if self.ttl.0 < SHORTEST_TTL.0 || self.ttl.0 > LONGEST_TTL.0 {
            return Err(InvalidOption::new("ttl", "`ttl` must be in 100ms..=1d"));
        }
        let ttl_ms = self.ttl.0 / Nanos::MILLI.0;
        if self.min_per_sec as u64 * ttl_ms > LARGEST_RESERVE * 1_000 {
            return Err(InvalidOption::new(
                "min_per_sec",
                "`min_per_sec` saves up at most 65536 retries in a `ttl`",
            ));
        }
        Ok(())
    }
}
