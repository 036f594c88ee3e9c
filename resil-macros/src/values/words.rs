//! Values that are one of a few words, alone or with something in parentheses: `full`, `exponential("20ms", cap = "1s")`.

use super::{bare, value};
use crate::diag::{self, Diagnostics};
use darling::FromMeta;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, ExprAssign, ExprLit, Lit, Meta};

/// A word, perhaps with arguments.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) name: &'a Ident,
    arguments: Option<Vec<&'a Expr>>,
}

impl<'a> Call<'a> {
    /// `name` or `name(…)`, or nothing if it is something else.
    pub(crate) fn read(expr: &'a Expr) -> Option<Self> {
        match bare(expr) {
            Expr::Path(path) => Some(Self { name: path.path.get_ident()?, arguments: None }),
            Expr::Call(call) => {
                let name = Self::read(&call.func).filter(|inner| inner.arguments.is_none())?.name;
                Some(Self { name, arguments: Some(call.args.iter().map(bare).collect()) })
            }
            _ => None,
        }
    }

    /// What stands in the parentheses, in order; names of `name = value` only where `names` has them.
    pub(crate) fn arguments(
        &self,
        names: &[&str],
        example: &str,
        out: &mut Diagnostics,
    ) -> Option<Arguments<'a>> {
        let Some(written) = &self.arguments else {
            out.push(diag::error(
                self.name,
                format!("`{}` needs its values", self.name),
                format!("`{example}`"),
            ));
            return None;
        };
        let mut arguments = Arguments { plain: Vec::new(), named: Vec::new() };
        for &expr in written {
            let Expr::Assign(ExprAssign { left, right, .. }) = expr else {
                arguments.plain.push(expr);
                continue;
            };
            match Call::read(left) {
                Some(Call { name, arguments: None })
                    if names.contains(&name.to_string().as_str()) =>
                {
                    if arguments.named(&name.to_string()).is_some() {
                        out.push(diag::error(
                            name,
                            format!("`{name}` is written twice"),
                            "remove one of the two",
                        ));
                    }
                    arguments.named.push((name.to_string(), right));
                }
                _ => out.push(unknown_word(left, "name", names)),
            }
        }
        Some(arguments)
    }

    /// An error if something stands in parentheses.
    pub(crate) fn alone(&self, out: &mut Diagnostics) {
        if self.arguments.is_some() {
            let wrong = format!("`{}` takes nothing in parentheses", self.name);
            out.push(diag::error(self.name, wrong, format!("`{}`", self.name)));
        }
    }
}

/// What stood in the parentheses of a [`Call`].
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    pub(crate) plain: Vec<&'a Expr>,
    named: Vec<(String, &'a Expr)>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn named(&self, name: &str) -> Option<&'a Expr> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, expr)| *expr)
    }

    /// The only plain argument; an error that shows `example` if there are more or none.
    pub(crate) fn one(
        &self,
        call: &Call<'_>,
        example: &str,
        out: &mut Diagnostics,
    ) -> Option<&'a Expr> {
        match self.plain[..] {
            [one] => Some(one),
            [] => {
                let wrong = format!("`{}` needs its first value", call.name);
                out.push(diag::error(call.name, wrong, format!("`{example}`")));
                None
            }
            [_, second, ..] => {
                let wrong = format!("`{}` takes one value without a name", call.name);
                out.push(diag::error(second, wrong, format!("`{example}`")));
                None
            }
        }
    }
}

/// The error for a word that is none of `known`.
pub(crate) fn unknown_word(at: impl ToTokens, what: &str, known: &[&str]) -> syn::Error {
    let written = at.to_token_stream().to_string();
    let help = match diag::closest(&written, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => "remove it".to_owned(),
        None => format!("known here: {}", diag::listed(known.iter().copied())),
    };
    diag::error(at, format!("unknown {what} `{written}`"), help)
}

/// A single word, given as `key = word`.
pub(crate) fn word<'a>(expr: &'a Expr, example: &str) -> syn::Result<&'a Ident> {
    match Call::read(expr) {
        Some(Call { name, arguments: None }) => Ok(name),
        _ => Err(diag::error(expr, "expected a name", format!("`{example}`"))),
    }
}

/// `key`, `key = true` or `key = false`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch(pub(crate) bool);

impl FromMeta for Switch {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let expr = match meta {
            Meta::Path(_) => return Ok(Self(true)),
            other => value(other, "true")?,
        };
        match expr {
            Expr::Lit(ExprLit { lit: Lit::Bool(on), .. }) => Ok(Self(on.value)),
            other => {
                Err(diag::error(other, "expected `true` or `false`", "`true` or `false`").into())
            }
        }
    }
}
