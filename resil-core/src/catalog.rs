//! Every policy in the binary, called or not.
//!
//! A `static` announces itself to a section that the linker gathers, so the list is complete before `main` begins and
//! costs nothing to keep. Where the platform has no such sections, or without feature `catalog`, it is empty.
//!
//! # Source
//! The `linkme` crate.

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

/// Filled by [`register!`](crate::register).
#[cfg(feature = "catalog")]
#[doc(hidden)]
#[linkme::distributed_slice]
pub static POLICIES: [&'static dyn Policy];

#[cfg(not(feature = "catalog"))]
static POLICIES: [&dyn Policy; 0] = [];

/// Lists a policy in the [`catalog`].
///
/// Takes the path of a `static`. The attribute and `registry!` do it by themselves; a hand-written `static` is listed after
/// `resil::register!(GATEWAY);`, anywhere in the crate.
#[cfg(feature = "catalog")]
#[macro_export]
macro_rules! register {
    ($policy:path) => {
        const _: () = {
            #[$crate::__linkme::distributed_slice($crate::POLICIES)]
            #[linkme(crate = $crate::__linkme)]
            static __RESIL_ENTRY: &'static dyn $crate::Policy = &$policy;
        };
    };
}

/// Without feature `catalog` nothing is listed.
#[cfg(not(feature = "catalog"))]
#[macro_export]
macro_rules! register {
    ($policy:path) => {
        const _: &dyn $crate::Policy = &$policy;
    };
}

/// The policies in this binary.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{CircuitBreaker, Kind, catalog};
///
/// static GATEWAY: CircuitBreaker = CircuitBreaker::builder("gateway").build();
/// resil::register!(GATEWAY);
///
/// let gateway = catalog().find(Kind::CircuitBreaker, "gateway").expect("it is linked in");
/// gateway.circuit_breaker().expect("it is one").force_open();
/// assert_eq!(gateway.state(), "forced open");
/// ```
pub fn catalog() -> Catalog {
    Catalog(())
}

/// See [`catalog`].
#[derive(Clone, Copy, Debug)]
pub struct Catalog(());

impl Catalog {
    /// Goes through all of them, in no particular order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry> + use<> {
        POLICIES.iter().map(|policy| Entry(*policy))
    }

    /// The policy of this kind and name.
    pub fn find(&self, kind: Kind, name: &str) -> Option<Entry> {
        self.iter().find(|entry| entry.kind() == kind && entry.name() == name)
    }

    /// What cannot be right about the whole of them. Meant for a test, or the start of `main`.
    ///
    /// # Errors
    /// Policies of one kind that share a name, each with the next such: their counters and handles could not be told apart. Names that the
    /// attribute made of a path (`module::path::function`) are let pass: methods of two types may well be called the same, and
    /// `name = "…"` tells them apart where that matters.
    pub fn verify(&self) -> Result<(), Vec<Problem>> {
        let mut entries: Vec<Entry> = self.iter().collect();
        entries.sort_by_key(|entry| (entry.kind(), entry.name(), entry.location().line()));
        let same = |pair: &&[Entry]| {
            let (first, second) = (&pair[0], &pair[1]);
            let given = !first.name().contains("::");
            given
                && first.kind() == second.kind()
                && first.name() == second.name()
                && !first.is(second)
        };
        let problems: Vec<Problem> = entries
            .windows(2)
            .filter(same)
            .map(|pair| Problem { first: pair[0], second: pair[1] })
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// Acting on all of them.
impl Catalog {
    /// Disables every policy: from the next call on, functions run as if nothing guarded them.
    ///
    /// For the question whether a guard is what does the harm. What a policy has counted and been ordered is kept.
    pub fn disable_all(&self) {
        self.iter().for_each(|entry| entry.disable());
    }

    /// Enables every policy that is disabled; the others stay as they are. So a breaker that is forced open is not closed,
    /// and one that was forced open before it was disabled is forced open again.
    pub fn enable_all(&self) {
        self.iter().for_each(|entry| entry.enable());
    }
}

impl IntoIterator for Catalog {
    type Item = Entry;
    type IntoIter = std::vec::IntoIter<Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().collect::<Vec<_>>().into_iter()
    }
}

/// One policy of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry(&'static dyn Policy);

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

    fn is(&self, other: &Self) -> bool {
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

/// Two policies that cannot be told apart.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    first: Entry,
    second: Entry,
}

impl Problem {
    /// The one that stands first.
    pub const fn first(&self) -> Entry {
        self.first
    }

    /// The one after it.
    pub const fn second(&self) -> Entry {
        self.second
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        let (kind, name) = (first.kind(), first.name().escape_debug());
        write!(
            f,
            "two policies of kind `{kind}` are called `{name}`: {} and {}",
            first.location(),
            second.location()
        )
    }
}

impl core::error::Error for Problem {}

#[cfg(all(test, feature = "catalog"))]
#[allow(unsafe_code)] // `linkme`'s `link_section`, which the lint sees in this crate only
mod tests {
    use super::*;

    static ONE: CircuitBreaker = CircuitBreaker::builder("catalog_one").build();
    static TWIN: CircuitBreaker = CircuitBreaker::builder("catalog_twin").build();
    static OTHER_TWIN: CircuitBreaker = CircuitBreaker::builder("catalog_twin").build();
    static METHOD: CircuitBreaker = CircuitBreaker::builder("module::get").build();
    static OTHER_METHOD: CircuitBreaker = CircuitBreaker::builder("module::get").build();
    crate::register!(ONE);
    crate::register!(ONE);
    crate::register!(TWIN);
    crate::register!(OTHER_TWIN);
    crate::register!(METHOD);
    crate::register!(OTHER_METHOD);

    #[test]
    fn x01_two_of_one_kind_and_name_are_reported_with_their_places() {
        let problems = catalog().verify().expect_err("there are twins");
        let [problem] = problems.as_slice() else { panic!("one pair of twins, not {problems:?}") };
        let (twin, other) = (catalog().find(Kind::CircuitBreaker, "catalog_twin"), TWIN.location());
        assert!(twin.is_some_and(|entry| entry.location().line().abs_diff(other.line()) <= 1));
        let said = problem.to_string();
        assert!(said.contains("`catalog_twin`") && said.contains(&other.to_string()), "{said}");
    }

    /// What counts is where the `static` lies: `ONE` is listed twice, and `verify` has nothing to say of it.
    #[test]
    fn x05_a_static_is_known_by_its_address() {
        let listed: Vec<_> =
            catalog().iter().filter(|entry| entry.name() == "catalog_one").collect();
        assert_eq!(listed.len(), 2);
        assert!(listed[0].is(&listed[1]));
        let said = format!("{:?}", catalog().verify().expect_err("of the twins"));
        assert!(!said.contains("catalog_one"), "{said}");
    }

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
