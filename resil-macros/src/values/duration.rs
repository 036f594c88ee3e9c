//! Spans of time: `"200ms"`, `"1.5s"`, `"5m"`.

use super::decimal::{Decimal, Fault};
use super::{bare, value};
use crate::diag;
use darling::FromMeta;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use std::ops::RangeInclusive;
use syn::{Expr, ExprLit, ExprUnary, Lit, Meta, UnOp};

/// A written span of time. Never zero, except where [`Duration::or_zero`] read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duration {
    pub(crate) ns: u64,
    pub(crate) span: Span,
}

const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

impl Duration {
    /// A duration longer than zero.
    pub(crate) fn read(expr: &Expr) -> syn::Result<Self> {
        let duration = Self::or_zero(expr)?;
        if duration.ns == 0 { Err(zero_duration(expr)) } else { Ok(duration) }
    }

    /// A duration that may be zero.
    pub(crate) fn or_zero(expr: &Expr) -> syn::Result<Self> {
        let literal = match bare(expr) {
            Expr::Lit(ExprLit { lit, .. }) => lit,
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr: inner, .. }) => {
                return Err(negative(expr, inner));
            }
            other => return Err(not_a_duration(other)),
        };
        match literal {
            Lit::Str(text) => parse(&text.value())
                .map(|ns| Self { ns, span: text.span() })
                .map_err(|(wrong, help)| diag::error(text, wrong, help)),
            Lit::Int(int) if int.suffix().is_empty() => Err(missing_unit(int, int.base10_digits())),
            Lit::Float(float) if float.suffix().is_empty() => {
                Err(missing_unit(float, float.base10_digits()))
            }
            Lit::Int(_) | Lit::Float(_) => {
                let text = literal.to_token_stream().to_string();
                Err(diag::error(
                    literal,
                    "a duration is written in quotes",
                    format!("`\"{text}\"`"),
                ))
            }
            other => Err(not_a_duration(other)),
        }
    }
}

impl Duration {
    /// An error if it is not one of `range`, in nanoseconds.
    pub(crate) fn within(self, name: &str, range: RangeInclusive<u64>) -> syn::Result<()> {
        let (least, most) = (shortest(*range.start()), shortest(*range.end()));
        let (wrong, nearest) = if self.ns < *range.start() {
            (format!("`{name}` is at least {least}"), least)
        } else if self.ns > *range.end() {
            (format!("`{name}` is at most {most}"), most)
        } else {
            return Ok(());
        };
        Err(diag::error_at(self.span, wrong, format!("`{name} = \"{nearest}\"`")))
    }

    /// For options whose default is no wait at all, which may be written as zero.
    pub(crate) fn or_none(meta: &Meta) -> darling::Result<Option<Self>> {
        Ok(Some(Self::or_zero(value(meta, "\"10ms\"")?)?))
    }
}

impl FromMeta for Duration {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self::read(value(meta, "\"200ms\"")?)?)
    }
}

