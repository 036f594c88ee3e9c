//! Attempts in a loop.
//!
//! What belongs to one attempt ends before the wait for the next one begins: nothing is held while it sleeps but the
//! newest outcome, where a gate may still refuse the next attempt. Gates around all attempts are asked before the first one, and
//! left after the last.

use super::{Part, at, attempt, carried, finish, gates, judge, outcome, reference};
use crate::body::mentions;
use crate::plan::{Plan, static_name};
use crate::policies::{Retry, Row};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

/// All attempts of a call, to the value that the carrier wants.
pub(super) fn attempts(plan: &Plan, retry: &Retry) -> Part {
    let round = Round::new(plan, retry);
    let (name, span) = (static_name(retry.key()), round.span);
    let rt = plan.rt(span);
    let start = if let Some(budget) = &plan.budget {
        let budget = reference(budget);
        quote_spanned!(span=> #rt::Retry::start_within_budget::<#rt::RetryBudget>(&#name, #budget))
    } else {
        quote_spanned!(span=> #rt::Retry::start(&#name))
    };
    let start = quote_spanned!(span=> let mut __resil_attempts = #start;);
    let held = plan
        .holds
        .then(|| quote_spanned!(span=> let mut __resil_held = ::core::option::Option::None;));
    let label = round.gated.then(|| quote_spanned!(span=> '__resil_attempts:));
    let asked = ask_type(plan);
    let each = round.tokens();
    let attempts = quote_spanned!(span=> #label loop { #each });
    let around = &plan.gates.around;
    if around.is_empty() {
        return Part { statements: quote!(#asked #start #held), value: attempts };
    }
    let pass = gates::pass(plan, around, &gates::refuse(plan));
    let admitted = plan.gates.each.is_empty().then(|| gates::admitted(plan));
    let over = round.over();
    let leave = gates::leave(plan, around);
    let statements = quote_spanned! {span=>
        #pass
        #admitted
        #asked
        #start
        #held
        let #over = #attempts;
        #leave
    };
    Part { statements, value: outcome(plan) }
}

/// Retrying what can never fail would be silence: the return type is asked at compile time.
fn ask_type(plan: &Plan) -> TokenStream {
    let Some(output) = plan.target.output().filter(|_| plan.asks_type) else {
        return TokenStream::new();
    };
    let span = output.span().resolved_at(Span::mixed_site());
    let (rt, returns) = (plan.rt(span), &plan.returns);
    quote_spanned! {span=>
        const _: () = {
            use #rt::Unknown as _;
            if !(#rt::Fails::<#returns>::KNOWN || #rt::Classifies::<#returns>::KNOWN) {
                ::core::panic!("nothing says which outcomes are worth another attempt\nhelp: `retry(on = …)` with a pattern");
            }
        };
    }
}

/// One round of the loop.
struct Round<'a> {
    plan: &'a Plan,
    retry: &'a Retry,
    span: Span,
    /// Each attempt has gates to pass.
    gated: bool,
    deadline: TokenStream,
}

impl<'a> Round<'a> {
    fn new(plan: &'a Plan, retry: &'a Retry) -> Self {
        let span = at(retry.key());
        let (gated, deadline) = (!plan.gates.each.is_empty(), gates::deadline(plan, span));
        Self { plan, retry, span, gated, deadline }
    }

    fn tokens(&self) -> TokenStream {
        let (plan, span) = (self.plan, self.span);
        let rt = plan.rt(span);
        let paid = plan
            .budget
            .as_ref()
            .map(|_| quote_spanned!(span=> #rt::Attempts::admitted(&mut __resil_attempts);));
        let release = plan.holds.then(|| quote_spanned!(span=> #rt::release(__resil_held);));
        let rebind = attempt::rebind(plan);
        let attempt = attempt::run(plan);
        let judge = judge::outcome(plan);
        let leave = gates::leave(plan, &plan.gates.each);
        let carry = carried(plan).map(|value| quote_spanned!(span=> let __resil_outcome = #value;));
        let (next, over) = (self.next(), self.over());
        let put_away = if plan.holds {
            quote_spanned!(span=> __resil_held = ::core::option::Option::Some(#over);)
        } else {
            quote_spanned!(span=> #rt::discard(#over);)
        };
        let again = self.gated.then(|| quote_spanned!(span=> break '__resil_attempt));
        let end = self.end(&over);
        let (rebind_first, rebind) =
            if plan.rebinds_first { (Some(rebind), None) } else { (None, Some(rebind)) };
        let admitted = self.gated.then(|| gates::admitted(plan));
        let attempt = quote_spanned! {span=>
            #release
            #rebind
            #admitted
            #paid
            #attempt
            #judge
            #leave
            #carry
            match #next {
                ::core::option::Option::Some(__resil_wait) => {
                    #put_away
                    #again __resil_wait
                }
                ::core::option::Option::None => #end,
            }
        };
        let wait = self.wait();
        if !self.gated {
            return quote_spanned!(span=> let __resil_wait = { #attempt }; #wait);
        }
        let refused = quote_spanned!(span=> break '__resil_refused __resil_rejected);
        let pass = gates::pass(plan, &plan.gates.each, &refused);
        let (refused, overdue) = (self.refused(), self.overdue_at_the_gates());
        quote_spanned! {span=>
            let __resil_wait = '__resil_attempt: {
                let __resil_rejected = '__resil_refused: {
                    #rebind_first
                    #pass
                    #overdue
                    #attempt
                };
                #refused
            };
            #wait
        }
    }

    /// Whether another attempt follows, and when.
    fn next(&self) -> TokenStream {
        let (span, deadline) = (self.span, &self.deadline);
        let rt = self.plan.rt(span);
        if let Some(delay) = self.retry.by() {
            quote_spanned! {span=>
                #rt::Attempts::next_by(&mut __resil_attempts, __resil_judgement, #deadline, || #delay)
            }
        } else {
            quote_spanned! {span=>
                #rt::Attempts::next(&mut __resil_attempts, __resil_judgement, #deadline)
            }
        }
    }

    /// The breaker hears of the call as a whole.
    fn votes_at_the_end(&self) -> bool {
        self.plan.breaker.as_ref().is_some_and(|breaker| breaker.outside)
    }

    /// What the loop ends with.
    fn over(&self) -> TokenStream {
        if self.votes_at_the_end() {
            quote_spanned!(self.span=> (__resil_outcome, __resil_verdict))
        } else {
            outcome(self.plan)
        }
    }

    /// Ends the loop, out of the blocks of an attempt too.
    fn end(&self, value: &TokenStream) -> TokenStream {
        let label = self.gated.then(|| quote_spanned!(self.span=> '__resil_attempts));
        quote_spanned!(self.span=> break #label #value)
    }

    /// What becomes of `__resil_rejected`, a gate's refusal of an attempt.
    fn refused(&self) -> TokenStream {
        let (span, deadline) = (self.span, &self.deadline);
        let rt = self.plan.rt(span);
        let end = self.end_with_rejected();
        quote_spanned! {span=>
            match #rt::Attempts::refused(&mut __resil_attempts, __resil_rejected, #deadline) {
                ::core::option::Option::Some(__resil_wait) => __resil_wait,
                ::core::option::Option::None => #end,
            }
        }
    }

    /// Ends the call with the newest outcome, or with `__resil_rejected` where there is none.
    fn end_with_rejected(&self) -> TokenStream {
        let (plan, span) = (self.plan, self.span);
        let rt = plan.rt(span);
        let newest = self.end(&outcome(plan));
        let rejected = if plan.policies().fallback.is_none() {
            let ignored = gates::ignored(plan, &plan.gates.around);
            let reject = finish::reject(plan);
            quote_spanned!(span=> { #ignored return #reject })
        } else {
            let value = finish::rejected(plan);
            if self.votes_at_the_end() {
                self.end(&quote_spanned!(span=> (#value, #rt::Judgement::IGNORED)))
            } else {
                self.end(&value)
            }
        };
        quote_spanned! {span=>
            match __resil_held {
                ::core::option::Option::Some(__resil_outcome) => #newest,
                ::core::option::Option::None => #rejected,
            }
        }
    }

    /// Between two attempts: the wait is slept, the hook is run.
    fn wait(&self) -> TokenStream {
        let (plan, span) = (self.plan, self.span);
        let rt = plan.rt(span);
        let sleep = if plan.is_async() {
            quote_spanned!(span=> #rt::sleep(__resil_wait).await;)
        } else {
            quote_spanned!(span=> #rt::sleep_blocking(__resil_wait);)
        };
        let overdue = self.overdue();
        let Some(hook) = &self.retry.before else { return quote!(#sleep #overdue) };
        // The attempt to come.
        let named = self.retry.attempt().filter(|name| mentions(hook.to_token_stream(), name));
        let named = named.map(
            |name| quote_spanned!(span=> let #name = #rt::Attempts::number(&__resil_attempts);),
        );
        // In a closure or block of its own, so that no `break` or `return` of it meets our loop.
        let hook = if plan.policies().deadline.is_some() {
            // A hook that takes too long ends the call with what there is.
            let end = self.end_with_rejected();
            let limited = if plan.is_async() {
                quote_spanned!(span=> #rt::limited(&mut (), &__resil_deadline, async { #hook; }).await)
            } else {
                quote_spanned! {span=>
                    #rt::Timed::or_ended(#rt::call_limited(&mut (), &__resil_deadline, || { #hook; }))
                }
            };
            quote_spanned! {span=>
                match #limited {
                    ::core::result::Result::Ok(()) => {}
                    ::core::result::Result::Err(__resil_rejected) => {
                        #rt::Attempts::out_of_time(&mut __resil_attempts);
                        #end
                    }
                }
            }
        } else if plan.is_async() {
            quote_spanned!(span=> #rt::attempt(&mut (), async { #hook; }).await;)
        } else {
            quote_spanned!(span=> #rt::call(&mut (), || { #hook; });)
        };
        quote!(#sleep #named #hook #overdue)
    }

    /// Ends the call with the newest outcome if its deadline has passed before the next attempt begins.
    fn overdue(&self) -> Option<TokenStream> {
        self.plan.policies().deadline.as_ref()?;
        Some(self.ends_overdue(&quote_spanned!(self.span=> break __resil_outcome)))
    }

    /// The same, after gates that may have made it wait.
    fn overdue_at_the_gates(&self) -> Option<TokenStream> {
        let gates = &self.plan.gates;
        self.plan.policies().deadline.as_ref().filter(|_| gates.wait_in_each())?;
        let ignored = gates::ignored(self.plan, &gates.each);
        let end = self.end(&outcome(self.plan));
        Some(self.ends_overdue(&quote_spanned!(self.span=> #ignored #end)))
    }

    fn ends_overdue(&self, end: &TokenStream) -> TokenStream {
        let (span, deadline) = (self.span, &self.deadline);
        let rt = self.plan.rt(span);
        quote_spanned! {span=>
            if let ::core::option::Option::Some(__resil_outcome) = __resil_held {
                if #rt::overdue(&mut __resil_attempts, #deadline) {
                    #end;
                }
                __resil_held = ::core::option::Option::Some(__resil_outcome);
            }
        }
    }
}
