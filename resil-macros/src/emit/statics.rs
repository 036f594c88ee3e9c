//! What a function has of its own: one `static` an inline policy, listed in the catalogue, and what the compiler is to
//! compare.

use super::at;
use crate::plan::{Breaker, Plan, static_name};
use crate::policies::timeout::After;
use crate::policies::{CircuitBreaker, Row};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// All of them, outermost policy first.
pub(super) fn all(plan: &Plan) -> TokenStream {
    let policies = plan.policies();
    let statics = [
        policies.fallback.as_ref().and_then(|row| one(plan, row)),
        policies.deadline.as_ref().and_then(|row| one(plan, row)),
        policies.retry.as_ref().and_then(|row| one(plan, row)),
        policies.circuit_breaker.as_ref().and_then(|row| one(plan, row)),
        policies.timeout.as_ref().and_then(|row| one(plan, row)),
    ];
    let statics = statics.into_iter().flatten();
    let compared = plan.breaker.as_ref().filter(|breaker| breaker.compares).and_then(|breaker| {
        slow_call_reaches_timeout(plan, breaker, policies.circuit_breaker.as_ref()?)
    });
    quote!(#compared #(#statics)*)
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

/// `registry!` leaves the options of each breaker in a module of its name. A hand-written `static` has none, and a
/// misspelt name is to be one error only: so a type of that name stands by, which the module hides if it is there.
fn slow_call_reaches_timeout(
    plan: &Plan,
    breaker: &Breaker,
    row: &CircuitBreaker,
) -> Option<TokenStream> {
    let After::Written(after) = &plan.policies().timeout.as_ref()?.after else { return None };
    let mut registry = breaker.path.clone();
    let written = registry.segments.pop()?.ident;
    registry.segments.pop_punct();
    let name = Ident::new(&written.to_string(), written.span().resolved_at(Span::mixed_site()));
    let span = at(row.key());
    let rt = plan.rt(span);
    let wrong = format!(
        "no call of `{name}` is ever slow here: `timeout` ends it before `slow_call` is reached\n\
         help: a `timeout` above the `slow_call` of `{name}`, or `allow(slow_call_reaches_timeout)`"
    );
    Some(quote_spanned! {span=>
        const _: () = {
            struct #name;
            impl #name {
                const OPTIONS: ::core::option::Option<#rt::BreakerOptions> = ::core::option::Option::None;
            }
            {
                use #registry::*;
                ::core::assert!(#rt::slow_call_below(#name::OPTIONS, #after), #wrong);
            }
        };
    })
}
