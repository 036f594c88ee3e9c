//! What the catalogue says of a policy.

use resil::{Bulkhead, CircuitBreaker, Kind, RateLimiter, Setting, Value, catalog};

/// One counter of the policy of this kind and name.
///
/// # Panics
/// If there is no such policy, or no such counter.
pub fn count(kind: Kind, policy: &str, counter: &str) -> u64 {
    let entry = catalog().find(kind, policy).unwrap_or_else(|| panic!("no {kind} `{policy}`"));
    entry.counter(counter).unwrap_or_else(|| panic!("{kind} does not count `{counter}`"))
}

/// The counters of the policy of this kind and name that are not 0.
///
/// # Panics
/// If there is no such policy.
pub fn counts(kind: Kind, policy: &str) -> Vec<(&'static str, u64)> {
    let entry = catalog().find(kind, policy).unwrap_or_else(|| panic!("no {kind} `{policy}`"));
    let counters = entry.counters().into_iter().map(|counter| (counter.name, counter.value));
    counters.filter(|(_, value)| *value > 0).collect()
}

/// The breaker of this name.
///
/// # Panics
/// If there is none.
pub fn breaker_of(policy: &str) -> &'static CircuitBreaker {
    let entry = catalog().find(Kind::CircuitBreaker, policy).expect("a breaker of that name");
    entry.circuit_breaker().expect("a breaker")
}

/// The limiter of this name.
///
/// # Panics
/// If there is none.
pub fn limiter_of(policy: &str) -> &'static RateLimiter {
    let entry = catalog().find(Kind::RateLimiter, policy).expect("a limiter of that name");
    entry.rate_limiter().expect("a limiter")
}

/// The bulkhead of this name.
///
/// # Panics
/// If there is none.
pub fn bulkhead_of(policy: &str) -> &'static Bulkhead {
    let entry = catalog().find(Kind::Bulkhead, policy).expect("a bulkhead of that name");
    entry.bulkhead().expect("a bulkhead")
}

/// What an option of the policy of this kind and name is set to.
///
/// # Panics
/// If there is no such policy, or no such option.
pub fn setting(kind: Kind, policy: &str, option: &str) -> Value {
    let entry = catalog().find(kind, policy).unwrap_or_else(|| panic!("no {kind} `{policy}`"));
    let found = entry.settings().into_iter().find(|setting| setting.name == option);
    let Setting { value, .. } = found.unwrap_or_else(|| panic!("{kind} has no `{option}`"));
    value
}