/// `::core::time::Duration::from_millis(200)`: in the largest unit that is exact.
impl ToTokens for Duration {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let (from, count) = match self.ns {
            ns if ns % 1_000_000_000 == 0 => (quote!(from_secs), ns / 1_000_000_000),
            ns if ns % 1_000_000 == 0 => (quote!(from_millis), ns / 1_000_000),
            ns if ns % 1_000 == 0 => (quote!(from_micros), ns / 1_000),
            ns => (quote!(from_nanos), ns),
        };
        let count = proc_macro2::Literal::u64_unsuffixed(count);
        tokens.extend(quote!(::core::time::Duration::#from(#count)));
    }
}

fn missing_unit(at: impl ToTokens, digits: &str) -> syn::Error {
    let help = format!("`\"{digits}ms\"` is milliseconds, `\"{digits}s\"` seconds");
    diag::error(at, format!("the duration `{digits}` has no unit"), help)
}

fn zero_duration(at: &Expr) -> syn::Error {
    diag::error(
        at,
        "zero is neither \"at once\" nor \"without limit\"",
        "write a positive duration, such as `\"200ms\"`, or leave the option out",
    )
}

fn negative(at: impl ToTokens, positive: &Expr) -> syn::Error {
    let positive = positive.to_token_stream();
    diag::error(
        at,
        "a duration cannot be negative",
        format!("`{positive}` with its unit, in quotes"),
    )
}

fn not_a_duration(at: impl ToTokens) -> syn::Error {
    diag::error(at, "expected a duration", "a number and its unit in quotes, such as `\"200ms\"`")
}

/// What is wrong, and what to write.
pub(super) type Problem = (String, String);

pub(super) const KNOWN_UNITS: &str = "the units are `ns`, `us`, `ms`, `s`, `m`, `h` and `d`";

/// The nanoseconds of a unit.
pub(super) fn unit(name: &str) -> Option<u64> {
    UNITS.iter().find(|(known, _)| *known == name).map(|(_, ns)| *ns)
}

/// In the largest unit that is exact.
pub(super) fn shortest(ns: u64) -> String {
    let fitting = UNITS.iter().rev().find(|(_, size)| ns.is_multiple_of(*size));
    let (unit, size) = fitting.unwrap_or(&UNITS[0]);
    format!("{}{unit}", ns / size)
}

/// The nanoseconds of a written duration.
pub(super) fn parse(text: &str) -> Result<u64, Problem> {
    let bad = |wrong: &str, help: &str| Err((wrong.to_owned(), help.to_owned()));
    let squeezed: String = text.split_whitespace().collect();
    if squeezed != text {
        return match parse(&squeezed) {
            Ok(_) => bad("a duration is written without spaces", &format!("`\"{squeezed}\"`")),
            Err(problem) => Err(problem),
        };
    }
    if text.contains('/') {
        let wrong = format!("`{text}` is a rate, and this takes a duration");
        return bad(&wrong, "a number and its unit, such as `\"200ms\"`");
    }
    let start = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+' | '_' | '−'));
    let (number, unit) = text.split_at(start.unwrap_or(text.len()));
    if number.is_empty() {
        return bad(
            &format!("`{text}` does not begin with a number"),
            "a number and its unit, such as `\"200ms\"`",
        );
    }
    let decimal = match Decimal::parse(number) {
        Ok(decimal) => decimal,
        Err(Fault::Negative) => {
            let positive = text.trim_start_matches(['-', '−']);
            return bad("a duration cannot be negative", &format!("`\"{positive}\"`"));
        }
        Err(Fault::TooLarge | Fault::TooFine) => return too_long(text),
        Err(Fault::Malformed) => {
            return bad(
                &format!("`{number}` is not a plain number"),
                "digits with at most one point between them, such as `\"1.5s\"`",
            );
        }
    };
    let Some(ns) = self::unit(unit) else { return unknown_unit(text, number, unit) };
    match decimal.times(ns) {
        Ok(ns) => Ok(ns),
        Err(Fault::TooFine) => bad(
            &format!("`{text}` is not a whole number of nanoseconds"),
            "`\"1ns\"` is the finest",
        ),
        Err(_) => too_long(text),
    }
}

fn too_long(text: &str) -> Result<u64, Problem> {
    Err((
        format!("`{text}` is longer than 584 years"),
        "a shorter duration, such as `\"1h\"`".into(),
    ))
}

fn unknown_unit(text: &str, number: &str, unit: &str) -> Result<u64, Problem> {
    if unit.is_empty() {
        let help = format!("`\"{number}ms\"` is milliseconds, `\"{number}s\"` seconds");
        return Err((format!("the duration `{text}` has no unit"), help));
    }
    if let Some((ns, unit)) = compound(text) {
        let wrong = format!("`{text}` has more than one unit");
        let size = self::unit(unit).unwrap_or(1);
        return Err((wrong, format!("`\"{}{unit}\"`", ns / size)));
    }
    let help = match meant(unit) {
        Some(known) => format!("`\"{number}{known}\"`"),
        None => KNOWN_UNITS.to_owned(),
    };
    Err((format!("unknown unit `{unit}` in the duration `{text}`"), help))
}

/// The length of `1h30m`, and its last unit.
fn compound(text: &str) -> Option<(u64, &str)> {
    let (mut rest, mut total, mut last) = (text, 0_u64, None);
    while !rest.is_empty() {
        let unit = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, tail) = rest.split_at(unit);
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let size = self::unit(unit)?;
        total = total.checked_add(Decimal::parse(number).ok()?.times(size).ok()?)?;
        (rest, last) = (tail, Some((size, unit)));
    }
    let (size, unit) = last?;
    (total % size == 0).then_some((total, unit))
}

