//! Rules about the function itself: what cannot be guarded, or not by these policies.

use super::types::{error_type, is_future, is_plain};
use crate::diag;
use crate::plan::retries_timeouts;
use crate::policies::{Policies, Row};
use crate::target::{Target, Traits, bindings};
use crate::values::Pattern;
use proc_macro2::Ident;
use quote::ToTokens;

pub(super) fn const_fn(target: &Target) -> syn::Result<()> {
    match &target.sig.constness {
        Some(token) => Err(diag::error(
            token,
            "a `const fn` cannot be guarded: policies count at run time",
            "remove `const`",
        )),
        None => Ok(()),
    }
}

pub(super) fn variadic(target: &Target) -> syn::Result<()> {
    match &target.sig.variadic {
        Some(dots) => Err(diag::error(
            dots.dots,
            "a variadic function cannot be guarded",
            "guard a function with fixed arguments that this one calls",
        )),
        None => Ok(()),
    }
}

pub(super) fn resilient_twice(target: &Target) -> syn::Result<()> {
    let is_ours = |attr: &&syn::Attribute| {
        attr.path().segments.last().is_some_and(|segment| segment.ident == "resilient")
    };
    match target.attrs.iter().find(is_ours) {
        Some(second) => Err(diag::error(
            second.path(),
            "this function has a `#[resilient]` already",
            "write all policies into one; `order = […]` says which is outside of which",
        )),
        None => Ok(()),
    }
}

pub(super) fn future_returning(target: &Target) -> syn::Result<()> {
    let by_async_trait = |lifetime: &syn::LifetimeParam| {
        lifetime.lifetime.ident == "async_trait" && !target.is_async()
    };
    match target.output() {
        Some(_) if target.sig.generics.lifetimes().any(by_async_trait) => Err(diag::error(
            &target.sig.ident,
            "methods of `#[async_trait]` are not available in this version",
            "guard a function of its own, and call it from this method",
        )),
        Some(output) if !target.is_async() && is_future(output) => Err(diag::error(
            output,
            "functions that return a future are not available in this version",
            "`async fn`",
        )),
        _ => Ok(()),
    }
}

pub(super) fn late_needs_sync(policies: &Policies, target: &Target) -> syn::Result<()> {
    match policies.timeout.as_ref().and_then(|timeout| timeout.late.as_ref()) {
        Some((late, _)) if target.is_async() => Err(diag::error(
            late,
            "an async body is never late: it is dropped when its time is up",
            "remove `late`",
        )),
        _ => Ok(()),
    }
}

/// The other return types are asked by the compiler, through `FromRejected`.
pub(super) fn cannot_carry_rejection(policies: &Policies, target: &Target) -> syn::Result<()> {
    let Some(refusing) = refusing(policies).filter(|_| target.diverges()) else { return Ok(()) };
    let wrong = format!("a function that never returns cannot say that `{refusing}` refused it");
    Err(diag::error(target.output(), wrong, "a return type such as `Result<Infallible, MyError>`"))
}

/// A policy that may refuse or end a call.
fn refusing(policies: &Policies) -> Option<&Ident> {
    let keys = [
        policies.circuit_breaker.as_ref().map(Row::key),
        policies.rate_limiter.as_ref().map(Row::key),
        policies.bulkhead.as_ref().map(Row::key),
        policies.timeout.as_ref().map(Row::key),
        policies.deadline.as_ref().map(Row::key),
    ];
    keys.into_iter().flatten().next()
}

pub(super) fn returned_borrow_excludes_retry(
    policies: &Policies,
    target: &Target,
) -> syn::Result<()> {
    let exclusive = target.output().and_then(|output| Traits::of(output).exclusive);
    match (&policies.retry, exclusive) {
        (Some(retry), Some(_)) => Err(diag::error(
            retry.key(),
            "what one attempt returns as `&mut` would still be borrowed when the next one begins",
            "return an owned value or a shared reference, or leave out `retry`",
        )),
        _ => Ok(()),
    }
}

pub(super) fn classify_needs_the_error_type(
    word: Option<&Ident>,
    target: &Target,
) -> syn::Result<()> {
    let Some(word) = word else { return Ok(()) };
    match target.output() {
        Some(output) if error_type(output).is_some() || !is_plain(output) => Ok(()),
        _ => Err(diag::error(
            word,
            "`classify` asks the error type, and this function returns no `Result`",
            "return a `Result<T, E>`, or remove `classify`",
        )),
    }
}

pub(super) fn clone_names_an_argument(name: &Ident, target: &Target) -> syn::Result<()> {
    if name == "self" {
        let help = "clone it in the body: `let this = self.clone();`";
        return Err(diag::error(name, "`self` cannot be bound anew for each attempt", help));
    }
    let bindings = bindings(&target.sig);
    if bindings.iter().any(|binding| binding.name == *name) {
        return Ok(());
    }
    let names: Vec<_> = bindings.iter().map(|binding| binding.name.to_string()).collect();
    let written = name.to_string();
    let help = match diag::closest(&written, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if names.is_empty() => "remove `clone`".to_owned(),
        None => format!("the arguments are {}", diag::listed(names.iter().map(String::as_str))),
    };
    Err(diag::error(name, format!("this function has no argument `{name}`"), help))
}

pub(super) fn retry_needs_on(
    policies: &Policies,
    failure: Option<&Pattern>,
    target: &Target,
) -> syn::Result<()> {
    let Some(retry) = &policies.retry else { return Ok(()) };
    let plain = target.output().is_none_or(is_plain);
    if !plain || retry.on.is_some() || failure.is_some() || retries_timeouts(policies, target) {
        return Ok(());
    }
    let (returned, example) = match target.output() {
        None => ("()".to_owned(), "return a `Result`".to_owned()),
        Some(output) => {
            let text = output.to_token_stream().to_string().replace(" < ", "<").replace(" >", ">");
            let option = text.starts_with("Option");
            (
                text,
                if option {
                    "`retry(on = None)`".into()
                } else {
                    "`retry(on = …)` with a pattern".into()
                },
            )
        }
    };
    let wrong = format!("nothing says which `{returned}` is worth another attempt");
    Err(diag::error(retry.key(), wrong, example))
}
