//! Rules that need the numbers of a policy that is declared elsewhere.
//!
//! `registry!` leaves the options beside each `static`, so that the compiler can compare; a hand-written `static` has none
//! beside it, and is left alone. Each function is the rule of its name, and what it says stands at the policy's key.

use super::time;
use crate::plan::{Plan, shared_path};
use crate::policies::{
    BreakerSettings, BulkheadSettings, LimiterSettings, Row, Settings, Shared, Source,
};
use crate::values::{Count, Duration};
use proc_macro2::{Ident, Span};
use syn::Path;

/// What the compiler is to assert.
pub(crate) struct Assertion {
    /// Where it stands.
    pub(crate) at: Span,
    pub(crate) holds: Holds,
    pub(crate) wrong: String,
    pub(crate) help: String,
}

/// What should hold.
pub(crate) enum Holds {
    SlowCallBelow(Named, Duration),
    WaitBelow(Wait, Duration),
    WaitsBelow([Wait; 2], Duration),
    CostWithinBurst(Named, Count),
}

/// A policy whose options stand beside it.
pub(crate) struct Named {
    /// The module that it is in.
    pub(crate) module: Path,
    pub(crate) name: Ident,
    pub(crate) kind: &'static str,
    /// The type of its options in the core.
    pub(crate) options: &'static str,
}

/// How long a gate has a call wait at most.
pub(crate) enum Wait {
    Written(Duration),
    OfLimiter(Named),
    OfBulkhead(Named),
}

/// All that are to be emitted.
pub(crate) fn assertions(plan: &Plan) -> Vec<Assertion> {
    let each = [
        slow_call_reaches_timeout(plan),
        slow_call_reaches_deadline(plan),
        cost_over_burst(plan),
        limiter_wait_reaches_deadline(plan),
        bulkhead_wait_reaches_deadline(plan),
        waits_reach_deadline(plan),
    ];
    each.into_iter().flatten().collect()
}

fn slow_call_reaches_timeout(plan: &Plan) -> Option<Assertion> {
    let (key, breaker) = breaker(plan)?;
    let after = time::timeout(plan.policies())?;
    let applies = time::breaker_sees_attempts(plan);
    (applies && !is_silenced(plan, "slow_call_reaches_timeout")).then(|| Assertion {
        at: key.span(),
        wrong: time::never_slow(plan, &format!("call of `{}`", breaker.name)),
        help: format!(
            "a `timeout` above the `slow_call` of `{}`, or `allow(slow_call_reaches_timeout)`",
            breaker.name
        ),
        holds: Holds::SlowCallBelow(breaker, after),
    })
}

fn slow_call_reaches_deadline(plan: &Plan) -> Option<Assertion> {
    let (key, breaker) = breaker(plan)?;
    let after = time::deadline(plan.policies())?;
    let applies = time::slow_is_ended_by_deadline(plan);
    (applies && !is_silenced(plan, "slow_call_reaches_deadline")).then(|| Assertion {
        at: key.span(),
        wrong: format!(
            "no call of `{}` is ever slow: the `deadline` ends it before `slow_call` is reached",
            breaker.name
        ),
        help: format!(
            "a `deadline` above the `slow_call` of `{}`, or `allow(slow_call_reaches_deadline)`",
            breaker.name
        ),
        holds: Holds::SlowCallBelow(breaker, after),
    })
}

fn cost_over_burst(plan: &Plan) -> Option<Assertion> {
    let (_, limiter) = limiter(plan)?;
    let cost = plan.policies().rate_limiter.as_ref()?.written_cost()?;
    Some(Assertion {
        at: cost.span,
        wrong: format!(
            "this call never passes: it costs more than the `burst` of `{}`",
            limiter.name
        ),
        help: format!("a lower `cost`, or `burst = {}` or more for `{}`", cost.value, limiter.name),
        holds: Holds::CostWithinBurst(limiter, cost),
    })
}

