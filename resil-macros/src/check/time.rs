//! Rules about limits of time: which of two is there first.
//!
//! Of a named policy they ask the compiler, see `named`.

use crate::diag::error_at;
use crate::plan::Plan;
use crate::policies::timeout::After;
use crate::policies::{Policies, Retry, Rules};
use crate::values::Duration;

pub(super) fn all(plan: &Plan, rules: &mut Rules<'_>) {
    let policies = plan.policies();
    rules.should("slow_call_reaches_timeout", slow_call_reaches_timeout(plan));
    rules.should("slow_call_reaches_deadline", slow_call_reaches_deadline(plan));
    rules.should("timeout_reaches_deadline", timeout_reaches_deadline(policies));
    rules.should("within_reaches_deadline", within_reaches_deadline(policies));
    for wait in [limiter_wait(policies), bulkhead_wait(policies)].into_iter().flatten() {
        rules.should("wait_reaches_deadline", wait_reaches_deadline(wait, policies));
    }
    rules.should("waits_reach_deadline", waits_reach_deadline(policies));
}

/// The timeout, where it is known.
pub(super) fn timeout(policies: &Policies) -> Option<Duration> {
    match policies.timeout.as_ref()?.after {
        After::Written(after) => Some(after),
        After::Computed(_) => None,
    }
}

pub(super) fn deadline(policies: &Policies) -> Option<Duration> {
    policies.deadline.as_ref().map(|deadline| deadline.after)
}

/// What the function itself says about the wait at its limiter.
pub(super) fn limiter_wait(policies: &Policies) -> Option<Duration> {
    policies.rate_limiter.as_ref()?.source.inline()?.wait
}

/// What the function itself says about the wait at its bulkhead.
pub(super) fn bulkhead_wait(policies: &Policies) -> Option<Duration> {
    policies.bulkhead.as_ref()?.source.inline()?.wait
}

fn slow_call(policies: &Policies) -> Option<Duration> {
    policies.circuit_breaker.as_ref()?.source.inline()?.slow_call
}

/// Whether the breaker measures each attempt, which is what `timeout` limits.
pub(super) fn breaker_sees_attempts(plan: &Plan) -> bool {
    plan.breaker.as_ref().is_some_and(|breaker| !breaker.outside)
}

/// Why slowness means nothing beside this `timeout`. A sync call is not ended by it, but has failed all the same.
pub(super) fn never_slow(plan: &Plan, calls: &str) -> String {
    if plan.is_async() {
        format!("no {calls} is ever slow: `timeout` ends it before `slow_call` is reached")
    } else {
        format!(
            "a {calls} that is slow has failed already: `timeout` comes no later than `slow_call`"
        )
    }
}

fn slow_call_reaches_timeout(plan: &Plan) -> syn::Result<()> {
    let policies = plan.policies();
    match (slow_call(policies), timeout(policies)) {
        (Some(slow_call), Some(timeout))
            if slow_call.ns >= timeout.ns && breaker_sees_attempts(plan) =>
        {
            Err(error_at(
                slow_call.span,
                never_slow(plan, "call"),
                "a `slow_call` below the `timeout`, or `allow(slow_call_reaches_timeout)`",
            ))
        }
        _ => Ok(()),
    }
}

/// Only an async call is ended by its deadline; and where there is a shorter timeout, that one is compared.
fn slow_call_reaches_deadline(plan: &Plan) -> syn::Result<()> {
    let policies = plan.policies();
    match (slow_call(policies), deadline(policies)) {
        (Some(slow_call), Some(deadline))
            if slow_call.ns >= deadline.ns && slow_is_ended_by_deadline(plan) =>
        {
            Err(error_at(
                slow_call.span,
                "no call is ever slow: the `deadline` ends it before `slow_call` is reached",
                "a `slow_call` below the `deadline`, or `allow(slow_call_reaches_deadline)`",
            ))
        }
        _ => Ok(()),
    }
}

pub(super) fn slow_is_ended_by_deadline(plan: &Plan) -> bool {
    let by_timeout = breaker_sees_attempts(plan) && timeout(plan.policies()).is_some();
    plan.is_async() && !by_timeout
}

fn timeout_reaches_deadline(policies: &Policies) -> syn::Result<()> {
    match (timeout(policies), deadline(policies)) {
        (Some(after), Some(deadline)) if after.ns >= deadline.ns => Err(error_at(
            after.span,
            "this `timeout` never ends an attempt: the `deadline` is there first",
            "a `timeout` below the `deadline`, or leave it out, or `allow(timeout_reaches_deadline)`",
        )),
        _ => Ok(()),
    }
}

fn within_reaches_deadline(policies: &Policies) -> syn::Result<()> {
    let within = policies.retry.as_ref().and_then(Retry::within);
    match (within, deadline(policies)) {
        (Some(within), Some(deadline)) if within.ns >= deadline.ns => Err(error_at(
            within.span,
            "this `within` never ends the attempts: the `deadline` is there first",
            "a `within` below the `deadline`, or leave it out, or `allow(within_reaches_deadline)`",
        )),
        _ => Ok(()),
    }
}

fn wait_reaches_deadline(wait: Duration, policies: &Policies) -> syn::Result<()> {
    match deadline(policies) {
        Some(deadline) if wait.ns >= deadline.ns => Err(error_at(
            wait.span,
            "a call that waits so long has no time left: the `deadline` is there first",
            "a `wait` below the `deadline`, or `allow(wait_reaches_deadline)`",
        )),
        _ => Ok(()),
    }
}

/// Each alone is short enough, but a call may have to wait for both.
fn waits_reach_deadline(policies: &Policies) -> syn::Result<()> {
    let waits = (limiter_wait(policies), bulkhead_wait(policies), deadline(policies));
    let (Some(first), Some(second), Some(deadline)) = waits else { return Ok(()) };
    let alone = first.ns.max(second.ns) < deadline.ns;
    if alone && first.ns.saturating_add(second.ns) >= deadline.ns {
        return Err(error_at(
            second.span,
            "a call that waits at both, limiter and bulkhead, has no time left: the `deadline` is there first",
            "a shorter `wait` in one of the two, or `allow(waits_reach_deadline)`",
        ));
    }
    Ok(())
}
