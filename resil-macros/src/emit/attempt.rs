//! One run of the body, and the arguments it runs with.

use super::{at, at_body, at_output, in_braces};
use crate::body::Body;
use crate::plan::{Forced, Plan, static_name};
use crate::policies::Row;
use crate::policies::retry::Attempts;
use crate::policies::timeout::After;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

/// Before anything else: what is to be cloned is put aside.
pub(super) fn prelude(plan: &Plan) -> TokenStream {
    let span = at_body(plan);
    let rt = plan.rt(span);
    let spares = plan.arguments.cloned.iter().map(|(name, _)| {
        let spare = spare(name);
        quote_spanned!(span=> let mut #spare = #rt::Spare::new(#name);)
    });
    quote!(#(#spares)*)
}

fn spare(name: &Ident) -> Ident {
    format_ident!(
        "__resil_spare_{}",
        name.unraw(),
        span = name.span().resolved_at(proc_macro2::Span::mixed_site())
    )
}

/// At the beginning of each attempt: arguments are borrowed anew or cloned, and the attempt gets its name.
pub(super) fn rebind(plan: &Plan) -> TokenStream {
    let Some(retry) = &plan.policies().retry else { return TokenStream::new() };
    let span = at(retry.key());
    let rt = plan.rt(span);
    let reborrowed = plan.arguments.reborrowed.iter().map(|(name, mutable)| {
        let mutable = mutable.then(|| quote!(mut));
        quote_spanned!(span=> let #mutable #name = &mut *#name;)
    });
    let more = match retry.attempts() {
        Attempts::AtMost(most) => {
            let most = proc_macro2::Literal::u32_unsuffixed(most);
            quote_spanned!(span=> #rt::Attempts::number(&__resil_attempts) < #most)
        }
        Attempts::Unlimited => quote_spanned!(span=> true),
    };
    let cloned = plan.arguments.cloned.iter().map(|(name, mutable)| {
        let spare = spare(name);
        let mutable = mutable.then(|| quote!(mut));
        quote_spanned!(span=> let #mutable #name = #rt::Spare::give(&mut #spare, #more);)
    });
    let named = retry
        .attempt()
        .map(|name| quote_spanned!(span=> let #name = #rt::Attempts::number(&__resil_attempts);));
    quote!(#(#reborrowed)* #(#cloned)* #named)
}

/// `let __resil_outcome = …`: what the body returned, or which limit ended it.
pub(super) fn run(plan: &Plan) -> TokenStream {
    let returns = &plan.returns;
    let watched = watched(plan);
    // Where a body may run again, a value that it moves is said to move a second time: at `retry`. Elsewhere its frame
    // is the user's own, so that clippy looks at the body as it does without us.
    let (span, frame) = match &plan.policies().retry {
        Some(retry) => (at(retry.key()), at(retry.key())),
        None => (at_body(plan), plan.target.body.span),
    };
    let rt = plan.rt(span);
    let Body { items, tokens, span: braces, .. } = &plan.target.body;
    if !plan.is_async() {
        let block = in_braces(quote!(#items #tokens), *braces);
        let arrow = quote_spanned!(span=> -> #returns);
        let body = quote_spanned!(frame=> || #arrow #block);
        return match limits(plan) {
            Some(limits) => timed(
                plan,
                &quote_spanned!(span=> #rt::call_limited(#watched, #limits, #body)),
                span,
            ),
            None => {
                quote_spanned!(span=> let __resil_outcome: #returns = #rt::call(#watched, #body);)
            }
        };
    }
    let edge = edge(plan);
    // Spliced, since a block within the block would be `unused_braces`.
    let block = in_braces(quote!(#items #edge #tokens), *braces);
    let body = quote_spanned!(frame=> async #block);
    if let Some(limits) = limits(plan) {
        quote_spanned! {span=>
            let __resil_outcome: ::core::result::Result<#returns, #rt::Rejected> =
                #rt::limited(#watched, #limits, #body).await;
        }
    } else {
        quote_spanned!(span=> let __resil_outcome: #returns = #rt::attempt(#watched, #body).await;)
    }
}

/// What a sync body came to, by the time that it took: its type says which outcomes are not worth keeping.
fn timed(plan: &Plan, call: &TokenStream, span: Span) -> TokenStream {
    let rt = plan.rt(span);
    let (pattern, method) = if plan.keeps_late() {
        // Only who judges asks.
        let late = if plan.is_judged() { quote_spanned!(span=> __resil_late) } else { quote!(_) };
        (quote_spanned!(span=> (__resil_outcome, #late)), quote_spanned!(span=> __resil_keep))
    } else {
        (quote_spanned!(span=> __resil_outcome), quote_spanned!(span=> __resil_end))
    };
    quote_spanned! {span=>
        let __resil_timed = #call;
        let #pattern = { use #rt::TimedAs as _; __resil_timed.#method() };
    }
}

/// Whom the attempt tells when it runs, and who knows when it was let through.
fn watched(plan: &Plan) -> TokenStream {
    let begun = plan.policies().rate_limiter.as_ref().filter(|_| plan.begins_at_a_gate());
    let begun = begun.map(|row| {
        let span = at(row.key());
        let rt = plan.rt(span);
        quote_spanned!(span=> #rt::Begun(__resil_begun))
    });
    let Some((breaker, row)) = plan.breaker.as_ref().zip(plan.policies().circuit_breaker.as_ref())
    else {
        let begun = begun.or_else(|| with_the_call(plan));
        return begun.map_or_else(|| quote!(&mut ()), |begun| quote!(&mut #begun));
    };
    let span = at(row.key());
    let rt = plan.rt(span);
    let permit = quote_spanned!(span=> &mut __resil_circuit_breaker);
    match begun {
        // One of this attempt knows by itself when that began. One of all attempts knows it of the first.
        _ if !breaker.outside || !plan.is_limited() => permit,
        Some(begun) => quote_spanned!(span=> &mut (#begun, #permit)),
        None => quote_spanned!(span=> &mut #rt::Around(#permit)),
    }
}

/// Where nothing stands between the beginning of the call and that of its only attempt, the clock is read once for both.
fn with_the_call(plan: &Plan) -> Option<TokenStream> {
    let policies = plan.policies();
    let deadline = policies.deadline.as_ref().filter(|_| !plan.is_async())?;
    if policies.retry.is_some() || policies.bulkhead.is_some() || policies.rate_limiter.is_some() {
        return None;
    }
    let span = at(deadline.key());
    let rt = plan.rt(span);
    Some(quote_spanned!(span=> #rt::Begun(#rt::CallDeadline::begun(&__resil_deadline))))
}

/// The way out that nobody takes: it gives the block its type, and makes it borrow what it mentions exclusively.
fn edge(plan: &Plan) -> TokenStream {
    let returns = &plan.returns;
    // At the return type: it is what the block's type is inferred from.
    let span = at_output(plan);
    let rt = plan.rt(span);
    let forced = plan.arguments.forced.iter().map(|Forced { name, attrs, through }| {
        let place = if *through { quote_spanned!(span=> *#name) } else { quote!(#name) };
        let forced = quote_spanned!(span=> _ = &mut #place;);
        if attrs.is_empty() { forced } else { quote_spanned!(span=> #(#attrs)* { #forced }) }
    });
    quote_spanned! {span=>
        if let ::core::option::Option::Some(__resil_edge) = #rt::edge::<#returns>() {
            #(#forced)*
            return __resil_edge;
        }
    }
}

fn limits(plan: &Plan) -> Option<TokenStream> {
    let timeout = plan.policies().timeout.as_ref().map(|timeout| {
        let name = static_name(timeout.key());
        let span = at(timeout.key());
        let rt = plan.rt(span);
        match &timeout.after {
            After::Written(_) => quote_spanned!(span=> #rt::Timeout::limit(&#name)),
            After::Computed(after) => quote_spanned!(span=> #rt::Timeout::limit_of(&#name, #after)),
        }
    });
    let deadline = plan
        .policies()
        .deadline
        .as_ref()
        .map(|deadline| quote_spanned!(at(deadline.key())=> &__resil_deadline));
    match (timeout, deadline) {
        (Some(timeout), Some(deadline)) => Some(quote!((#timeout, #deadline))),
        (Some(limit), None) | (None, Some(limit)) => Some(limit),
        (None, None) => None,
    }
}
