//! The waits between attempts: how they grow, and how they are spread.

use super::{Call, Duration, Growth, Ratio, bare, every, unknown_word, value};
use crate::diag::{self, Diagnostics};
use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Expr, Meta};

/// `constant("50ms")`, `linear("50ms", cap = "1s")`, `exponential("50ms", factor = 2, cap = "1s")`,
/// `table("10ms", "50ms")`, `by(expr)`.
#[derive(Debug)]
pub(crate) enum Backoff {
    Constant(Duration),
    Linear(Growth),
    Exponential(Growth),
    Table(Vec<Duration>),
    By { expr: Box<Expr>, word: Ident },
}

/// `full`, `equal`, `decorrelated`, `plus_minus("20%")`, `none`.
#[derive(Debug)]
pub(crate) enum Jitter {
    /// The core's variant, and the word as written.
    Word(&'static str, Ident),
    PlusMinus(Ratio),
}

impl FromMeta for Backoff {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        const EXPONENTIAL: &str = "exponential(\"50ms\", cap = \"1s\")";
        const LINEAR: &str = "linear(\"50ms\", cap = \"1s\")";
        let known = ["constant", "linear", "exponential", "table", "by"];
        let expr = value(meta, EXPONENTIAL)?;
        let Some(call) = Call::read(expr) else {
            return Err(diag::error(
                expr,
                "expected a kind of backoff",
                format!("`backoff = {EXPONENTIAL}`"),
            )
            .into());
        };
        let mut out = Diagnostics::default();
        let backoff = match call.name.to_string().as_str() {
            "exponential" => {
                Growth::exponential(&call, EXPONENTIAL, &mut out).map(Self::Exponential)
            }
            "linear" => Growth::linear(&call, LINEAR, &mut out).map(Self::Linear),
            "constant" => one(&call, "constant(\"50ms\")", &mut out)
                .and_then(|delay| out.take(Duration::or_zero(delay)))
                .map(Self::Constant),
            "table" => table(&call, &mut out).map(Self::Table),
            "by" => one(&call, "by(Duration::from_millis(10) * n)", &mut out)
                .map(|expr| Self::By { expr: Box::new(expr.clone()), word: call.name.clone() }),
            _ => out.take(Err(unknown_word(call.name, "kind of backoff", &known))),
        };
        out.finish(backoff).map_err(every)
    }
}

fn one<'a>(call: &Call<'a>, example: &str, out: &mut Diagnostics) -> Option<&'a Expr> {
    call.arguments(&[], example, out)?.one(call, example, out)
}

fn table(call: &Call<'_>, out: &mut Diagnostics) -> Option<Vec<Duration>> {
    let example = "table(\"10ms\", \"50ms\", \"200ms\")";
    let plain = call.arguments(&[], example, out)?.plain;
    if plain.is_empty() {
        out.push(diag::error(
            call.name,
            "a table needs at least one delay",
            format!("`{example}`"),
        ));
    }
    let read: Vec<_> = plain.into_iter().map(|delay| out.take(Duration::or_zero(delay))).collect();
    read.into_iter().collect()
}

impl Backoff {
    /// The core's value; `rt` is where its types are.
    pub(crate) fn tokens(&self, rt: &TokenStream) -> TokenStream {
        let backoff = match self {
            Self::Constant(delay) => quote!(constant(#delay)),
            Self::Linear(Growth { base, cap, .. }) => quote!(linear(#base, #cap)),
            Self::Exponential(Growth { base, factor, cap, .. }) => {
                let factor = factor.map(|factor| quote!(.factor(#factor)));
                quote!(exponential(#base, #cap) #factor)
            }
            Self::Table(delays) => quote!(table(&[#(#delays),*])),
            Self::By { .. } => quote!(by()),
        };
        quote!(#rt::Backoff::#backoff)
    }
}

impl FromMeta for Jitter {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let known = ["full", "equal", "decorrelated", "plus_minus", "none"];
        let expr = value(meta, "full")?;
        let Some(call) = Call::read(expr) else {
            return Err(
                diag::error(bare(expr), "expected a kind of jitter", "`jitter = full`").into()
            );
        };
        let variant = match call.name.to_string().as_str() {
            "full" => "Full",
            "equal" => "Equal",
            "decorrelated" => "Decorrelated",
            "none" => "None",
            "plus_minus" => {
                let mut out = Diagnostics::default();
                let share = one(&call, "plus_minus(\"20%\")", &mut out)
                    .and_then(|share| out.take(Ratio::read(share)))
                    .map(Self::PlusMinus);
                return out.finish(share).map_err(every);
            }
            _ => return Err(unknown_word(call.name, "kind of jitter", &known).into()),
        };
        let mut out = Diagnostics::default();
        call.alone(&mut out);
        Ok(out.finish(Some(Self::Word(variant, call.name.clone())))?)
    }
}

impl Jitter {
    /// The core's value; `rt` is where its types are.
    pub(crate) fn tokens(&self, rt: &TokenStream) -> TokenStream {
        match self {
            Self::Word(variant, _) => {
                let variant = Ident::new(variant, Span::call_site());
                quote!(#rt::Jitter::#variant)
            }
            Self::PlusMinus(share) => {
                let share = share.tokens(rt);
                quote!(#rt::Jitter::PlusMinus(#share))
            }
        }
    }
}