/// The unit behind other ways to write it.
pub(super) fn meant(unit: &str) -> Option<&'static str> {
    Some(match unit.to_lowercase().as_str() {
        "nanos" | "nsec" | "nanosecond" | "nanoseconds" | "ns" => "ns",
        "µs" | "μs" | "micros" | "usec" | "microsecond" | "microseconds" | "us" => "us",
        "millis" | "msec" | "msecs" | "millisecond" | "milliseconds" | "ms" => "ms",
        "sec" | "secs" | "second" | "seconds" | "s" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hr" | "hrs" | "hour" | "hours" | "h" => "h",
        "day" | "days" | "d" => "d",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn every_unit_is_read_exactly() {
        for (text, ns) in [
            ("1ns", 1),
            ("7us", 7_000),
            ("200ms", 200_000_000),
            ("1.5s", 1_500_000_000),
            ("0.000000001s", 1),
            ("2m", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("365d", 31_536_000_000_000_000),
            ("0ms", 0),
        ] {
            assert_eq!(parse(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn rg19_nonsense_durations_are_refused_each_with_its_reason() {
        for (text, wrong, help) in [
            ("200", "has no unit", "`\"200ms\"` is milliseconds, `\"200s\"` seconds"),
            ("200 ms", "without spaces", "`\"200ms\"`"),
            ("1h30m", "more than one unit", "`\"90m\"`"),
            ("100/s", "`100/s` is a rate", "such as"),
            ("1m500ms", "more than one unit", "`\"60500ms\"`"),
            ("-5ms", "cannot be negative", "`\"5ms\"`"),
            ("1e400s", "unknown unit `e400s`", "the units are"),
            ("µs", "does not begin with a number", "such as"),
            ("5\u{b5}s", "unknown unit `µs`", "`\"5us\"`"),
            ("5\u{3bc}s", "unknown unit", "`\"5us\"`"),
            ("5S", "unknown unit `S`", "`\"5s\"`"),
            ("5 seconds", "unknown unit `seconds`", "`\"5s\"`"),
            ("5M", "unknown unit `M`", "the units are"),
            ("5x", "unknown unit `x`", "the units are"),
            ("", "does not begin with a number", "such as"),
            ("ms", "does not begin with a number", "such as"),
            ("inf", "does not begin with a number", "such as"),
            ("1.2.3s", "not a plain number", "such as"),
            (".5s", "not a plain number", "such as"),
            ("1_000ms", "not a plain number", "such as"),
            ("+1s", "not a plain number", "such as"),
            ("0.5ns", "not a whole number of nanoseconds", "finest"),
            ("99999999999999999999s", "longer than 584 years", "shorter"),
            ("300000d", "longer than 584 years", "shorter"),
        ] {
            let (said, helped) = parse(text).expect_err(text);
            assert!(said.contains(wrong), "{text}: {said}");
            assert!(helped.contains(help), "{text}: {helped}");
        }
    }

    #[test]
    fn what_is_no_string_is_refused_at_its_place() {
        for (expr, wrong) in [
            (
                parse_quote!(200),
                "the duration `200` has no unit\nhelp: `\"200ms\"` is milliseconds, `\"200s\"` seconds",
            ),
            (parse_quote!(0.5), "the duration `0.5` has no unit"),
            (parse_quote!(200ms), "a duration is written in quotes\nhelp: `\"200ms\"`"),
            (parse_quote!(-5), "a duration cannot be negative"),
            (parse_quote!(TIMEOUT), "expected a duration"),
            (parse_quote!("0s"), "zero is neither"),
            (parse_quote!(true), "expected a duration"),
        ] as [(Expr, &str); 7]
        {
            let said = Duration::read(&expr).expect_err(wrong).to_string();
            assert!(said.starts_with(wrong), "{said}");
        }
        assert_eq!(Duration::or_zero(&parse_quote!("0s")).expect("zero").ns, 0);
    }

    #[test]
    fn the_tokens_are_what_one_would_write() {
        let tokens = |text: &str| {
            Duration::read(&parse_quote!(#text)).expect(text).to_token_stream().to_string()
        };
        assert_eq!(tokens("90s").replace(' ', ""), "::core::time::Duration::from_secs(90)");
        assert_eq!(tokens("1.5s").replace(' ', ""), "::core::time::Duration::from_millis(1500)");
        assert_eq!(tokens("1.5ms").replace(' ', ""), "::core::time::Duration::from_micros(1500)");
        assert_eq!(tokens("7ns").replace(' ', ""), "::core::time::Duration::from_nanos(7)");
    }
}
