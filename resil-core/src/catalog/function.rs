//! What the catalogue knows of a guarded function: its policies, and what is said of them at the function alone.
//!
//! Invariant: a `static` of its own, which no call ever touches. The policies are asked for when somebody looks: one that is
//! built at run time, behind a `LazyLock`, has no address before.

use super::Entry;
use crate::contract::{Location, Policy};
use core::fmt;
use core::ops::Deref;

/// A function that `#[resilient]` guards, called or not: from [`Catalog::functions`](super::Catalog::functions).
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// for function in resil::catalog().functions() {
///     println!("{function}"); // shop::charge (src/shop.rs:12:1): at most 3 attempts; retry, circuit_breaker gateway
/// }
/// ```
pub struct GuardedFunction {
    name: &'static str,
    location: &'static Location<'static>,
    members: fn(&mut Visit<'_>),
    is_async: bool,
    breaker_is_outside: bool,
    cost: Option<u32>,
    allowed: &'static [&'static str],
}

/// Is shown one policy after another, and whether it stands in a `static` that can be listed as it is.
type Visit<'v> = dyn FnMut(&'static dyn Policy, bool) + 'v;

/// What the expansion says.
#[doc(hidden)]
impl GuardedFunction {
    #[must_use]
    #[track_caller]
    pub const fn new(name: &'static str, members: fn(&mut Visit<'_>)) -> Self {
        Self {
            name,
            location: Location::caller(),
            members,
            is_async: false,
            breaker_is_outside: false,
            cost: None,
            allowed: &[],
        }
    }

    #[must_use]
    pub const fn asynchronous(self) -> Self {
        Self { is_async: true, ..self }
    }

    /// One admission by the breaker stands around all attempts.
    #[must_use]
    pub const fn breaker_outside(self) -> Self {
        Self { breaker_is_outside: true, ..self }
    }

    /// Each call takes so many cells of the limiter.
    #[must_use]
    pub const fn cost(self, cells: u32) -> Self {
        Self { cost: Some(cells), ..self }
    }

    /// The rules that are silenced here.
    #[must_use]
    pub const fn allow(self, rules: &'static [&'static str]) -> Self {
        Self { allowed: rules, ..self }
    }
}

impl GuardedFunction {
    /// Its name: `module::path::function`, unless `name = "…"` is written.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Where its attribute stands.
    pub const fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Its policies, outermost first, the shared ones and its own. The budget of a retry comes after it.
    pub fn policies(&self) -> Vec<Entry> {
        let mut policies = Vec::new();
        (self.members)(&mut |policy, _| policies.push(Entry(policy)));
        policies
    }

    /// How often a call runs the body at most; `None` if only time limits that.
    ///
    /// A function with attempts that calls another one with attempts multiplies them: the inner body runs as often as both
    /// numbers say.
    pub fn attempts(&self) -> Option<u32> {
        match self.policies().iter().find_map(Entry::retry) {
            Some(retry) => retry.max_attempts(),
            None => Some(1),
        }
    }

    /// Its policies that are not in the catalogue although they could be: `static`s that nobody registered.
    pub(super) fn unlisted(&self, listed: impl Fn(Entry) -> bool) -> Vec<Entry> {
        let mut unlisted = Vec::new();
        (self.members)(&mut |policy, is_static| {
            if is_static && !listed(Entry(policy)) {
                unlisted.push(Entry(policy));
            }
        });
        unlisted
    }

    pub(super) const fn is_async(&self) -> bool {
        self.is_async
    }

    /// Whether the breaker measures each attempt, which is what `timeout` limits.
    pub(super) const fn breaker_sees_attempts(&self) -> bool {
        !self.breaker_is_outside
    }

    /// How many cells a call takes, if that is written as a number.
    pub(super) const fn written_cost(&self) -> Option<u32> {
        self.cost
    }

    pub(super) fn allows(&self, rule: &str) -> bool {
        self.allowed.contains(&rule)
    }
}

