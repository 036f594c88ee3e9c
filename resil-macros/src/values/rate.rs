//! How many in which time: `"100/s"`, `"10/250ms"`.

use super::decimal::{Decimal, Fault};
use super::duration::{self, Problem};
use super::{bare, value};
use crate::diag;
use darling::FromMeta;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprBinary, ExprLit, ExprUnary, Lit, Meta, UnOp};

/// A written rate: at least one, and at most one a nanosecond.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) permits: u64,
    pub(crate) per_ns: u64,
    pub(crate) span: Span,
}

const SECOND: u64 = 1_000_000_000;
const EXAMPLE: &str = "a number and a period in quotes, such as `\"100/s\"` or `\"10/250ms\"`";

impl Rate {
    /// The longest period, and the longest time in which a burst has to come in: ten years.
    pub(crate) const LONGEST_NS: u64 = 10 * 365 * 86_400 * SECOND;

    pub(crate) fn read(expr: &Expr) -> syn::Result<Self> {
        match bare(expr) {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => parse(&text.value())
                .map(|(permits, per_ns)| Self { permits, per_ns, span: text.span() })
                .map_err(|(wrong, help)| diag::error(text, wrong, help)),
            Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) if int.suffix().is_empty() => {
                let (wrong, help) = no_period(int.base10_digits());
                Err(diag::error(int, wrong, help))
            }
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), .. }) => {
                Err(diag::error(expr, "a rate cannot be negative", EXAMPLE))
            }
            quotient @ Expr::Binary(ExprBinary { op: syn::BinOp::Div(_), .. }) => {
                let text = quotient.to_token_stream().to_string().replace(' ', "");
                let wrong = "a rate is written in quotes";
                Err(diag::error(quotient, wrong, format!("`\"{text}\"`")))
            }
            other => Err(diag::error(other, "expected a rate", EXAMPLE)),
        }
    }

    /// The core's value, as one would write it; `rt` is where the core's types are.
    pub(crate) fn tokens(self, rt: &TokenStream) -> TokenStream {
        let permits = Literal::u64_unsuffixed(self.permits);
        if self.per_ns == SECOND {
            quote!(#rt::Rate::per_second(#permits))
        } else {
            let per = super::Duration { ns: self.per_ns, span: self.span };
            quote!(#rt::Rate::new(#permits, #per))
        }
    }
}

impl FromMeta for Rate {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self::read(value(meta, "\"100/s\"")?)?)
    }
}

