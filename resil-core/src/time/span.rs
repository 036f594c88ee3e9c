//! Spans of time as tests write them: `"1.5s"`, a `Duration`, or [`Nanos`].
//!
//! Invariant: a string means exactly what the same literal means in the attribute: digits, decimals, one of the units
//! `ns us ms s m h d`, no spaces; nothing is rounded.

use super::Nanos;
use core::time::Duration;

/// Something that says how long: `"10s"`, a [`Duration`] or [`Nanos`].
pub trait IntoSpan: sealed::Sealed {
    /// As nanoseconds.
    ///
    /// # Panics
    /// If a string is no duration.
    #[track_caller]
    fn into_span(self) -> Nanos;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for &str {}
    impl Sealed for core::time::Duration {}
    impl Sealed for super::Nanos {}
}

impl IntoSpan for &str {
    #[track_caller]
    fn into_span(self) -> Nanos {
        match parse(self) {
            Ok(span) => span,
            Err(problem) => panic!("`{}` is no duration: {problem}", self.escape_debug()),
        }
    }
}

impl IntoSpan for Duration {
    fn into_span(self) -> Nanos {
        Nanos::from_duration(self)
    }
}

impl IntoSpan for Nanos {
    fn into_span(self) -> Nanos {
        self
    }
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

fn parse(text: &str) -> Result<Nanos, &'static str> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let unit = &text[number.len()..];
    let Some((_, unit_ns)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err("it ends in one of `ns us ms s m h d`, as in `1.5s`");
    };
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return Err("digits follow the point, as in `1.5s`"),
        None => (number, ""),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return Err("it begins with a decimal number, as in `1.5s`");
    }
    let too_long = "it is longer than 584 years";
    let whole: u64 = whole.parse().map_err(|_| too_long)?;
    let ns = whole.checked_mul(*unit_ns).ok_or(too_long)?;
    let fraction = fraction.trim_end_matches('0');
    // No unit has as many factors of ten, and so nothing shorter than a nanosecond is a whole number of them.
    if fraction.len() > 20 {
        return Err("it is finer than a nanosecond");
    }
    let (mut part, mut places) = (0, 1);
    for digit in fraction.bytes() {
        part = part * 10 + u128::from(digit - b'0');
        places *= 10;
    }
    part *= u128::from(*unit_ns);
    if part % places != 0 {
        return Err("it is finer than a nanosecond");
    }
    let part = u64::try_from(part / places).map_err(|_| too_long)?;
    ns.checked_add(part).map(Nanos).ok_or(too_long)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_known() {
        for (text, ns) in [
            ("7ns", 7),
            ("7us", 7_000),
            ("7ms", 7_000_000),
            ("7s", 7_000_000_000),
            ("7m", 420_000_000_000),
            ("7h", 25_200_000_000_000),
            ("7d", 604_800_000_000_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Ok(Nanos(ns)), "{text}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(parse("1.5s"), Ok(Nanos(1_500_000_000)));
        assert_eq!(parse("0.000000001s"), Ok(Nanos(1)));
        assert_eq!(parse("0.00000000005m"), Ok(Nanos(3)));
        assert_eq!(parse("0.1d"), Ok(Nanos(8_640_000_000_000)));
        assert_eq!(parse("2.25ms"), Ok(Nanos(2_250_000)));
        assert_eq!(parse("1.50000000000000s"), Ok(Nanos(1_500_000_000)));
    }

    #[test]
    fn what_the_attribute_would_refuse_is_refused() {
        for text in [
            "",
            "s",
            "10",
            "1.s",
            ".5s",
            "1 s",
            "-1s",
            "+1s",
            "1.5ns",
            "1e3s",
            "1S",
            "1µs",
            "999999999d",
            "1.2.3s",
            "0.00000000005s",
            "1.00000000005s",
            "0.0000000000005h",
            "0.000000000000000000000000001d",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    #[should_panic(expected = "`10` is no duration: it ends in one of `ns us ms s m h d`")]
    fn a_bad_string_says_what_to_write() {
        let _ = "10".into_span();
    }
}