fn limiter_wait_reaches_deadline(plan: &Plan) -> Option<Assertion> {
    let (key, limiter) = limiter(plan)?;
    let name = limiter.name.to_string();
    wait_reaches_deadline(plan, key, &name, Wait::OfLimiter(limiter))
}

fn bulkhead_wait_reaches_deadline(plan: &Plan) -> Option<Assertion> {
    let (key, bulkhead) = bulkhead(plan)?;
    let name = bulkhead.name.to_string();
    wait_reaches_deadline(plan, key, &name, Wait::OfBulkhead(bulkhead))
}

fn wait_reaches_deadline(plan: &Plan, key: &Ident, name: &str, wait: Wait) -> Option<Assertion> {
    let deadline = time::deadline(plan.policies())?;
    (!is_silenced(plan, "wait_reaches_deadline")).then(|| Assertion {
        at: key.span(),
        holds: Holds::WaitBelow(wait, deadline),
        wrong: format!(
            "a call that waits as long as `{name}` lets it has no time left: the `deadline` is there first"
        ),
        help: format!(
            "a `deadline` above the `wait` of `{name}`, or `allow(wait_reaches_deadline)`"
        ),
    })
}

/// Of two that are written here, `time` speaks.
fn waits_reach_deadline(plan: &Plan) -> Option<Assertion> {
    let policies = plan.policies();
    let deadline = time::deadline(policies)?;
    let (limiter, bulkhead) = (limiter(plan), bulkhead(plan));
    let key = bulkhead.as_ref().or(limiter.as_ref())?.0;
    let at_limiter = limiter.map(|(_, limiter)| Wait::OfLimiter(limiter));
    let at_bulkhead = bulkhead.map(|(_, bulkhead)| Wait::OfBulkhead(bulkhead));
    let waits = [
        at_limiter.or(time::limiter_wait(policies).map(Wait::Written))?,
        at_bulkhead.or(time::bulkhead_wait(policies).map(Wait::Written))?,
    ];
    (!is_silenced(plan, "waits_reach_deadline")).then(|| Assertion {
        at: key.span(),
        wrong: "a call that waits at both, limiter and bulkhead, has no time left: the `deadline` is there first"
            .to_owned(),
        help: "a longer `deadline`, a shorter `wait` in one of the two, or `allow(waits_reach_deadline)`"
            .to_owned(),
        holds: Holds::WaitsBelow(waits, deadline),
    })
}

fn breaker(plan: &Plan) -> Option<(&Ident, Named)> {
    let row = plan.policies().circuit_breaker.as_ref()?;
    named::<_, BreakerSettings>(plan, row, &row.source)
}

fn limiter(plan: &Plan) -> Option<(&Ident, Named)> {
    let row = plan.policies().rate_limiter.as_ref()?;
    named::<_, LimiterSettings>(plan, row, &row.source)
}

fn bulkhead(plan: &Plan) -> Option<(&Ident, Named)> {
    let row = plan.policies().bulkhead.as_ref()?;
    named::<_, BulkheadSettings>(plan, row, &row.source)
}

fn named<'a, R: Row, S: Settings>(
    plan: &Plan,
    row: &'a R,
    source: &Source<S>,
) -> Option<(&'a Ident, Named)> {
    let shared = source.shared()?;
    if let Shared::Path(path) = shared
        && is_in_type(path)
    {
        return None;
    }
    let mut module = shared_path(&plan.args, S::KIND, shared);
    let name = module.segments.pop()?.ident;
    module.segments.pop_punct();
    Some((row.key(), Named { module, name, kind: S::KIND, options: S::OPTIONS_TYPE }))
}

/// Whether it is a constant of a type, beside which nothing can stand.
pub(crate) fn is_in_type(path: &Path) -> bool {
    let before = path.segments.iter().rev().nth(1);
    before.is_some_and(|segment| segment.ident.to_string().starts_with(char::is_uppercase))
}

fn is_silenced(plan: &Plan, rule: &str) -> bool {
    plan.args.allow.iter().any(|allowed| allowed == rule)
}
