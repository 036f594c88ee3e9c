//! Numbers of things: `3`.

use super::{bare, value};
use crate::diag;
use darling::FromMeta;
use proc_macro2::{Literal, Span, TokenStream};
use quote::ToTokens;
use std::ops::RangeInclusive;
use syn::{Expr, ExprLit, ExprUnary, Lit, Meta, UnOp};

/// A written number of things.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) value: u32,
    pub(crate) span: Span,
}

impl Count {
    pub(crate) fn read(expr: &Expr) -> syn::Result<Self> {
        let example = "a whole number without quotes, such as `3`";
        match bare(expr) {
            Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) if !int.suffix().is_empty() => {
                Err(diag::error(int, "expected a number without a unit", example))
            }
            Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => match int.base10_parse() {
                Ok(value) => Ok(Self { value, span: int.span() }),
                Err(_) => Err(diag::error(int, "this number is far too large", example)),
            },
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), .. }) => {
                Err(diag::error(expr, "a count cannot be negative", example))
            }
            other => Err(diag::error(other, "expected a whole number", example)),
        }
    }

    /// An error if it is not one of `range`.
    pub(crate) fn within(self, name: &str, range: RangeInclusive<u32>) -> syn::Result<()> {
        if range.contains(&self.value) { Ok(()) } else { Err(out_of_range(self, name, &range)) }
    }
}

impl FromMeta for Count {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self::read(value(meta, "3")?)?)
    }
}

impl ToTokens for Count {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let mut literal = Literal::u32_unsuffixed(self.value);
        literal.set_span(self.span);
        literal.to_tokens(tokens);
    }
}

fn out_of_range(count: Count, name: &str, range: &RangeInclusive<u32>) -> syn::Error {
    let (least, most) = (range.start(), range.end());
    let (wrong, help) = if count.value < *least {
        (format!("`{name}` is at least {least}"), format!("`{name} = {least}`"))
    } else {
        (format!("`{name}` is at most {most}"), format!("`{name} = {most}`"))
    };
    diag::error(count, wrong, help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn rg19_what_is_no_count_is_refused_with_its_reason() {
        for (expr, wrong) in [
            (parse_quote!(-1), "a count cannot be negative"),
            (parse_quote!("3"), "expected a whole number"),
            (parse_quote!(3.0), "expected a whole number"),
            (parse_quote!(3s), "expected a number without a unit"),
            (parse_quote!(4_294_967_296), "this number is far too large"),
            (parse_quote!(N), "expected a whole number"),
        ] as [(Expr, &str); 6]
        {
            let said = Count::read(&expr).expect_err(wrong).to_string();
            assert!(said.starts_with(wrong), "{said}");
        }
        assert_eq!(Count::read(&parse_quote!(1_000)).expect("a count").value, 1000);
    }

    #[test]
    fn a_range_names_the_nearest_number_in_it() {
        let count = Count { value: 2000, span: Span::call_site() };
        let said = count.within("window", 1..=1024).expect_err("too large").to_string();
        assert_eq!(said, "`window` is at most 1024\nhelp: `window = 1024`");
        assert!(count.within("window", 1..=2000).is_ok());
    }
}
