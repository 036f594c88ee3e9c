//! The plan as tokens: straight-line code, one short block a policy, with the body as it was written.
//!
//! Invariant: nothing is decided here. All names of ours begin with `__resil` and have mixed-site hygiene, all paths are
//! absolute, everything of ours is called as a function (a hostile trait cannot come between), and no attribute is
//! emitted where a user's import could capture it. What belongs to a policy stands at its key, so that a type error
//! about it points there.

mod attempt;
mod finish;
mod judge;
mod statics;

use crate::body::Body;
use crate::plan::{Carrier, Plan, static_name};
use crate::policies::Row;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
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
    let statics = statics::all(plan);
    let prelude = attempt::prelude(plan);
    let Part { statements, value } = match &plan.policies().retry {
        Some(retry) => attempts(plan, retry.key()),
        None => once(plan),
    };
    let deadline = plan.policies().deadline.as_ref().map(|deadline| {
        let (name, span) = (static_name(deadline.key()), at(deadline.key()));
        let rt = plan.rt(span);
        quote_spanned!(span=> let __resil_deadline = #rt::DeadlineLimit::start(&#name);)
    });
    let finished =
        finish::function(plan, &Part { statements: quote!(#deadline #statements), value });
    quote!(#statics #prelude #finished)
}

/// One attempt, for functions without retry, to the value that the carrier wants.
fn once(plan: &Plan) -> Part {
    let acquire = acquire(plan, &refuse(plan));
    let attempt = attempt::run(plan);
    let judge = judge::outcome(plan);
    let settle = settle(plan);
    let statements = quote!(#acquire #attempt #judge #settle);
    Part { statements, value: carried(plan).unwrap_or_else(|| outcome(plan)) }
}

/// Attempts in a loop, to the value that the carrier wants.
fn attempts(plan: &Plan, key: &Ident) -> Part {
    let (name, span) = (static_name(key), at(key));
    let rt = plan.rt(span);
    let start = quote_spanned!(span=> let mut __resil_attempts = #rt::Retry::start(&#name););
    let outside = plan.breaker.as_ref().is_some_and(|breaker| breaker.outside);
    let each = one_of_many(plan, outside);
    if outside {
        let acquire = acquire(plan, &refuse(plan));
        let settle = settle(plan);
        let statements = quote_spanned! {span=>
            #acquire
            #start
            let (__resil_outcome, __resil_verdict) = loop { #each };
            #settle
        };
        return Part { statements, value: outcome(plan) };
    }
    let held = plan
        .holds
        .then(|| quote_spanned!(span=> let mut __resil_held = ::core::option::Option::None;));
    Part { statements: quote!(#start #held), value: quote_spanned!(span=> loop { #each }) }
}

/// What happens in each round of the loop.
fn one_of_many(plan: &Plan, outside: bool) -> TokenStream {
    let retry = plan.policies().retry.as_ref().expect("called for retry only");
    let span = at(retry.key());
    let rt = plan.rt(span);
    let (acquire, settle) = if outside {
        (TokenStream::new(), TokenStream::new())
    } else {
        (acquire(plan, &refuse_again(plan, span)), settle(plan))
    };
    let release = plan.holds.then(|| quote_spanned!(span=> #rt::release(&mut __resil_held);));
    let rebind = attempt::rebind(plan);
    let attempt = attempt::run(plan);
    let judge = judge::outcome(plan);
    let carry = carried(plan).map(|value| quote_spanned!(span=> let __resil_outcome = #value;));
    let over = if outside {
        quote_spanned!(span=> (__resil_outcome, __resil_verdict))
    } else {
        quote_spanned!(span=> __resil_outcome)
    };
    let deadline = deadline(plan);
    let next = match retry.by() {
        Some(delay) => quote_spanned! {span=>
            #rt::Attempts::next_by(&mut __resil_attempts, __resil_judgement, #deadline, || #delay)
        },
        None => {
            quote_spanned!(span=> #rt::Attempts::next(&mut __resil_attempts, __resil_judgement, #deadline))
        }
    };
    let again = again(plan, span, &over);
    quote_spanned! {span=>
        #acquire
        #release
        #rebind
        #attempt
        #judge
        #settle
        #carry
        match #next {
            ::core::option::Option::Some(__resil_wait) => { #again }
            ::core::option::Option::None => break #over,
        }
    }
}

/// Between two attempts: the outcome is put away, the wait is slept, the hook is run.
fn again(plan: &Plan, span: Span, over: &TokenStream) -> TokenStream {
    let retry = plan.policies().retry.as_ref().expect("called for retry only");
    let rt = plan.rt(span);
    let sleep = sleep(plan, span);
    let discard = quote_spanned!(span=> #rt::discard(__resil_outcome););
    let keep = quote_spanned!(span=> __resil_held = ::core::option::Option::Some(#over););
    let put_away = if plan.holds { keep } else { discard };
    let Some(hook) = &retry.before else {
        return quote!(#put_away #sleep);
    };
    if plan.policies().deadline.is_some() {
        // A hook that takes too long ends the call with what there is.
        return quote_spanned! {span=>
            #sleep
            if ::core::result::Result::is_err(
                &#rt::limited(&mut (), __resil_deadline, async { #hook; }).await
            ) {
                break #over;
            }
            #put_away
        };
    }
    // In a closure or block of its own, so that no `break` or `return` of it meets our loop.
    let hook = if plan.is_async() {
        quote_spanned!(span=> #rt::attempt(&mut (), async { #hook; }).await;)
    } else {
        quote_spanned!(span=> #rt::call(&mut (), || { #hook; });)
    };
    quote!(#put_away #sleep #hook)
}

fn sleep(plan: &Plan, span: Span) -> TokenStream {
    let rt = plan.rt(span);
    if plan.is_async() {
        quote_spanned!(span=> #rt::sleep(__resil_wait).await;)
    } else {
        quote_spanned!(span=> #rt::sleep_blocking(__resil_wait);)
    }
}

/// The deadline that the waits of a retry keep to. The ambient one it knows by itself.
fn deadline(plan: &Plan) -> TokenStream {
    let limit = plan.policies().deadline.as_ref();
    let key = limit.map(Row::key).or_else(|| plan.policies().retry.as_ref().map(Row::key));
    let span = key.map_or_else(Span::mixed_site, at);
    let rt = plan.rt(span);
    if limit.is_some() {
        quote_spanned!(span=> #rt::Limits::deadline(&__resil_deadline))
    } else {
        quote_spanned!(span=> #rt::Deadline::NEVER)
    }
}

/// Asks the breaker, if there is one; `refused` is what becomes of `__resil_rejected`.
fn acquire(plan: &Plan, refused: &TokenStream) -> TokenStream {
    let (Some(breaker), Some(row)) = (&plan.breaker, &plan.policies().circuit_breaker) else {
        return TokenStream::new();
    };
    let span = at(row.key());
    let krate = plan.krate(span);
    let path = &breaker.path;
    // At the last segment, where a `static` of the wrong type is named.
    let last = path.segments.last().map_or_else(Span::mixed_site, |segment| segment.ident.span());
    let gate = quote_spanned!(last=> &#path);
    quote_spanned! {span=>
        let mut __resil_circuit_breaker = match #krate::CircuitBreaker::acquire(#gate) {
            ::core::result::Result::Ok(__resil_permit) => __resil_permit,
            ::core::result::Result::Err(__resil_rejected) => #refused,
        };
    }
}

/// What becomes of a refusal outside of any loop.
fn refuse(plan: &Plan) -> TokenStream {
    if plan.policies().fallback.is_none() {
        let reject = finish::reject(plan);
        return quote_spanned!(at_body(plan)=> return #reject);
    }
    let value = finish::rejected(plan);
    quote_spanned!(at_body(plan)=> break '__resil #value)
}

/// What becomes of a refusal inside of the loop.
fn refuse_again(plan: &Plan, span: Span) -> TokenStream {
    let rt = plan.rt(span);
    let (deadline, sleep) = (deadline(plan), sleep(plan, span));
    let refuse = if plan.policies().fallback.is_none() {
        let reject = finish::reject(plan);
        quote_spanned!(span=> return #reject)
    } else {
        let value = finish::rejected(plan);
        quote_spanned!(span=> break #value)
    };
    quote_spanned! {span=>
        match #rt::Attempts::refused(&mut __resil_attempts, __resil_rejected, #deadline) {
            ::core::option::Option::Some(__resil_wait) => {
                #sleep
                continue;
            }
            ::core::option::Option::None => match __resil_held {
                ::core::option::Option::Some(__resil_outcome) => break __resil_outcome,
                ::core::option::Option::None => #refuse,
            },
        }
    }
}

/// Gives the verdict to the breaker.
fn settle(plan: &Plan) -> TokenStream {
    let Some(row) = &plan.policies().circuit_breaker else { return TokenStream::new() };
    let (verdict, span) = (judge::for_breaker(plan), at(row.key()));
    let rt = plan.rt(span);
    quote_spanned!(span=> #rt::Permit::settle(__resil_circuit_breaker, #verdict);)
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
            quote_spanned!(span=> #rt::Ended::Returned(__resil_outcome, __resil_judgement))
        }
        (Carrier::Ended, true) => quote_spanned! {span=>
            match __resil_outcome {
                ::core::result::Result::Ok(__resil_outcome) => {
                    #rt::Ended::Returned(__resil_outcome, __resil_judgement)
                }
                ::core::result::Result::Err(__resil_rejected) => #rt::Ended::Rejected(__resil_rejected),
            }
        },
    })
}
