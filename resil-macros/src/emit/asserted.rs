//! What the compiler is asked to compare: rules over the options of policies that are declared elsewhere.

use crate::check::named::{Assertion, Holds, Named, Wait, assertions};
use crate::plan::Plan;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

/// All of them, each for itself, so that all that fail are told.
pub(super) fn all(plan: &Plan) -> TokenStream {
    let each = assertions(plan).into_iter().map(|assertion| one(plan, &assertion));
    quote!(#(#each)*)
}

fn one(plan: &Plan, Assertion { at, holds, wrong, help }: &Assertion) -> TokenStream {
    let span = at.resolved_at(Span::mixed_site());
    let rt = plan.rt(span);
    let says = format!("{wrong}\nhelp: {help}");
    // Each under the name of its kind, by which the condition calls it.
    let options = |named: &Named| options(named, &rt, span);
    let (options, holds) = match holds {
        Holds::SlowCallBelow(breaker, limit) => (
            options(breaker),
            quote_spanned!(span=> #rt::slow_call_below(__resil_circuit_breaker, #limit)),
        ),
        Holds::CostWithinBurst(limiter, cost) => {
            let cost = Literal::u32_unsuffixed(cost.value);
            (
                options(limiter),
                quote_spanned!(span=> #rt::cost_within_burst(__resil_rate_limiter, #cost)),
            )
        }
        Holds::WaitBelow(wait, deadline) => {
            let (options, wait) = longest(wait, &rt, span);
            (options, quote_spanned!(span=> #rt::wait_below(#wait, #deadline)))
        }
        Holds::WaitsBelow([limiter, bulkhead], deadline) => {
            let (limiter, at_limiter) = longest(limiter, &rt, span);
            let (bulkhead, at_bulkhead) = longest(bulkhead, &rt, span);
            let waits = quote_spanned!(span=> #at_limiter, #at_bulkhead);
            (quote!(#limiter #bulkhead), quote_spanned!(span=> #rt::waits_below(#waits, #deadline)))
        }
    };
    quote_spanned! {span=>
        const _: () = {
            #options
            ::core::assert!(#holds, #says);
        };
    }
}

/// How long a gate has a call wait at most, and the options that this is taken from.
fn longest(wait: &Wait, rt: &TokenStream, span: Span) -> (TokenStream, TokenStream) {
    match wait {
        Wait::Written(wait) => (TokenStream::new(), quote_spanned!(span=> #wait)),
        Wait::OfLimiter(limiter) => (
            options(limiter, rt, span),
            quote_spanned!(span=> #rt::limiter_wait(__resil_rate_limiter)),
        ),
        Wait::OfBulkhead(bulkhead) => (
            options(bulkhead, rt, span),
            quote_spanned!(span=> #rt::bulkhead_wait(__resil_bulkhead)),
        ),
    }
}

/// `registry!` leaves the options of a policy in a module of its name. A hand-written `static` has none, and a misspelt
/// name is to be one error only: so a type of that name stands by, which the module hides if it is there.
fn options(named: &Named, rt: &TokenStream, span: Span) -> TokenStream {
    let Named { module, name, kind, options } = named;
    let name = Ident::new(&name.to_string(), name.span().resolved_at(Span::mixed_site()));
    let (bound, options) =
        (format_ident!("__resil_{kind}", span = span), Ident::new(options, span));
    quote_spanned! {span=>
        let #bound = {
            struct #name;
            impl #name {
                const OPTIONS: ::core::option::Option<#rt::#options> = ::core::option::Option::None;
            }
            {
                use #module::*;
                #name::OPTIONS
            }
        };
    }
}
