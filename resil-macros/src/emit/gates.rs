//! The gates: asked outermost first, one block each; what they gave is given back where an inner one refuses, and when the
//! attempt is over.
//!
//! Places and cells go back by being dropped. A permit is ignored instead: that another gate refused says nothing about what the
//! breaker watches.

use super::{at, finish, judge, reference};
use crate::plan::{Gate, GateKind, Plan};
use crate::policies::Row;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit};

/// Asks the gates in turn; `refused` is what becomes of `__resil_rejected`.
pub(super) fn pass(plan: &Plan, gates: &[Gate], refused: &TokenStream) -> TokenStream {
    let mut passed = TokenStream::new();
    let mut refused = refused.clone();
    for gate in gates {
        let (span, name, given, ask) = (at(&gate.key), local(gate), given(gate), ask(plan, gate));
        let changes = match gate.kind {
            GateKind::CircuitBreaker => true,
            GateKind::RateLimiter => !plan.gates.is_last(gate),
            GateKind::Bulkhead => false,
        };
        let mutable = changes.then(|| quote_spanned!(span=> mut));
        passed.extend(quote_spanned! {span=>
            let #mutable #name = match #ask {
                ::core::result::Result::Ok(#given) => #given,
                ::core::result::Result::Err(__resil_rejected) => #refused,
            };
        });
        if gate.kind == GateKind::CircuitBreaker {
            let ignore = ignore(plan, gate);
            refused = quote_spanned!(span=> { #ignore #refused });
        }
    }
    passed
}

/// What a gate gave, under the name of its policy.
fn local(gate: &Gate) -> Ident {
    format_ident!("__resil_{}", gate.kind.key(), span = at(&gate.key))
}

/// What a gate gives.
fn given(gate: &Gate) -> Ident {
    let given = match gate.kind {
        GateKind::CircuitBreaker => "__resil_permit",
        GateKind::RateLimiter => "__resil_cells",
        GateKind::Bulkhead => "__resil_slot",
    };
    Ident::new(given, at(&gate.key))
}

fn ask(plan: &Plan, gate: &Gate) -> TokenStream {
    let span = at(&gate.key);
    let (krate, deadline) = (plan.krate(span), deadline(plan, span));
    let path = reference(&gate.path);
    let (enter, wait) = if plan.is_async() {
        (quote_spanned!(span=> enter_async), Some(quote_spanned!(span=> .await)))
    } else {
        (quote_spanned!(span=> enter), None)
    };
    match gate.kind {
        GateKind::CircuitBreaker if plan.gates.breaker_is_gated() => {
            quote_spanned!(span=> #krate::CircuitBreaker::acquire_gated(#path))
        }
        GateKind::CircuitBreaker => quote_spanned!(span=> #krate::CircuitBreaker::acquire(#path)),
        GateKind::RateLimiter => {
            let cost = cost(plan, span);
            quote_spanned!(span=> #krate::RateLimiter::#enter(#path, #cost, #deadline)#wait)
        }
        GateKind::Bulkhead => {
            quote_spanned!(span=> #krate::Bulkhead::#enter(#path, #deadline)#wait)
        }
    }
}

/// How many cells the call takes. An expression is computed in a closure of its own: no `break` or `return` of it meets
/// our code, and nothing of it lives while the call waits for the cells.
fn cost(plan: &Plan, span: Span) -> TokenStream {
    let cost = plan.policies().rate_limiter.as_ref().and_then(|row| row.cost.as_ref());
    match cost {
        None => quote_spanned!(span=> 1),
        Some(Expr::Lit(ExprLit { lit, .. })) => lit.to_token_stream(),
        Some(cost) => {
            let rt = plan.rt(span);
            quote_spanned!(span=> #rt::call(&mut (), || -> u32 { #cost }))
        }
    }
}

/// The deadline that waits keep to. The ambient one is known where they are made.
pub(super) fn deadline(plan: &Plan, otherwise: Span) -> TokenStream {
    if let Some(deadline) = &plan.policies().deadline {
        let span = at(deadline.key());
        let rt = plan.rt(span);
        quote_spanned!(span=> #rt::Limits::deadline(&__resil_deadline))
    } else {
        let rt = plan.rt(otherwise);
        quote_spanned!(otherwise=> #rt::Deadline::NEVER)
    }
}

/// The last gate has let the call through: from here on nothing is given back, and its time counts. What the gates around
/// all attempts gave stands from the first attempt on.
pub(super) fn admitted(plan: &Plan) -> TokenStream {
    let gates = &plan.gates;
    let find = |kind| gates.around.iter().chain(&gates.each).find(|gate: &&Gate| gate.kind == kind);
    let breaker = find(GateKind::CircuitBreaker).filter(|_| gates.breaker_is_gated());
    let is_read = gates.reads_the_clock() && (breaker.is_some() || plan.begins_at_a_gate());
    let spend = find(GateKind::RateLimiter).map(|gate| {
        let (span, name) = (at(&gate.key), local(gate));
        let rt = plan.rt(span);
        // Those of all attempts are spent by the first.
        let spend = if gates.is_last(gate) {
            quote_spanned!(span=> #rt::Cells::take(#name))
        } else {
            quote_spanned!(span=> #rt::Cells::spend(&mut #name))
        };
        if is_read {
            quote_spanned!(span=> let __resil_begun = #spend;)
        } else {
            quote_spanned!(span=> #spend;)
        }
    });
    let waited = find(GateKind::Bulkhead).filter(|_| is_read && gates.may_wait_since());
    let waited = waited.map(|gate| {
        let (span, name) = (at(&gate.key), local(gate));
        let rt = plan.rt(span);
        quote_spanned!(span=> let __resil_begun = #rt::Slot::begun(&#name, __resil_begun);)
    });
    let begin = breaker.map(|gate| {
        let (span, name) = (at(&gate.key), local(gate));
        let rt = plan.rt(span);
        let reading = if is_read {
            quote_spanned!(span=> ::core::option::Option::Some(__resil_begun))
        } else {
            quote_spanned!(span=> ::core::option::Option::None)
        };
        quote_spanned!(span=> #rt::Permit::begin(&mut #name, #reading);)
    });
    quote!(#spend #waited #begin)
}

/// The work is over: each gate is told, the innermost first.
pub(super) fn leave(plan: &Plan, gates: &[Gate]) -> TokenStream {
    let left = gates.iter().rev().map(|gate| {
        let (span, name) = (at(&gate.key), local(gate));
        let rt = plan.rt(span);
        match gate.kind {
            GateKind::CircuitBreaker => {
                let verdict = judge::for_breaker(plan);
                quote_spanned!(span=> #rt::Permit::settle(#name, #verdict);)
            }
            GateKind::RateLimiter => TokenStream::new(),
            GateKind::Bulkhead => quote_spanned!(span=> ::core::mem::drop(#name);),
        }
    });
    quote!(#(#left)*)
}

/// The breaker among these gates hears nothing of this call.
pub(super) fn ignored(plan: &Plan, gates: &[Gate]) -> Option<TokenStream> {
    let breaker = gates.iter().find(|gate| gate.kind == GateKind::CircuitBreaker)?;
    Some(ignore(plan, breaker))
}

fn ignore(plan: &Plan, breaker: &Gate) -> TokenStream {
    let (span, name) = (at(&breaker.key), local(breaker));
    let rt = plan.rt(span);
    quote_spanned!(span=> #rt::Permit::ignore(#name);)
}

/// What becomes of a refusal outside of any loop.
pub(super) fn refuse(plan: &Plan) -> TokenStream {
    let span = super::at_body(plan);
    if plan.policies().fallback.is_none() {
        let reject = finish::reject(plan);
        return quote_spanned!(span=> return #reject);
    }
    let value = finish::rejected(plan);
    quote_spanned!(span=> break '__resil_call #value)
}
