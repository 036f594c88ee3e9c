//! The options of a breaker, their ranges, and the open wait that follows from them.
//!
//! Invariant: what passes `check` makes sense as a whole.
//!
//! Pure but for the jitter's draw.

use super::criterion::Criterion;
use super::word::MOST_PROBES;
use crate::cell::Ratio;
use crate::cell::backoff::Backoff;
use crate::cell::jitter::Jitter;
use crate::contract::InvalidOption;
use crate::time::Nanos;
use core::time::Duration;

/// Below this, waits are measured on the fine clock: the coarse one moves in steps of some 4 ms.
const COARSE_FROM: Nanos = Nanos::from_ms(250);

/// The options of a breaker, as they are at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BreakerOptions {
    /// What it counts while closed.
    pub criterion: Criterion,
    /// Outcomes before a rate counts, 1..=window.
    pub min_calls: u32,
    /// Share of failures that opens, above 0; of probes only, where it goes by failures in a row.
    pub failure_rate: Ratio,
    /// A call that takes longer is slow; [`Nanos::MAX`] if slowness does not count.
    pub slow_call: Nanos,
    /// Share of slow calls that opens, above 0.
    pub slow_rate: Ratio,
    /// How long it stays open the first time.
    pub open_for: Nanos,
    /// What the wait is multiplied with each time that it opens again without a full window between; 1 for a constant wait.
    pub open_factor: u32,
    /// Cap of the growth; never above `max_open_for`.
    pub open_cap: Nanos,
    /// How far a wait is spread around its length; 0 for not at all.
    pub open_jitter: Ratio,
    /// Cap of every wait, hints of the callee included.
    pub max_open_for: Nanos,
    /// Calls admitted in half-open, 1..=511.
    pub probes: u32,
    /// How long a probe may be out.
    pub probe_timeout: Nanos,
}

impl BreakerOptions {
    pub(super) const fn counts_slow(&self) -> bool {
        self.slow_call.0 != u64::MAX
    }

    /// Whether waits are so short that the coarse clock will not do.
    pub(super) const fn needs_fine_clock(&self) -> bool {
        self.open_for.0 < COARSE_FROM.0 || self.probe_timeout.0 < COARSE_FROM.0
    }

    /// How long it stays open when it opens for the `streak`-th time (from 0) without a full window between; the callee
    /// asked for `hint`.
    pub(super) fn open_wait(&self, streak: u32, hint: Option<Duration>) -> Nanos {
        let cap = self.open_cap.min(self.max_open_for).max(self.open_for);
        let (base, longest) = (self.open_for.to_duration(), cap.to_duration());
        let grown = Backoff::exponential(base, longest).factor(self.open_factor).delay(streak);
        let wait = if self.open_jitter == Ratio::ZERO {
            grown
        } else {
            Jitter::PlusMinus(self.open_jitter).spread(grown, self.max_open_for)
        };
        let hint = hint.map_or(Nanos::ZERO, Nanos::from_duration);
        wait.max(hint).min(self.max_open_for)
    }

    /// What is wrong with them, if anything.
    pub(super) const fn check(&self) -> Result<(), InvalidOption> {
        macro_rules! require {
            ($field:literal, $fine:expr, $problem:literal) => {
                if !$fine {
                    return Err(InvalidOption::new($field, concat!("`", $field, "` ", $problem)));
                }
            };
        }
        if let Err(invalid) = self.criterion.check() {
            return Err(invalid);
        }
        require!("min_calls", 1 <= self.min_calls, "must be at least 1");
        if let Criterion::Calls(window) = self.criterion {
            require!("min_calls", self.min_calls <= window, "must not exceed `window`");
        }
        require!("failure_rate", self.failure_rate.millionths() > 0, "must be above 0");
        require!("slow_call", self.slow_call.0 > 0, "must be longer than 0");
        require!("slow_rate", self.slow_rate.millionths() > 0, "must be above 0");
        require!("open_for", self.open_for.0 > 0, "must be longer than 0");
        require!("open_for", self.open_factor > 0, "must grow by a factor of at least 1");
        require!("open_for", self.open_cap.0 >= self.open_for.0, "must not exceed its cap");
        require!(
            "open_for",
            self.open_for.0 <= self.max_open_for.0,
            "must not exceed `max_open_for`"
        );
        require!("probes", 1 <= self.probes && self.probes <= MOST_PROBES, "must be in 1..=511");
        require!("probe_timeout", self.probe_timeout.0 > 0, "must be longer than 0");
        Ok(())
    }
}
