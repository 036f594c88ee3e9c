//! What a function has of its own: one `static` an inline policy, listed in the catalogue.

use super::at;
use crate::plan::{Plan, static_name};
use crate::policies::Row;
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

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
    quote!(#(#statics)*)
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
