//! Shares of a whole: `"50%"` or `0.5`.

use super::decimal::{Decimal, Fault};
use super::{bare, value};
use crate::diag;
use darling::FromMeta;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit, Meta};

/// A written share, at most all. Never zero, except where [`Ratio::or_none`] read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub(crate) millionths: u32,
    pub(crate) span: Span,
}

const WHOLE: u32 = 1_000_000;

impl Ratio {
    /// A share above zero.
    pub(crate) fn read(expr: &Expr) -> syn::Result<Self> {
        let ratio = Self::or_zero(expr)?;
        if ratio.millionths == 0 {
            return Err(diag::error(expr, "a share of zero is never meant", EXAMPLE));
        }
        Ok(ratio)
    }

    /// For options that may be nothing.
    pub(crate) fn or_none(meta: &Meta) -> darling::Result<Option<Self>> {
        Ok(Some(Self::or_zero(value(meta, "\"20%\"")?)?))
    }

    fn or_zero(expr: &Expr) -> syn::Result<Self> {
        let literal = match bare(expr) {
            Expr::Lit(ExprLit { lit, .. }) => lit,
            other => return Err(not_a_ratio(other)),
        };
        let decimal = match literal {
            Lit::Str(text) => percent(&text.value()),
            Lit::Float(float) if float.suffix().is_empty() => {
                Decimal::parse(&float.to_string().replace('_', ""))
                    .and_then(|n| n.times(WHOLE.into()))
            }
            Lit::Int(int) => return Err(bare_ratio(int, int.base10_digits())),
            other => return Err(not_a_ratio(other)),
        };
        match decimal {
            Ok(millionths) if millionths <= WHOLE.into() => Ok(Self {
                millionths: u32::try_from(millionths).unwrap_or(WHOLE),
                span: literal.span(),
            }),
            Ok(_) | Err(Fault::TooLarge) => Err(diag::error(
                literal,
                "a share cannot be more than 100 %",
                "`\"100%\"` or `1.0` is all",
            )),
            Err(Fault::TooFine) => Err(diag::error(
                literal,
                "a share is kept in millionths, this one is finer",
                "at most four digits after the point of a percentage, six after that of a fraction",
            )),
            Err(Fault::Malformed | Fault::Negative) => Err(not_a_ratio(literal)),
        }
    }

    /// The core's value, as one would write it; `rt` is where the core's types are.
    pub(crate) fn tokens(self, rt: &TokenStream) -> TokenStream {
        let unit = WHOLE / 100;
        if self.millionths.is_multiple_of(unit) {
            let percent = Literal::u32_unsuffixed(self.millionths / unit);
            quote!(#rt::Ratio::percent(#percent))
        } else {
            let millionths = Literal::u32_unsuffixed(self.millionths);
            quote!(#rt::Ratio::from_millionths(#millionths))
        }
    }
}

impl FromMeta for Ratio {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self::read(value(meta, "\"50%\"")?)?)
    }
}

const EXAMPLE: &str = "`\"50%\"` or `0.5`";

/// The millionths of `"12.5%"`.
fn percent(text: &str) -> Result<u64, Fault> {
    let number = text.strip_suffix('%').ok_or(Fault::Malformed)?;
    Decimal::parse(number)?.times(u64::from(WHOLE / 100))
}

fn bare_ratio(at: impl ToTokens, digits: &str) -> syn::Error {
    let help = match digits {
        "1" => "`\"1%\"` is a hundredth, `1.0` or `\"100%\"` is all".to_owned(),
        "0" => EXAMPLE.to_owned(),
        _ => format!("`\"{digits}%\"`, or a fraction such as `0.5`"),
    };
    diag::error(at, format!("`{digits}` may be a percentage or a fraction"), help)
}

fn not_a_ratio(at: impl ToTokens) -> syn::Error {
    diag::error(at, "expected a share of a whole", EXAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn both_ways_to_write_a_share_are_exact() {
        for (expr, millionths) in [
            (parse_quote!("50%"), 500_000),
            (parse_quote!("12.5%"), 125_000),
            (parse_quote!("0.0001%"), 1),
            (parse_quote!("100%"), 1_000_000),
            (parse_quote!(0.5), 500_000),
            (parse_quote!(0.1), 100_000),
            (parse_quote!(0.000_001), 1),
            (parse_quote!(1.0), 1_000_000),
        ] as [(Expr, u32); 8]
        {
            assert_eq!(Ratio::read(&expr).expect("a ratio").millionths, millionths);
        }
    }

    #[test]
    fn x10_rg19_nonsense_shares_are_refused_each_with_its_reason() {
        for (expr, wrong) in [
            (
                parse_quote!(1),
                "`1` may be a percentage or a fraction\nhelp: `\"1%\"` is a hundredth, `1.0` or `\"100%\"` is all",
            ),
            (parse_quote!(50), "`50` may be a percentage or a fraction\nhelp: `\"50%\"`"),
            (parse_quote!(0), "`0` may be"),
            (parse_quote!("101%"), "a share cannot be more than 100 %"),
            (parse_quote!(1.5), "a share cannot be more than 100 %"),
            (parse_quote!("0%"), "a share of zero"),
            (parse_quote!(0.0), "a share of zero"),
            (parse_quote!("-1%"), "expected a share"),
            (parse_quote!(-0.5), "expected a share"),
            (parse_quote!("NaN"), "expected a share"),
            (parse_quote!("inf%"), "expected a share"),
            (parse_quote!("0.5"), "expected a share"),
            (parse_quote!(5e-1), "expected a share"),
            (parse_quote!("50 %"), "expected a share"),
            (parse_quote!(0.000_000_1), "a share is kept in millionths"),
            (parse_quote!(f64::NAN), "expected a share"),
        ] as [(Expr, &str); 16]
        {
            let said = Ratio::read(&expr).expect_err(wrong).to_string();
            assert!(said.starts_with(wrong), "{said}");
        }
    }
}
