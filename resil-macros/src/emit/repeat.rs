//! Attempts in a loop.
//!
//! What belongs to one attempt ends before the wait for the next one begins: nothing is held while it sleeps but the
//! newest outcome, where a gate may still refuse the next attempt.

use super::{Part, acquire, at, attempt, carried, finish, judge, outcome, refuse, settle};
use crate::plan::{Plan, static_name};
use crate::policies::{Retry, Row};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

/// All attempts of a call, to the value that the carrier wants.
pub(super) fn attempts(plan: &Plan, retry: &Retry) -> Part {
    let round = Round::new(plan, retry);
    let (name, span) = (static_name(retry.key()), round.span);
    let rt = plan.rt(span);
    let start = quote_spanned!(span=> let mut __resil_attempts = #rt::Retry::start(&#name););
    let held = plan
        .holds
        .then(|| quote_spanned!(span=> let mut __resil_held = ::core::option::Option::None;));
    let label = round.gated.then(|| quote_spanned!(span=> '__resil_attempts:));
    let asked = ask_type(plan);
    let start = quote!(#asked #start);
    let each = round.tokens();
    if !round.outside {
        let value = quote_spanned!(span=> #label loop { #each });
        return Part { statements: quote!(#start #held), value };
    }
    let acquire = acquire(plan, &refuse(plan));
    let settle = settle(plan);
    let statements = quote_spanned! {span=>
        #acquire
        #start
        #held
        let (__resil_outcome, __resil_verdict) = loop { #each };
        #settle
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
    /// The breaker is around all attempts.
    outside: bool,
    /// The breaker is asked for each attempt.
    gated: bool,
    deadline: TokenStream,
}

impl<'a> Round<'a> {
    fn new(plan: &'a Plan, retry: &'a Retry) -> Self {
        let outside = plan.breaker.as_ref().is_some_and(|breaker| breaker.outside);
        let gated = plan.breaker.is_some() && !outside;
        let (span, deadline) = (at(retry.key()), deadline(plan, retry));
        Self { plan, retry, span, outside, gated, deadline }
    }

    fn tokens(&self) -> TokenStream {
        let (plan, span) = (self.plan, self.span);
        let rt = plan.rt(span);
        let acquire = if self.gated { acquire(plan, &self.refused()) } else { TokenStream::new() };
        let settle = if self.gated { settle(plan) } else { TokenStream::new() };
        let release = plan.holds.then(|| quote_spanned!(span=> #rt::release(&mut __resil_held);));
        let rebind = attempt::rebind(plan);
        let attempt = attempt::run(plan);
        let judge = judge::outcome(plan);
        let carry = carried(plan).map(|value| quote_spanned!(span=> let __resil_outcome = #value;));
        let (next, over) = (self.next(), self.over());
        let put_away = if plan.holds {
            quote_spanned!(span=> __resil_held = ::core::option::Option::Some(#over);)
        } else {
            quote_spanned!(span=> #rt::discard(#over);)
        };
        let leave = self.leave(&over);
        let label = self.gated.then(|| quote_spanned!(span=> '__resil_attempt:));
        let wait = self.wait();
        quote_spanned! {span=>
            let __resil_wait = #label {
                #acquire
                #release
                #rebind
                #attempt
                #judge
                #settle
                #carry
                match #next {
                    ::core::option::Option::Some(__resil_wait) => {
                        #put_away
                        __resil_wait
                    }
                    ::core::option::Option::None => #leave,
                }
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

    /// What the loop ends with.
    fn over(&self) -> TokenStream {
        if self.outside {
            quote_spanned!(self.span=> (__resil_outcome, __resil_verdict))
        } else {
            outcome(self.plan)
        }
    }

    /// Leaves the loop, out of the block of an attempt too.
    fn leave(&self, value: &TokenStream) -> TokenStream {
        let label = self.gated.then(|| quote_spanned!(self.span=> '__resil_attempts));
        quote_spanned!(self.span=> break #label #value)
    }

    /// What becomes of a refusal by the breaker.
    fn refused(&self) -> TokenStream {
        let (span, deadline) = (self.span, &self.deadline);
        let rt = self.plan.rt(span);
        let end = self.end_with_rejected();
        quote_spanned! {span=>
            match #rt::Attempts::refused(&mut __resil_attempts, __resil_rejected, #deadline) {
                ::core::option::Option::Some(__resil_wait) => break '__resil_attempt __resil_wait,
                ::core::option::Option::None => #end,
            }
        }
    }

    /// Ends the call with the newest outcome, or with `__resil_rejected` where there is none.
    fn end_with_rejected(&self) -> TokenStream {
        let (plan, span) = (self.plan, self.span);
        let rt = plan.rt(span);
        let newest = self.leave(&outcome(plan));
        let rejected = if plan.policies().fallback.is_none() {
            let reject = finish::reject(plan);
            quote_spanned!(span=> return #reject)
        } else if self.outside {
            let value = finish::rejected(plan);
            self.leave(&quote_spanned!(span=> (#value, #rt::Judgement::FAILURE)))
        } else {
            self.leave(&finish::rejected(plan))
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
        let named =
            self.retry.attempt().filter(|name| mentions(hook.to_token_stream(), &name.to_string()));
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
        let (span, deadline) = (self.span, &self.deadline);
        let rt = self.plan.rt(span);
        self.plan.policies().deadline.as_ref()?;
        Some(quote_spanned! {span=>
            if let ::core::option::Option::Some(__resil_outcome) =
                #rt::overdue(&mut __resil_held, &mut __resil_attempts, #deadline)
            {
                break __resil_outcome;
            }
        })
    }
}

/// The deadline that the waits keep to. The ambient one `Attempts` knows by itself.
fn deadline(plan: &Plan, retry: &Retry) -> TokenStream {
    if let Some(deadline) = &plan.policies().deadline {
        let span = at(deadline.key());
        let rt = plan.rt(span);
        quote_spanned!(span=> #rt::Limits::deadline(&__resil_deadline))
    } else {
        let span = at(retry.key());
        let rt = plan.rt(span);
        quote_spanned!(span=> #rt::Deadline::NEVER)
    }
}

fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => mentions(group.stream(), name),
        other => other.to_string() == name,
    })
}