/// `shop::charge (src/shop.rs:12:1): at most 3 attempts; retry, circuit_breaker gateway`
impl fmt::Display for GuardedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): ", self.name.escape_debug(), self.location)?;
        match self.attempts() {
            Some(1) => f.write_str("1 attempt;")?,
            Some(most) => write!(f, "at most {most} attempts;")?,
            None => f.write_str("any number of attempts;")?,
        }
        let mut separator = " ";
        for policy in self.policies() {
            write!(f, "{separator}{}", policy.kind())?;
            if policy.name() != self.name {
                write!(f, " {}", policy.name().escape_debug())?;
            }
            separator = ", ";
        }
        Ok(())
    }
}

impl fmt::Debug for GuardedFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What stands at the path of a function's policy: the policy, or something that leads to it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Member<T: 'static>(pub &'static T);

/// Shows the policy behind a [`Member`], as far as its type lets us: see the contract's `Judge` for how it is chosen. What is
/// no policy at all is somebody else's error.
#[doc(hidden)]
pub trait Membership {
    fn __resil_visit(&self, visit: &mut Visit<'_>);
}

impl<P: Policy> Membership for &&Member<P> {
    fn __resil_visit(&self, visit: &mut Visit<'_>) {
        visit(self.0, true);
    }
}

/// A reference to a `static`, or a policy that is built at run time.
impl<D: Deref<Target: Policy + Sized>> Membership for &Member<D> {
    fn __resil_visit(&self, visit: &mut Visit<'_>) {
        visit(&**self.0, false);
    }
}

impl<T> Membership for Member<T> {
    fn __resil_visit(&self, _visit: &mut Visit<'_>) {}
}

#[cfg(test)]
#[allow(clippy::needless_borrow)] // as deep as the expansion goes
mod tests {
    use super::*;
    use crate::circuit_breaker::CircuitBreaker;
    use crate::contract::Kind;
    use crate::retry::Retry;
    use std::sync::LazyLock;

    static GATEWAY: CircuitBreaker = CircuitBreaker::builder("gateway").build();
    static RETRY: Retry = Retry::builder("shop::charge").max_attempts(4).build();
    static LATER: LazyLock<CircuitBreaker> =
        LazyLock::new(|| CircuitBreaker::builder("later").build());
    const LINK: &CircuitBreaker = &GATEWAY;
    static NO_POLICY: u32 = 7;

    static CHARGE: GuardedFunction = GuardedFunction::new("shop::charge", |visit| {
        (&&&Member(&RETRY)).__resil_visit(visit);
        (&&&Member(&GATEWAY)).__resil_visit(visit);
        (&&&Member(&LINK)).__resil_visit(visit);
        (&&&Member(&LATER)).__resil_visit(visit);
        (&&&Member(&NO_POLICY)).__resil_visit(visit);
    });

    #[test]
    fn its_policies_are_found_behind_whatever_leads_to_them() {
        let names: Vec<_> = CHARGE.policies().iter().map(Entry::name).collect();
        assert_eq!(names, ["shop::charge", "gateway", "gateway", "later"]);
        let unlisted = CHARGE.unlisted(|entry| entry.kind() == Kind::Retry);
        assert_eq!(unlisted.len(), 1, "what is not a `static` itself cannot be listed");
        assert!(unlisted[0].is(&Entry(&GATEWAY)));
    }

    #[test]
    fn r20_it_knows_how_often_its_body_runs_at_most() {
        assert_eq!(CHARGE.attempts(), Some(4));
        assert_eq!(GuardedFunction::new("once", |_| {}).attempts(), Some(1));
        let shown = CHARGE.to_string();
        assert!(shown.starts_with("shop::charge (resil-core/src/catalog/function.rs:"), "{shown}");
        assert!(shown.contains("): at most 4 attempts; retry, circuit_breaker gateway"), "{shown}");
    }
}
