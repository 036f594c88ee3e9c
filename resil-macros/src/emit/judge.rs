//! What an outcome means: patterns first, then the type.

use super::{at, at_body};
use crate::check::error_type;
use crate::plan::{Plan, Verdicts};
use crate::policies::Row;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::{Generics, Type, TypeParam, parse_quote_spanned};

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
    let ended = if let Some(retry) = &plan.policies().retry {
        let span = at(retry.key());
        let rt = plan.rt(span);
        quote_spanned!(span=> #rt::Attempts::judge(&__resil_attempts, __resil_rejected))
    } else {
        let rt = plan.rt(span);
        quote_spanned!(span=> #rt::Judgement::ended(__resil_rejected, false))
    };
    let late = plan.keeps_late().then(|| {
        let rt = plan.rt(span);
        quote_spanned!(span=> ::core::result::Result::Ok(_) if __resil_late => #rt::Judgement::FAILURE,)
    });
    quote_spanned! {span=>
        let __resil_judgement = match &__resil_outcome {
            #late
            ::core::result::Result::Ok(__resil_outcome) => #judged,
            ::core::result::Result::Err(__resil_rejected) => #ended,
        };
        #own
    }
}

/// The judgement of what the body returned, behind `reference`.
fn judged(plan: &Plan, reference: &TokenStream) -> TokenStream {
    let span = at_body(plan);
    let rt = plan.rt(span);
    let by_type = if let Some(word) = &plan.args.classify {
        let span = at(word);
        let krate = plan.krate(span);
        quote_spanned!(span=> #krate::Classify::classify(#reference))
    } else {
        quote_spanned! {span=> {
            use #rt::Judge as _;
            (&&&&&&#rt::Probe(#reference)).__resil_judge()
        }}
    };
    if plan.verdicts.arms.is_empty() {
        return by_type;
    }
    let arms = arms(&plan.verdicts, reference, &rt, span);
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
    let span = at(row.key());
    let rt = &plan.rt(span);
    let verdict = if breaker.verdicts.arms.is_empty() {
        quote_spanned!(span=> __resil_judgement)
    } else if plan.is_limited() {
        let arms = arms(&breaker.verdicts, &quote_spanned!(span=> __resil_outcome), rt, span);
        let in_time = plan.keeps_late().then(|| quote_spanned!(span=> if !__resil_late));
        let ended = if plan.keeps_late() {
            quote_spanned!(span=> _)
        } else {
            quote_spanned!(span=> ::core::result::Result::Err(_))
        };
        quote_spanned! {span=>
            match &__resil_outcome {
                ::core::result::Result::Ok(__resil_outcome) #in_time => #arms,
                #ended => __resil_judgement,
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

/// Adds the bound that the word `classify` asks for, where the other bounds of that type are.
pub(super) fn add_classify_bound(plan: &Plan, generics: &mut Generics) {
    let (Some(word), Some(output)) = (&plan.args.classify, plan.target.output()) else { return };
    let judged = error_type(output).unwrap_or(output);
    let span = at(word);
    let krate = plan.krate(span);
    let is_judged = |parameter: &&mut TypeParam| matches!(judged, Type::Path(path) if path.path.is_ident(&parameter.ident));
    let parameter = generics.type_params_mut().find(is_judged);
    if let Some(parameter) = parameter.filter(|parameter| !parameter.bounds.is_empty()) {
        parameter.bounds.push(parse_quote_spanned!(span=> #krate::Classify));
    } else {
        let bound = parse_quote_spanned!(span=> #judged: #krate::Classify);
        generics.make_where_clause().predicates.push(bound);
    }
}
