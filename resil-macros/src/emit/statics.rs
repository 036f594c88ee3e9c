//! What a function has of its own: one `static` an inline policy, listed in the catalogue, and one for the function itself, which
//! names them and those it shares. No call touches that one.

use super::{at, at_body, reference};
use crate::check::named::is_in_type;
use crate::plan::{Gate, Plan, static_name};
use crate::policies::{RateLimiter, Row};
use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::Path;

/// All of them, outermost policy first.
pub(super) fn all(plan: &Plan) -> TokenStream {
    let policies = plan.policies();
    let statics = [
        policies.fallback.as_ref().and_then(|row| one(plan, row)),
        policies.deadline.as_ref().and_then(|row| one(plan, row)),
        policies.retry.as_ref().and_then(|row| one(plan, row)),
        policies.circuit_breaker.as_ref().and_then(|row| one(plan, row)),
        policies.rate_limiter.as_ref().and_then(|row| one(plan, row)),
        policies.bulkhead.as_ref().and_then(|row| one(plan, row)),
        policies.timeout.as_ref().and_then(|row| one(plan, row)),
    ];
    let statics = statics.into_iter().flatten();
    let function = function(plan);
    quote!(#(#statics)* #function)
}

/// The function, for the catalogue.
fn function(plan: &Plan) -> TokenStream {
    let span = at_body(plan);
    let (rt, name) = (plan.rt(span), &plan.name);
    let members = members(plan);
    let members = members.iter().map(reference);
    let asynchronous = plan.is_async().then(|| quote_spanned!(span=> .asynchronous()));
    let outside = plan.breaker.as_ref().is_some_and(|breaker| breaker.outside);
    let outside = outside.then(|| quote_spanned!(span=> .breaker_outside()));
    let cost = plan.policies().rate_limiter.as_ref().and_then(RateLimiter::written_cost);
    let cost = cost.map(|cost| Literal::u32_unsuffixed(cost.value));
    let cost = cost.map(|cost| quote_spanned!(span=> .cost(#cost)));
    let allowed = plan.args.allow.iter().map(|rule| Literal::string(&rule.to_string()));
    let allow =
        (!plan.args.allow.is_empty()).then(|| quote_spanned!(span=> .allow(&[#(#allowed),*])));
    quote_spanned! {span=>
        #rt::__list_function!(#name, [#(#members),*] #asynchronous #outside #cost #allow);
    }
}

/// The paths of the function's policies, outermost first. What is a constant of a type cannot be named outside of it.
fn members(plan: &Plan) -> Vec<Path> {
    fn own<R: Row>(row: Option<&R>) -> Option<Path> {
        row.map(|row| static_name(row.key()).into())
    }
    let policies = plan.policies();
    let gates = |gates: &[Gate]| gates.iter().map(|gate| gate.path.clone()).collect::<Vec<_>>();
    [own(policies.fallback.as_ref()), own(policies.deadline.as_ref())]
        .into_iter()
        .flatten()
        .chain(gates(&plan.gates.around))
        .chain(own(policies.retry.as_ref()))
        .chain(plan.budget.clone())
        .chain(gates(&plan.gates.each))
        .chain(own(policies.timeout.as_ref()))
        .filter(|path| !is_in_type(path))
        .collect()
}

fn one<R: Row>(plan: &Plan, row: &R) -> Option<TokenStream> {
    let span = at(row.key());
    let (krate, rt) = (plan.krate(span), plan.rt(span));
    let (ty, build) = row.build(&rt, &plan.name)?;
    let name = static_name(row.key());
    Some(quote_spanned! {span=>
        static #name: #ty = #build;
        #krate::register!(#name);
    })
}
