//! What an operator does with a retry budget: look at it, switch it off, change its options.

use super::{BudgetOptions, COUNTED, RetryBudget};
use crate::contract::{Counter, InvalidOption, Kind, Location, Policy, Ratio, Setting, Value};
use crate::sync::fixed::{MutexGuard, PoisonError};
use crate::time::{self, Nanos};
use core::time::Duration;

/// Acting on it. Each takes effect on the next call.
impl RetryBudget {
    /// Whether it bounds retries.
    pub fn is_enabled(&self) -> bool {
        self.live.is_enabled()
    }

    /// Grants every retry and counts none, as if no budget was written. What is in it stays.
    pub fn disable(&self) {
        let _one_at_a_time = self.change_begins();
        self.live.set_enabled(false);
    }

    /// Bounds retries again, with what was in it.
    pub fn enable(&self) {
        let _one_at_a_time = self.change_begins();
        self.live.set_enabled(true);
    }

    /// As new, with the reserve in it. Counters keep on rising.
    pub fn reset(&self) {
        self.bucket.reset(|| self.live.terms());
    }
}

/// Options that may change while calls are under way.
///
/// What is in it stays, as far as there is room. Time counts under the old options up to the change, under the new ones from
/// then on: a larger reserve fills up by and by.
impl RetryBudget {
    /// What a first attempt deposits, of a retry.
    ///
    /// # Errors
    /// None so far: every ratio makes sense.
    pub fn set_ratio(&self, ratio: Ratio) -> Result<(), InvalidOption> {
        self.change(|options| options.ratio = ratio)
    }

    /// Retries a second that are granted whatever the traffic.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_min_per_sec(&self, retries: u32) -> Result<(), InvalidOption> {
        self.change(|options| options.min_per_sec = retries)
    }

    /// How long deposits are remembered.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_ttl(&self, ttl: Duration) -> Result<(), InvalidOption> {
        self.change(|options| options.ttl = Nanos::from_duration(ttl))
    }

    fn change(&self, change: impl FnOnce(&mut BudgetOptions)) -> Result<(), InvalidOption> {
        let _one_at_a_time = self.change_begins();
        let old = self.live.load();
        let mut new = old;
        change(&mut new);
        new.check()?;
        self.live.change(&self.bucket, &old, &new, time::coarse());
        Ok(())
    }

    fn change_begins(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for RetryBudget {
    fn kind(&self) -> Kind {
        Kind::RetryBudget
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn settings(&self, visit: &mut dyn FnMut(Setting)) {
        let BudgetOptions { ratio, min_per_sec, ttl } = self.live.load();
        let settings = [
            ("ratio", Value::Ratio(ratio)),
            ("min_per_sec", Value::Count(min_per_sec.into())),
            ("ttl", Value::Duration(ttl.to_duration())),
        ];
        for (name, value) in settings {
            visit(Setting { name, value });
        }
    }

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        for (index, name) in COUNTED.into_iter().enumerate() {
            visit(Counter { name, value: self.counters.get(index) });
        }
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        if on { self.enable() } else { self.disable() }
    }
}