/// How many, and in how many nanoseconds.
fn parse(text: &str) -> Result<(u64, u64), Problem> {
    let Some((number, period)) = text.split_once('/') else { return Err(no_period(text)) };
    let squeezed = without_spaces(text);
    if squeezed != text {
        parse(&squeezed)?;
        return bad("a rate is written without spaces", format!("`\"{squeezed}\"`"));
    }
    if number.is_empty() {
        return bad(format!("`{text}` does not say how many"), EXAMPLE);
    }
    if period.is_empty() {
        return Err(no_period(number));
    }
    if period.contains('/') {
        return bad(format!("`{text}` has more than one `/`"), EXAMPLE);
    }
    let (permits, per_ns) = (permits(number, period)?, per(number, period)?);
    if per_ns > Rate::LONGEST_NS {
        let longest = duration::shortest(Rate::LONGEST_NS);
        return bad(
            format!("the period of `{text}` is longer than ten years"),
            format!("`\"{number}/{longest}\"` is the longest"),
        );
    }
    if permits > per_ns {
        let most = format!("`\"{per_ns}/{period}\"` is the fastest");
        return bad(format!("`{text}` is more than one a nanosecond"), most);
    }
    Ok((permits, per_ns))
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

fn bad<T>(wrong: impl Into<String>, help: impl Into<String>) -> Result<T, Problem> {
    Err((wrong.into(), help.into()))
}

/// The number in front of the `/`.
fn permits(number: &str, period: &str) -> Result<u64, Problem> {
    let written = |number: &str| format!("`\"{number}/{period}\"`");
    let decimal = match Decimal::parse(number) {
        Ok(decimal) => decimal,
        Err(Fault::Negative) => {
            let positive = number.trim_start_matches(['-', '−']);
            return bad("a rate cannot be negative", written(positive));
        }
        Err(Fault::TooLarge | Fault::TooFine) => {
            return bad(format!("`{number}` is far too many"), EXAMPLE);
        }
        Err(Fault::Malformed) => {
            let plain = number.replace(['_', ','], "");
            let help = match Decimal::parse(&plain) {
                Ok(_) => written(&plain),
                Err(_) => EXAMPLE.to_owned(),
            };
            return bad(format!("`{number}` is not a plain number"), help);
        }
    };
    match decimal.times(1) {
        Ok(0) => bad(
            format!("a rate of `{number}/{period}` lets nothing pass, ever"),
            "at least one, such as `\"1/s\"`",
        ),
        Ok(permits) => Ok(permits),
        Err(Fault::TooFine) => bad(
            format!("`{number}` is not a whole number"),
            in_whole_numbers(decimal, number, period),
        ),
        Err(_) => bad(format!("`{number}` is far too many"), EXAMPLE),
    }
}

/// `"1.5/s"` is `"3/2s"`.
fn in_whole_numbers(decimal: Decimal, number: &str, period: &str) -> String {
    let stretched = || {
        let meant = duration::meant(period).and_then(duration::unit);
        let per = per(number, period).ok().or(meant)?;
        let mut scale = (1..=9).map(|digits| 10_u64.pow(digits));
        let (permits, scale) = scale.find_map(|by| Some((decimal.times(by).ok()?, by)))?;
        let common = divisor(permits, scale);
        let per = duration::shortest(per.checked_mul(scale / common)?);
        (permits > 0).then(|| format!("`\"{}/{per}\"`", permits / common))
    };
    stretched().unwrap_or_else(|| "a whole number in a longer period, such as `\"3/2s\"`".into())
}

fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// The nanoseconds of what stands behind the `/`.
fn per(number: &str, period: &str) -> Result<u64, Problem> {
    if period.starts_with(|c: char| c.is_alphabetic()) {
        if let Some(ns) = duration::unit(period) {
            return Ok(ns);
        }
        let help = match duration::meant(period) {
            Some(known) => format!("`\"{number}/{known}\"`"),
            None => duration::KNOWN_UNITS.to_owned(),
        };
        return bad(format!("unknown unit `{period}` in the rate `{number}/{period}`"), help);
    }
    match duration::parse(period) {
        Ok(0) => bad("a period of zero has room for nothing", "`\"100/s\"` is 100 a second"),
        Ok(ns) => Ok(ns),
        // What it shows is a duration; here that is the part behind the `/`.
        Err((wrong, help)) => bad(wrong, help.replace("`\"", &format!("`\"{number}/"))),
    }
}

/// What is meant by a text without a `/`.
fn no_period(text: &str) -> Problem {
    let squeezed = without_spaces(text);
    let end = squeezed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(squeezed.len());
    let (number, rest) = squeezed.split_at(end);
    if !number.is_empty() && rest.is_empty() {
        let help = format!("`\"{number}/s\"` is so many a second, `\"{number}/m\"` a minute");
        return (format!("the rate `{text}` has no period"), help);
    }
    if duration::parse(&squeezed).is_ok_and(|ns| ns > 0) {
        let help = format!("`\"1/{squeezed}\"` is one every {squeezed}");
        return (format!("`{text}` is a span of time and not a rate"), help);
    }
    let period = match rest.to_lowercase().trim_start_matches("per") {
        "rps" | "qps" | "tps" | "ps" | "hz" => Some("s"),
        "rpm" | "qpm" | "tpm" | "pm" => Some("m"),
        "rph" | "qph" | "ph" => Some("h"),
        other => duration::meant(other),
    };
    let help = match period.filter(|_| !number.is_empty()) {
        Some(period) => format!("`\"{number}/{period}\"`"),
        None => EXAMPLE.to_owned(),
    };
    (format!("`{text}` is not a rate"), help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn every_way_to_write_a_rate_is_exact() {
        for (text, rate) in [
            ("100/s", (100, SECOND)),
            ("10/250ms", (10, 250_000_000)),
            ("1/d", (1, 86_400 * SECOND)),
            ("7/2.5s", (7, 2_500_000_000)),
            ("1.0/s", (1, SECOND)),
            ("1000000000/s", (SECOND, SECOND)),
            ("1/ns", (1, 1)),
            ("1/3650d", (1, Rate::LONGEST_NS)),
        ] {
            assert_eq!(parse(text), Ok(rate), "{text}");
        }
    }

    #[test]
    fn rg19_nonsense_rates_are_refused_each_with_its_reason() {
        for (text, wrong, help) in [
            ("100", "the rate `100` has no period", "`\"100/s\"` is so many a second, `\"100/m\"`"),
            ("100/", "the rate `100` has no period", "`\"100/s\"`"),
            ("/s", "does not say how many", "such as"),
            ("", "`` is not a rate", "such as"),
            ("/", "does not say how many", "such as"),
            ("0/s", "lets nothing pass", "at least one"),
            ("0.0/s", "lets nothing pass", "at least one"),
            ("100/0s", "a period of zero", "`\"100/s\"`"),
            ("-5/s", "cannot be negative", "`\"5/s\"`"),
            ("5/-1s", "a duration cannot be negative", "`\"5/1s\"`"),
            ("1.5/s", "`1.5` is not a whole number", "`\"3/2s\"`"),
            ("2.5/sec", "`2.5` is not a whole number", "`\"5/2s\"`"),
            ("0.1/s", "`0.1` is not a whole number", "`\"1/10s\"`"),
            ("2.25/250ms", "not a whole number", "`\"9/1s\"`"),
            ("0.00000000001/d", "not a whole number", "longer period"),
            ("100 / s", "without spaces", "`\"100/s\"`"),
            ("100/ 250 ms", "without spaces", "`\"100/250ms\"`"),
            ("100 per second", "`100 per second` is not a rate", "`\"100/s\"`"),
            ("100 rps", "is not a rate", "`\"100/s\"`"),
            ("100rpm", "is not a rate", "`\"100/m\"`"),
            ("100hz", "is not a rate", "`\"100/s\"`"),
            ("100/sec", "unknown unit `sec` in the rate `100/sec`", "`\"100/s\"`"),
            ("100/minute", "unknown unit `minute`", "`\"100/m\"`"),
            ("100/S", "unknown unit `S`", "`\"100/s\"`"),
            ("100/M", "unknown unit `M`", "the units are"),
            ("100/week", "unknown unit `week`", "the units are"),
            ("100/250", "the duration `250` has no unit", "`\"100/250ms\"`"),
            ("100/1h30m", "more than one unit", "`\"100/90m\"`"),
            ("10/5secs", "unknown unit `secs`", "`\"10/5s\"`"),
            ("100ms", "is a span of time and not a rate", "`\"1/100ms\"` is one every 100ms"),
            ("1_000/s", "not a plain number", "`\"1000/s\"`"),
            ("1,000/s", "not a plain number", "`\"1000/s\"`"),
            ("1e3/s", "not a plain number", "such as"),
            ("1k/s", "not a plain number", "such as"),
            ("+5/s", "not a plain number", "such as"),
            ("inf/s", "not a plain number", "such as"),
            ("s/100", "not a plain number", "such as"),
            ("100/s/s", "more than one `/`", "such as"),
            ("fast", "`fast` is not a rate", "such as"),
            ("2000000000/s", "more than one a nanosecond", "`\"1000000000/s\"` is the fastest"),
            ("2/ns", "more than one a nanosecond", "`\"1/ns\"` is the fastest"),
            ("1/0.5ns", "not a whole number of nanoseconds", "`\"1/1ns\"`"),
            ("1/3651d", "longer than ten years", "`\"1/3650d\"` is the longest"),
            ("18446744073709551615/3650d", "more than one a nanosecond", "is the fastest"),
            ("1/300000d", "longer than 584 years", "`\"1/1h\"`"),
            ("99999999999999999999999/s", "is far too many", "such as"),
            ("99999999999999999999999999999999999999999/s", "is far too many", "such as"),
        ] {
            let (said, helped) = parse(text).expect_err(text);
            assert!(said.contains(wrong), "{text}: {said}");
            assert!(helped.contains(help), "{text}: {helped}");
        }
    }

    #[test]
    fn x09_what_is_no_string_is_refused_at_its_place() {
        for (expr, wrong) in [
            (
                parse_quote!(100),
                "the rate `100` has no period\nhelp: `\"100/s\"` is so many a second, `\"100/m\"` a minute",
            ),
            (parse_quote!(100 / s), "a rate is written in quotes\nhelp: `\"100/s\"`"),
            (parse_quote!(10 / 250ms), "a rate is written in quotes\nhelp: `\"10/250ms\"`"),
            (parse_quote!(-5), "a rate cannot be negative"),
            (parse_quote!(1.5), "expected a rate"),
            (parse_quote!(RATE), "expected a rate"),
            (parse_quote!(true), "expected a rate"),
        ] as [(Expr, &str); 7]
        {
            let said = Rate::read(&expr).expect_err(wrong).to_string();
            assert!(said.starts_with(wrong), "{said}");
        }
    }

    #[test]
    fn the_tokens_are_what_one_would_write() {
        let tokens = |text: &str| {
            let rate = Rate::read(&parse_quote!(#text)).expect(text);
            rate.tokens(&quote!(rt)).to_string().replace(' ', "")
        };
        assert_eq!(tokens("100/s"), "rt::Rate::per_second(100)");
        assert_eq!(tokens("100/1000ms"), "rt::Rate::per_second(100)");
        assert_eq!(
            tokens("10/250ms"),
            "rt::Rate::new(10,::core::time::Duration::from_millis(250))"
        );
    }
}
