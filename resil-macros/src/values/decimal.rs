//! A number as people write it, without the rounding of binary fractions.

/// `digits` / 10^`scale`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Decimal {
    digits: u128,
    scale: u32,
}

/// Why a text is no number, or not one of the wanted unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// It begins with a minus sign.
    Negative,
    /// It is not digits with at most one point between them.
    Malformed,
    /// It is larger than anything that is meant.
    TooLarge,
    /// It is finer than the unit.
    TooFine,
}

impl Decimal {
    pub(super) fn parse(text: &str) -> Result<Self, Fault> {
        if text.starts_with(['-', '−']) {
            return Err(Fault::Negative);
        }
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return Err(Fault::Malformed),
            Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
            None => (text, ""),
        };
        let all = format!("{whole}{fraction}");
        if whole.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Fault::Malformed);
        }
        let scale = u32::try_from(fraction.len()).map_err(|_| Fault::TooFine)?;
        // All are digits, so that nothing but the size can be wrong.
        let digits = all.parse().map_err(|_| Fault::TooLarge)?;
        Ok(Self { digits, scale })
    }

    /// How many times `1 / unit` it is, exactly.
    pub(super) fn times(self, unit: u64) -> Result<u64, Fault> {
        let scaled = self.digits.checked_mul(unit.into()).ok_or(Fault::TooLarge)?;
        let divisor = 10_u128.checked_pow(self.scale).ok_or(Fault::TooFine)?;
        if scaled % divisor != 0 {
            return Err(Fault::TooFine);
        }
        u64::try_from(scaled / divisor).map_err(|_| Fault::TooLarge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_exact() {
        let times = |text, unit| Decimal::parse(text).and_then(|decimal| decimal.times(unit));
        assert_eq!(times("0.1", 1_000_000), Ok(100_000));
        assert_eq!(times("1.50", 1_000), Ok(1_500));
        assert_eq!(times("007", 1), Ok(7));
        assert_eq!(times("0.0001", 1_000), Err(Fault::TooFine));
        assert_eq!(times("18446744073709551616", 1), Err(Fault::TooLarge));
        assert_eq!(times(&"9".repeat(60), 1), Err(Fault::TooLarge));
    }

    #[test]
    fn what_is_no_plain_number_is_refused() {
        for text in ["", ".", "1.", ".5", "1.2.3", "1_000", "+1", "0x10", "1e3", "inf", "NaN", "٣"]
        {
            assert_eq!(Decimal::parse(text), Err(Fault::Malformed), "{text}");
        }
        assert_eq!(Decimal::parse("-1"), Err(Fault::Negative));
    }
}
