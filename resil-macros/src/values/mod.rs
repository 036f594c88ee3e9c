//! What is written as the value of an option: typed, in range of its type, and with its place in the source.
//!
//! Invariant: nothing is rounded, clamped or guessed. What cannot be taken exactly as it stands is an error at the
//! literal.

mod count;
mod decimal;
mod duration;
mod growth;
mod pattern;
mod rate;
mod ratio;
mod waits;
mod words;

pub(crate) use count::Count;
pub(crate) use duration::Duration;
pub(crate) use growth::Growth;
pub(crate) use pattern::Pattern;
pub(crate) use rate::Rate;
pub(crate) use ratio::Ratio;
pub(crate) use waits::{Backoff, Jitter};
pub(crate) use words::{Call, Switch, unknown_word, word};

use crate::diag;
use syn::{Expr, Meta};

/// The expression behind `key =`; an error that shows `example` for a bare word or a list.
pub(crate) fn value<'a>(meta: &'a Meta, example: &str) -> syn::Result<&'a Expr> {
    if let Meta::NameValue(pair) = meta {
        return Ok(bare(&pair.value));
    }
    let path = meta.path();
    let key = quote::ToTokens::to_token_stream(path);
    Err(diag::error(path, format!("`{key}` takes a value"), format!("`{key} = {example}`")))
}

/// All of the errors, as `darling` takes them.
pub(crate) fn every(errors: syn::Error) -> darling::Error {
    darling::Error::multiple(errors.into_iter().map(darling::Error::from).collect())
}

/// The expression without the invisible or written parentheses around it.
pub(crate) fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => bare(&group.expr),
        Expr::Paren(paren) => bare(&paren.expr),
        other => other,
    }
}
