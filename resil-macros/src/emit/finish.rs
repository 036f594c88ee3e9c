//! The end of the function: what the attempts came to becomes what is returned.

use super::{Part, at, at_body, at_output};
use crate::plan::{Carrier, Plan, static_name};
use crate::policies::Row;
use crate::policies::fallback::{Answer, Answers, ByCause, Fallback};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Pat;

/// A refusal, `__resil_rejected`, as the carrier wants it.
pub(super) fn rejected(plan: &Plan) -> TokenStream {
    let span = at_body(plan);
    let rt = plan.rt(span);
    match plan.carrier {
        Carrier::Ended => quote_spanned!(span=> #rt::Ended::Rejected(__resil_rejected)),
        Carrier::OrRejected | Carrier::Outcome => {
            quote_spanned!(span=> ::core::result::Result::Err(__resil_rejected))
        }
    }
}

/// A refusal, `__resil_rejected`, as the return type; where it cannot be that, the error stands at the return type.
pub(super) fn reject(plan: &Plan) -> TokenStream {
    let (returns, span) = (&plan.returns, at_output(plan));
    let rt = plan.rt(span);
    quote_spanned!(span=> <#returns as #rt::FromRejected>::__resil_reject(__resil_rejected))
}

/// Everything from the attempts, whose value is the carrier, to the value of the function.
pub(super) fn function(plan: &Plan, attempts: &Part) -> TokenStream {
    let Part { statements, value } = attempts;
    match (&plan.policies().fallback, plan.carrier) {
        (None, Carrier::Outcome) => quote!(#statements #value),
        (None, _) => or_reject(plan, attempts),
        (Some(fallback), _) => or_answer(plan, fallback, attempts),
    }
}

/// The outcome, or the refusal as an error of the function.
fn or_reject(plan: &Plan, Part { statements, value }: &Part) -> TokenStream {
    let (reject, span) = (reject(plan), at_body(plan));
    // A loop is named first: as what is matched upon it would be hard to read.
    let named = plan.policies().retry.is_some();
    let name = named.then(|| quote_spanned!(span=> let __resil_outcome = #value;));
    let value = if named { &quote_spanned!(span=> __resil_outcome) } else { value };
    quote_spanned! {span=>
        #statements
        #name
        match #value {
            ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
            ::core::result::Result::Err(__resil_rejected) => #reject,
        }
    }
}

/// The outcome, or what the fallback answers.
fn or_answer(plan: &Plan, fallback: &Fallback, attempts: &Part) -> TokenStream {
    let Part { statements, value } = attempts;
    let (returns, span) = (&plan.returns, at(fallback.key()));
    let rt = plan.rt(span);
    // Only a gate outside of any loop leaves by the label.
    let label = plan.gates_the_call().then(|| quote_spanned!(span=> '__resil_call:));
    // A block, so that nothing of the attempts outlives them while the fallback runs.
    let block = quote_spanned!(at_body(plan)=> { #statements #value });
    let arms = match &fallback.answers {
        Answers::Whole(whole) => {
            let ran = ran(plan, fallback, &quote_spanned!(span=> &__resil_cause));
            let answer = answer(whole, span);
            quote_spanned!(span=> ::core::result::Result::Err(__resil_cause) => { #ran #answer })
        }
        Answers::ByCause(answers) => {
            let ByCause { rejected, timeout, error } = &**answers;
            let error = error.as_ref().map(|error| error_arm(plan, fallback, error));
            let refused = refused_arms(plan, fallback, rejected.as_ref(), timeout.as_ref());
            quote!(#error #refused)
        }
    };
    let name = static_name(fallback.key());
    // Both ask whether the fallback is enabled, where there is something to answer for.
    let (carrier, cause) = if plan.carrier == Carrier::Ended {
        let cause = quote_spanned! {span=>
            use #rt::EndedAs as _;
            __resil_ended.__resil_pass(&#name).__resil_cause(&#name)
        };
        (quote_spanned!(span=> #rt::Ended<#returns>), cause)
    } else {
        let cause = quote_spanned! {span=>
            use #rt::OrRejectedAs as _;
            #rt::OrRejected(__resil_ended).__resil_pass(&#name)
        };
        (quote_spanned!(span=> ::core::result::Result<#returns, #rt::Rejected>), cause)
    };
    quote_spanned! {span=>
        let __resil_ended: #carrier = #label #block;
        let __resil_ended = { #cause };
        match __resil_ended {
            ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
            #arms
        }
    }
}

/// The body's own error.
fn error_arm(plan: &Plan, fallback: &Fallback, error: &Answer) -> TokenStream {
    let span = at(fallback.key());
    let rt = plan.rt(span);
    let ran = ran(plan, fallback, &quote_spanned!(span=> &#rt::Cause::Error(())));
    let answer = answer(error, span);
    quote_spanned! {span=>
        ::core::result::Result::Err(#rt::Cause::Error(__resil_cause)) => { #ran #answer }
    }
}

/// Refusals and timeouts; those that have no answer go to the caller.
fn refused_arms(
    plan: &Plan,
    fallback: &Fallback,
    rejected: Option<&Answer>,
    timeout: Option<&Answer>,
) -> TokenStream {
    let span = at(fallback.key());
    let rt = plan.rt(span);
    let arm = |found: Option<&Answer>| {
        if let Some(found) = found {
            let ran = ran(
                plan,
                fallback,
                &quote_spanned!(span=> &#rt::Cause::<()>::Rejected(__resil_cause)),
            );
            let answer = answer(found, span);
            quote_spanned!(span=> { #ran #answer })
        } else {
            let reject = reject(plan);
            quote_spanned!(span=> { let __resil_rejected = __resil_cause; #reject })
        }
    };
    let pattern = if plan.carrier == Carrier::Ended {
        quote_spanned!(span=> ::core::result::Result::Err(#rt::Cause::Rejected(__resil_cause)))
    } else {
        quote_spanned!(span=> ::core::result::Result::Err(__resil_cause))
    };
    // One arm will do where there is nothing to tell apart.
    let only = match (timeout, rejected) {
        (None, None) => Some(None),
        _ if !plan.is_limited() => Some(rejected),
        _ if plan.gates.is_empty() => Some(timeout),
        _ => None,
    };
    if let Some(only) = only {
        let only = arm(only);
        return quote_spanned!(span=> #pattern => #only);
    }
    let (timeout, rejected) = (arm(timeout), arm(rejected));
    quote_spanned! {span=>
        #pattern if #rt::Reason::is_timeout(#rt::Rejected::reason(&__resil_cause)) => #timeout
        #pattern => #rejected
    }
}

/// Counts and reports that the fallback answers.
fn ran(plan: &Plan, fallback: &Fallback, cause: &TokenStream) -> TokenStream {
    let (name, span) = (static_name(fallback.key()), at(fallback.key()));
    let rt = plan.rt(span);
    quote_spanned!(span=> #rt::Fallback::ran(&#name, #cause);)
}

/// The answer to `__resil_cause`.
fn answer(answer: &Answer, span: Span) -> TokenStream {
    match answer {
        Answer::Path(path) => quote_spanned!(span=> #path(__resil_cause)),
        Answer::Closure(Some(parameter), body) if matches!(**parameter, Pat::Type(_)) => {
            quote_spanned!(span=> let #parameter = __resil_cause; #body)
        }
        // A `let` of an unused parameter would be a lint's business, an arm is not.
        Answer::Closure(Some(parameter), body) => {
            quote_spanned!(span=> match __resil_cause { #parameter => #body })
        }
        Answer::Closure(None, body) | Answer::Value(body) => quote!(#body),
    }
}
