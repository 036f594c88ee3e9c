//! `deadline`: the limit of a whole call.

use super::{Row, Rules};
use crate::diag::Diagnostics;
use crate::syntax::{Value, shape};
use crate::values::Duration;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// A function's deadline.
#[derive(Debug)]
pub(crate) struct Deadline {
    key: Ident,
    pub(crate) after: Duration,
}

impl Row for Deadline {
    const KEY: &'static str = "deadline";

    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self> {
        let Value::Expr(_, expr) = value else {
            out.push(shape(&key, "deadline = \"1s\""));
            return None;
        };
        Some(Self { key, after: out.take(Duration::read(&expr))? })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, _rules: &mut Rules<'_>) {}

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        let after = &self.after;
        let build = quote!(#rt::DeadlineLimit::builder(#name).after(#after).build());
        Some((quote!(#rt::DeadlineLimit), build))
    }
}
