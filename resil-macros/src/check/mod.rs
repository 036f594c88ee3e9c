//! Every rule that looks at more than one value: what contradicts itself, and what is hardly meant.
//!
//! A rule is a function; its name is its id, and the name of its compile-fail test. Those of a single policy stand in its
//! row. A contradiction is always an error, advice is silenced by `allow(rule_id)`.

pub(crate) mod named;
mod order;
mod shape;
mod time;
mod types;

pub(crate) use types::error_type;

use crate::args::Args;
use crate::diag::{self, Diagnostics};
use crate::plan::Plan;
use crate::policies::{self, Policies, Rules};
use crate::target::Target;
use crate::values::Pattern;
use proc_macro2::Ident;

/// Rules about what is there. They hold for whatever could be read.
pub(crate) fn present(plan: &Plan, out: &mut Diagnostics) {
    let Plan { args, target, .. } = plan;
    let Args { policies, failure, ignore, clone, order, allow, classify, .. } = args;
    unknown_rule(allow, out);
    let mut rules = Rules::new(allow, out);
    policies.check(&mut rules);

    rules.must(shape::const_fn(target));
    rules.must(shape::variadic(target));
    rules.must(shape::resilient_twice(target));
    rules.must(shape::future_returning(target));
    rules.must(shape::late_needs_sync(policies, target));
    rules.must(shape::cannot_carry_rejection(policies, target));
    rules.must(shape::returned_borrow_excludes_retry(policies, target));
    rules.must(order::repeated_in_order(order.as_ref()));
    rules.must(same_pattern_twice(policies, failure.as_ref(), ignore.as_ref()));
    for (key, pattern) in patterns(policies, failure.as_ref(), ignore.as_ref()) {
        rules.must(pattern_matches_everything(key, pattern));
    }
    rules.must(shape::classify_needs_the_error_type(classify.as_ref(), target));
    if let Some((_, names)) = clone {
        for name in names {
            rules.must(shape::clone_names_an_argument(name, target));
        }
    }
    time::all(plan, &mut rules);
}

/// Rules about what is missing. They wait until everything that is there was understood.
pub(crate) fn absent(plan: &Plan, out: &mut Diagnostics) {
    let Plan { args, target, .. } = plan;
    let Args { policies, failure, ignore, clone, order, allow, .. } = args;
    let mut rules = Rules::new(allow, out);
    rules.must(guards_nothing(policies, target));
    rules.must(unlimited_needs_end(policies));
    rules.must(shape::retry_needs_on(policies, failure.as_ref(), target));
    rules.must(clone_needs_retry(policies, clone.as_ref()));
    rules.must(pattern_decides_nothing(policies, failure.as_ref(), ignore.as_ref()));
    if let Some((key, order)) = order {
        rules.must(order::order_names_the_policies(policies, key, order));
    }
}

fn unknown_rule(allow: &[Ident], out: &mut Diagnostics) {
    for rule in allow {
        if !policies::ADVICE.iter().any(|known| rule == known) {
            let known = policies::ADVICE;
            let written = rule.to_string();
            let help = match diag::closest(&written, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("these can be silenced: {}", diag::listed(known)),
            };
            out.push(diag::error(rule, format!("`{rule}` is no rule that can be silenced"), help));
        }
    }
}

/// Every pattern that is written, by its key.
fn patterns<'a>(
    policies: &'a Policies,
    failure: Option<&'a Pattern>,
    ignore: Option<&'a Pattern>,
) -> impl Iterator<Item = (&'static str, &'a Pattern)> {
    let retry = policies.retry.as_ref();
    let breaker = policies.circuit_breaker.as_ref();
    let all = [
        ("failure", failure),
        ("ignore", ignore),
        ("on", retry.and_then(|retry| retry.on.as_ref())),
        ("abort", retry.and_then(|retry| retry.abort.as_ref())),
        ("failure", breaker.and_then(|breaker| breaker.failure.as_ref())),
        ("ignore", breaker.and_then(|breaker| breaker.ignore.as_ref())),
    ];
    all.into_iter().filter_map(|(key, pattern)| Some((key, pattern?)))
}

fn pattern_matches_everything(key: &str, pattern: &Pattern) -> syn::Result<()> {
    match pattern.mere_name() {
        Some(name) => Err(diag::error(
            name,
            format!("as a pattern, `{name}` matches every outcome, `Ok` too"),
            format!(
                "to ask a function: `{key} = Err(e) if {name}(e)`; for all of them: `{key} = _`"
            ),
        )),
        None => Ok(()),
    }
}

fn same_pattern_twice(
    policies: &Policies,
    failure: Option<&Pattern>,
    ignore: Option<&Pattern>,
) -> syn::Result<()> {
    let (on, abort) = match &policies.retry {
        Some(retry) => (retry.on.as_ref(), retry.abort.as_ref()),
        None => (None, None),
    };
    let (own_failure, own_ignore) = match &policies.circuit_breaker {
        Some(breaker) => (breaker.failure.as_ref(), breaker.ignore.as_ref()),
        None => (None, None),
    };
    let whole = [("abort", abort), ("ignore", ignore), ("on", on), ("failure", failure)];
    let own = [("ignore", own_ignore), ("failure", own_failure)];
    for list in [&whole[..], &own[..]] {
        for (index, (winner, first)) in list.iter().enumerate() {
            for (loser, second) in &list[index + 1..] {
                // What `on` matches is a failure anyway.
                if let (Some(first), Some(second)) = (first, second)
                    && first.equals(second)
                    && (*winner, *loser) != ("on", "failure")
                {
                    return Err(diag::error(
                        second,
                        format!("`{winner}` has the same pattern and wins over `{loser}`"),
                        "remove one of the two",
                    ));
                }
            }
        }
    }
    Ok(())
}

fn clone_needs_retry(policies: &Policies, clone: Option<&(Ident, Vec<Ident>)>) -> syn::Result<()> {
    match clone {
        Some((key, _)) if policies.retry.is_none() => Err(diag::error(
            key,
            "`clone` does nothing where the body runs once",
            "remove it, or add `retry(max = 3)`",
        )),
        _ => Ok(()),
    }
}

fn pattern_decides_nothing(
    policies: &Policies,
    failure: Option<&Pattern>,
    ignore: Option<&Pattern>,
) -> syn::Result<()> {
    let is_asked = policies.retry.is_some()
        || policies.circuit_breaker.is_some()
        || policies.fallback.is_some();
    for (key, pattern) in [("failure", failure), ("ignore", ignore)] {
        if let Some(pattern) = pattern.filter(|_| !is_asked) {
            let wrong = format!("no policy of this function asks for `{key}`");
            return Err(diag::error(
                pattern,
                wrong,
                "remove it, or add a `circuit_breaker`, `retry` or `fallback`",
            ));
        }
    }
    Ok(())
}

fn guards_nothing(policies: &Policies, target: &Target) -> syn::Result<()> {
    if !policies.keys().is_empty() {
        return Ok(());
    }
    Err(diag::error(
        &target.sig.ident,
        "this `#[resilient]` has no policy, so that nothing is guarded",
        "`#[resilient(retry(max = 3))]`, for one",
    ))
}

fn unlimited_needs_end(policies: &Policies) -> syn::Result<()> {
    let endless = policies.retry.as_ref().and_then(policies::Retry::endless);
    match (endless, &policies.deadline) {
        (Some(word), None) => Err(diag::error(
            word,
            "nothing ends these attempts",
            "`retry(max = unlimited, within = \"2s\")`, or a `deadline`",
        )),
        _ => Ok(()),
    }
}
