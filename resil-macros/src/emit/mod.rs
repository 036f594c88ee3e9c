//! The plan as tokens: straight-line code, one short block a policy, with the body as it was written.
//!
//! Invariant: nothing is decided here. All names of ours begin with `__resil` and have mixed-site hygiene, all paths are
//! absolute, everything of ours is called as a function (a hostile trait cannot come between), and no attribute is
//! emitted where a user's import could capture it. What belongs to a policy stands at its key, so that a type error
//! about it points there.

mod asserted;
mod attempt;
mod finish;
mod gates;
mod judge;
mod repeat;
mod statics;

use crate::body::Body;
use crate::plan::{Carrier, Plan, static_name};
use crate::policies::Row;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

/// The guarded function.
pub(crate) fn function(plan: &Plan) -> TokenStream {
    let target = &plan.target;
    let (attrs, vis, sig) = (&target.attrs, &target.vis, &target.sig);
    let mut sig = sig.clone();
    judge::add_classify_bound(plan, &mut sig.generics);
    let Body { inner_attrs, items, tokens, .. } = &target.body;
    let guarded = if target.diverges() { quote!(#items #tokens) } else { body(plan) };
    // With the braces of the macro, `dead_code` would no longer see the function.
    let braces = in_braces(quote!(#inner_attrs #guarded), target.body.span);
    quote!(#(#attrs)* #vis #sig #braces)
}

/// Tokens between braces that stand at `at`.
fn in_braces(tokens: TokenStream, at: Span) -> TokenTree {
    let mut group = Group::new(Delimiter::Brace, tokens);
    group.set_span(at);
    group.into()
}

/// The span of a policy's tokens: located at its key, with our hygiene.
fn at(key: &Ident) -> Span {
    key.span().resolved_at(Span::mixed_site())
}

/// The span of tokens that belong to no policy: located at the body.
fn at_body(plan: &Plan) -> Span {
    plan.target.body.span.resolved_at(Span::mixed_site())
}

/// A reference to a `static` of the user's, at the last segment of its path: where one of the wrong type is named.
fn reference(path: &Path) -> TokenStream {
    let last = path.segments.last().map_or_else(Span::mixed_site, |segment| segment.ident.span());
    quote_spanned!(last=> &#path)
}

/// The span of what is about the return type: located there, or at the name where nothing is written.
fn at_output(plan: &Plan) -> Span {
    let at = plan.target.output().map_or_else(|| plan.target.sig.ident.span(), Spanned::span);
    at.resolved_at(Span::mixed_site())
}

/// Some of the way: statements, and then the value that they came to.
struct Part {
    statements: TokenStream,
    value: TokenStream,
}

fn body(plan: &Plan) -> TokenStream {
    let asserted = asserted::all(plan);
    let statics = statics::all(plan);
    let prelude = attempt::prelude(plan);
    let Part { statements, value } = match &plan.policies().retry {
        Some(retry) => repeat::attempts(plan, retry),
        None => once(plan),
    };
    let deadline = plan.policies().deadline.as_ref().map(|deadline| {
        let (name, span) = (static_name(deadline.key()), at(deadline.key()));
        let rt = plan.rt(span);
        quote_spanned!(span=> let __resil_deadline = #rt::DeadlineLimit::start(&#name);)
    });
    let finished =
        finish::function(plan, &Part { statements: quote!(#deadline #statements), value });
    quote!(#asserted #statics #prelude #finished)
}

/// One attempt, for functions without retry, to the value that the carrier wants.
fn once(plan: &Plan) -> Part {
    let each = &plan.gates.each;
    let pass = gates::pass(plan, each, &gates::refuse(plan));
    let admitted = gates::admitted(plan);
    let attempt = attempt::run(plan);
    let judge = judge::outcome(plan);
    let leave = gates::leave(plan, each);
    let statements = quote!(#pass #admitted #attempt #judge #leave);
    Part { statements, value: carried(plan).unwrap_or_else(|| outcome(plan)) }
}

/// What the last block left behind.
fn outcome(plan: &Plan) -> TokenStream {
    quote_spanned!(at_body(plan)=> __resil_outcome)
}

/// `__resil_outcome` as the carrier wants it, unless it is that already.
fn carried(plan: &Plan) -> Option<TokenStream> {
    let span = at_body(plan);
    let rt = plan.rt(span);
    Some(match (plan.carrier, plan.is_limited()) {
        (Carrier::Outcome, _) | (Carrier::OrRejected, true) => return None,
        (Carrier::OrRejected, false) => {
            quote_spanned!(span=> ::core::result::Result::Ok(__resil_outcome))
        }
        (Carrier::Ended, false) => {
            quote_spanned!(span=> #rt::Ended::returned(__resil_outcome, __resil_judgement))
        }
        (Carrier::Ended, true) => quote_spanned! {span=>
            match __resil_outcome {
                ::core::result::Result::Ok(__resil_outcome) => {
                    #rt::Ended::returned(__resil_outcome, __resil_judgement)
                }
                ::core::result::Result::Err(__resil_rejected) => #rt::Ended::Rejected(__resil_rejected),
            }
        },
    })
}
