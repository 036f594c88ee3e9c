//! What an outcome means: patterns first, then the type.

use super::{at, at_body};
use crate::check::error_type;
use crate::plan::{Plan, Verdicts};
use crate::policies::Row;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{WherePredicate, parse_quote_spanned};

/// `let __resil_judgement = …`, if anybody wants to know.
pub(super) fn outcome(plan: &Plan) -> TokenStream {
    if !plan.is_judged() {
        return TokenStream::new();
    }
    let span = at_body(plan);
    let own = own_verdict(plan);
    if !plan.is_limited() {
        let judged = judged(plan, &quote_spanned!(span=> &__resil_outcome));
        return quote_spanned!(span=> let __resil_judgement = #judged; #own);
    }
    let judged = judged(plan, &quote_spanned!(span=> __resil_outcome));
    let rt = &plan.rt;
    let ended = if let Some(retry) = &plan.policies().retry {
        quote_spanned!(at(retry.key())=> #rt::Attempts::judge(&__resil_attempts, __resil_rejected))
    } else {
        quote_spanned!(span=> #rt::Judgement::FAILURE)
    };
    let rejected = if plan.policies().retry.is_some() {
        quote_spanned!(span=> __resil_rejected)
    } else {
        quote_spanned!(span=> _)
    };
    quote_spanned! {span=>
        let __resil_judgement = match &__resil_outcome {
            ::core::result::Result::Ok(__resil_outcome) => #judged,
            ::core::result::Result::Err(#rejected) => #ended,
        };
        #own
    }
}

/// The judgement of what the body returned, behind `reference`.
fn judged(plan: &Plan, reference: &TokenStream) -> TokenStream {
    let span = at_body(plan);
    let rt = &plan.rt;
    let by_type = if let Some(word) = &plan.args.classify {
        let krate = &plan.krate;
        quote_spanned!(at(word)=> #krate::Classify::classify(#reference))
    } else {
        quote_spanned! {span=> {
            use #rt::Judge as _;
            (&&&&&&#rt::Probe(#reference)).__resil_judge()
        }}
    };
    if plan.verdicts.arms.is_empty() {
        return by_type;
    }
    let arms = arms(&plan.verdicts, reference, rt, span);
    quote_spanned! {span=> {
        let __resil_judgement = #by_type;
        #arms
    }}
}

/// `match reference { PATTERN => Judgement::method(__resil_judgement), …, _ => … }`.
fn arms(verdicts: &Verdicts, reference: &TokenStream, rt: &TokenStream, span: Span) -> TokenStream {
    let call = |method: &str| {
        let method = Ident::new(method, span);
        quote_spanned!(span=> #rt::Judgement::#method(__resil_judgement))
    };
    let arms = verdicts.arms.iter().map(|(pattern, method)| {
        let verdict = call(method);
        quote_spanned!(span=> #pattern => #verdict,)
    });
    let otherwise = if let Some(method) = verdicts.otherwise {
        call(method)
    } else {
        quote_spanned!(span=> __resil_judgement)
    };
    quote_spanned! {span=>
        match #reference {
            #(#arms)*
            _ => #otherwise,
        }
    }
}

/// `let __resil_verdict = …`: what the breaker's own patterns make of it, where it has any or settles later.
fn own_verdict(plan: &Plan) -> TokenStream {
    let (Some(breaker), Some(row)) = (&plan.breaker, &plan.policies().circuit_breaker) else {
        return TokenStream::new();
    };
    if breaker.verdicts.arms.is_empty() && !breaker.outside {
        return TokenStream::new();
    }
    let (rt, span) = (&plan.rt, at(row.key()));
    let verdict = if breaker.verdicts.arms.is_empty() {
        quote_spanned!(span=> __resil_judgement)
    } else if plan.is_limited() {
        let arms = arms(&breaker.verdicts, &quote_spanned!(span=> __resil_outcome), rt, span);
        quote_spanned! {span=>
            match &__resil_outcome {
                ::core::result::Result::Ok(__resil_outcome) => #arms,
                ::core::result::Result::Err(_) => __resil_judgement,
            }
        }
    } else {
        arms(&breaker.verdicts, &quote_spanned!(span=> &__resil_outcome), rt, span)
    };
    quote_spanned!(span=> let __resil_verdict = #verdict;)
}

/// What the breaker is told.
pub(super) fn for_breaker(plan: &Plan) -> TokenStream {
    let (Some(breaker), Some(row)) = (&plan.breaker, &plan.policies().circuit_breaker) else {
        return TokenStream::new();
    };
    if breaker.verdicts.arms.is_empty() && !breaker.outside {
        quote_spanned!(at(row.key())=> __resil_judgement)
    } else {
        quote_spanned!(at(row.key())=> __resil_verdict)
    }
}

/// The bound that the word `classify` adds.
pub(super) fn classify_bound(plan: &Plan) -> Option<WherePredicate> {
    let word = plan.args.classify.as_ref()?;
    let output = plan.target.output()?;
    let judged = error_type(output).unwrap_or(output);
    let krate = &plan.krate;
    Some(parse_quote_spanned!(at(word)=> #judged: #krate::Classify))
}
