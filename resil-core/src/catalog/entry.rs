//! One policy of the catalogue, to be looked at and acted on.

use crate::bulkhead::Bulkhead;
use crate::circuit_breaker::CircuitBreaker;
use crate::contract::{Counter, Kind, Location, Policy, Setting};
use crate::deadline::DeadlineLimit;
use crate::fallback::Fallback;
use crate::rate_limiter::RateLimiter;
use crate::retry::Retry;
use crate::retry_budget::RetryBudget;
use crate::timeout::Timeout;
use core::any::Any;
use core::fmt;

/// One policy of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry(pub(super) &'static dyn Policy);

impl Entry {
    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        self.0.kind()
    }

    /// Its name: as declared, or `module::path::function` for what a function has inline.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Where it was declared.
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location()
    }

    /// Its state in a word; `"-"` for a kind that has none.
    pub fn state(&self) -> &'static str {
        self.0.state()
    }

    /// Its options as they are now.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        self.0.settings(&mut |setting| settings.push(setting));
        settings
    }

    /// Its counters as they are now.
    pub fn counters(&self) -> Vec<Counter> {
        let mut counters = Vec::new();
        self.0.counters(&mut |counter| counters.push(counter));
        counters
    }

    /// One of its counters.
    pub fn counter(&self, name: &str) -> Option<u64> {
        let mut value = None;
        self.0.counters(&mut |counter| {
            if counter.name == name {
                value = Some(counter.value);
            }
        });
        value
    }

    /// Whether it acts.
    pub fn is_enabled(&self) -> bool {
        self.0.is_enabled()
    }

    /// Disables it: from the next call on, functions run as if it had not been written.
    pub fn disable(&self) {
        self.0.set_enabled(false);
    }

    /// Enables it, if it is disabled.
    pub fn enable(&self) {
        self.0.set_enabled(true);
    }

    /// Itself, if it is a circuit breaker, to act on it.
    pub fn circuit_breaker(&self) -> Option<&'static CircuitBreaker> {
        self.downcast()
    }

    /// Itself, if it is a rate limiter, to act on it.
    pub fn rate_limiter(&self) -> Option<&'static RateLimiter> {
        self.downcast()
    }

    /// Itself, if it is a bulkhead, to act on it.
    pub fn bulkhead(&self) -> Option<&'static Bulkhead> {
        self.downcast()
    }

    /// Itself, if it is a retry budget, to act on it.
    pub fn retry_budget(&self) -> Option<&'static RetryBudget> {
        self.downcast()
    }

    /// Itself, if it is a retry, to act on it.
    pub fn retry(&self) -> Option<&'static Retry> {
        self.downcast()
    }

    /// Itself, if it is a timeout, to act on it.
    pub fn timeout(&self) -> Option<&'static Timeout> {
        self.downcast()
    }

    /// Itself, if it is a deadline, to act on it.
    pub fn deadline(&self) -> Option<&'static DeadlineLimit> {
        self.downcast()
    }

    /// Itself, if it is a fallback, to act on it.
    pub fn fallback(&self) -> Option<&'static Fallback> {
        self.downcast()
    }

    /// Itself, if it is a `P`.
    pub fn downcast<P: Policy>(&self) -> Option<&'static P> {
        (self.0 as &'static dyn Any).downcast_ref()
    }

    /// Whether both are the same policy: one `static`, not two of one name.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::addr_eq(self.0, other.0)
    }
}

/// `circuit_breaker gateway (src/policies.rs:4:5): closed, window = 100, …; success = 12, …`
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} ({}): {}",
            self.kind(),
            self.name().escape_debug(),
            self.location(),
            self.state()
        )?;
        for Setting { name, value } in self.settings() {
            write!(f, ", {name} = {value}")?;
        }
        let mut separator = ';';
        for Counter { name, value } in self.counters() {
            write!(f, "{separator} {name} = {value}")?;
            separator = ',';
        }
        Ok(())
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(all(test, feature = "catalog"))]
#[allow(unsafe_code)] // `linkme`'s `link_section`, which the lint sees in this crate only
mod tests {
    use crate::circuit_breaker::CircuitBreaker;
    use crate::{Kind, catalog};

    static ONE: CircuitBreaker = CircuitBreaker::builder("catalog_one").build();
    crate::register!(ONE);

    #[test]
    fn an_entry_shows_what_the_policy_is_now() {
        let entry = catalog().find(Kind::CircuitBreaker, "catalog_one").expect("it is listed");
        let policy = entry.circuit_breaker().expect("it is a breaker");
        policy.disable();
        policy.acquire().expect("disabled").failure();
        assert_eq!((entry.state(), entry.counter("failure")), ("disabled", Some(1)));
        let shown = entry.to_string();
        assert!(
            shown.starts_with("circuit_breaker catalog_one (")
                && shown.contains("failure_rate = 50%"),
            "{shown}"
        );
    }
}
