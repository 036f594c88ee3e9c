//! `timeout`: the limit of one attempt.

use super::{Row, Rules};
use crate::diag::{self, Diagnostics};
use crate::syntax::{Entry, List, Value, shape};
use crate::values::{Duration, bare, unknown_word, word};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, ExprLit, ExprUnary, Lit};

/// A function's attempt timeout.
#[derive(Debug)]
pub(crate) struct Timeout {
    key: Ident,
    pub(crate) after: After,
    /// `late = …`, the key with what is written.
    pub(crate) late: Option<(Ident, Late)>,
}

/// What becomes of a value that a sync body returns too late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Late {
    /// It is returned.
    Keep,
    /// It is a timeout, as a late failure is.
    Timeout,
}

/// How long an attempt may take.
#[derive(Debug)]
pub(crate) enum After {
    Written(Duration),
    /// Computed for each attempt.
    Computed(Box<Expr>),
}

impl Row for Timeout {
    const KEY: &'static str = "timeout";

    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self> {
        let (after, late) = match value {
            Value::Expr(_, expr) => (After::Written(out.take(Duration::read(&expr))?), None),
            Value::List(group) => in_parentheses(&key, List::read(group.stream(), out), out)?,
            Value::Word | Value::Pattern(_) => {
                out.push(shape(&key, "timeout = \"200ms\""));
                return None;
            }
        };
        Some(Self { key, after, late })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, _rules: &mut Rules<'_>) {}

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        let after = match &self.after {
            After::Written(duration) => Some(quote!(.after(#duration))),
            After::Computed(_) => None,
        };
        Some((quote!(#rt::Timeout), quote!(#rt::Timeout::builder(#name) #after .build())))
    }
}

fn in_parentheses(
    key: &Ident,
    list: List,
    out: &mut Diagnostics,
) -> Option<(After, Option<(Ident, Late)>)> {
    let List { plain, entries } = list;
    let (mut after, mut late) = (None, None);
    for literal in plain {
        if after.is_some() {
            out.push(diag::error(literal, "an attempt has one timeout", "remove one of the two"));
            continue;
        }
        after = Some(After::Written(out.take(Duration::read(&literal))?));
    }
    let rest = List { plain: Vec::new(), entries };
    for entry in rest.known(&["after", "late"], &["isolate"], out) {
        if entry.key == "late" {
            let key = entry.key.clone();
            late = out.take(read_late(entry)).map(|read| (key, read));
            continue;
        }
        let repeated = after.is_some().then(|| {
            diag::error(&entry.key, "an attempt has one timeout", "remove one of the two")
        });
        let expr = out.take(entry.expr("after = limits.read"))?;
        match repeated {
            Some(error) => out.push(error),
            None if is_literal(&expr) => {
                after = Some(After::Written(out.take(Duration::read(&expr))?));
            }
            None => after = Some(After::Computed(Box::new(expr))),
        }
    }
    if after.is_none() && out.is_empty() {
        out.push(shape(key, "timeout = \"200ms\""));
    }
    Some((after?, late))
}

fn read_late(entry: Entry) -> syn::Result<Late> {
    const WORDS: [&str; 2] = ["keep", "timeout"];
    const EXAMPLE: &str = "late = timeout";
    let expr = entry.expr(EXAMPLE)?;
    let written = word(&expr, EXAMPLE)?;
    match written.to_string().as_str() {
        "keep" => Ok(Late::Keep),
        "timeout" => Ok(Late::Timeout),
        _ => Err(unknown_word(written, "treatment of what is late", &WORDS)),
    }
}

fn is_literal(expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(_) => true,
        Expr::Unary(ExprUnary { expr, .. }) => {
            matches!(bare(expr), Expr::Lit(ExprLit { lit: Lit::Int(_), .. }))
        }
        _ => false,
    }
}
