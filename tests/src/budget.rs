//! Retry budgets for tests.

use crate::{Calls, Fault};
use resil::{Policy, Ratio, RetryBudget};
use std::time::Duration;

/// A budget that only calls pay into.
pub const fn paid_by_calls(name: &'static str, percent: u32) -> RetryBudget {
    RetryBudget::builder(name)
        .ratio(Ratio::percent(percent))
        .min_per_sec(0)
        .ttl(Duration::from_secs(3_600))
        .build()
}

/// What was withdrawn, refused, given back.
///
/// # Panics
/// If there are other counters.
pub fn moves(budget: &RetryBudget) -> [u64; 3] {
    let mut counted = [0; 3];
    let mut at = counted.iter_mut();
    budget.counters(&mut |counter| *at.next().expect("three counters") = counter.value);
    counted
}

/// Begins a call, which is good or not.
///
/// # Errors
/// [`Fault::Down`] if it is not.
pub fn outcome(good: bool, calls: &Calls) -> Result<u32, Fault> {
    let number = calls.begin();
    if good { Ok(number) } else { Err(Fault::Down(number)) }
}
