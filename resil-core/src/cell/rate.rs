//! A rate: so many in such a time.

use crate::time::Nanos;
use core::fmt;
use core::time::Duration;

/// So many in such a time: `100/s`, `10/250ms`.
///
/// At least one in ten years, at most one a nanosecond; whoever takes a rate refuses any other.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use core::time::Duration;
/// use resil::Rate;
/// assert_eq!(Rate::per_second(100).to_string(), "100/s");
/// assert_eq!(Rate::new(10, Duration::from_millis(250)).to_string(), "10/250ms");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rate {
    permits: u64,
    per: Nanos,
}

/// The longest time in which something has to happen: so that sums of times fit in 64 bits for the life of a process.
pub(crate) const LONGEST: Nanos = Nanos(10 * 365 * 86_400 * 1_000_000_000);

impl Rate {
    /// `permits` in `per`.
    pub const fn new(permits: u64, per: Duration) -> Self {
        Self { permits, per: Nanos::from_duration(per) }
    }

    /// `permits` in a second.
    pub const fn per_second(permits: u64) -> Self {
        Self::new(permits, Duration::from_secs(1))
    }

    /// How many.
    #[inline]
    pub const fn permits(self) -> u64 {
        self.permits
    }

    /// In which time.
    #[inline]
    pub const fn per(self) -> Duration {
        self.per.to_duration()
    }

    pub(crate) const fn per_ns(self) -> u64 {
        self.per.0
    }

    /// What makes it no rate, if anything.
    pub(crate) const fn problem(self) -> Option<&'static str> {
        if self.permits == 0 {
            Some("`rate` must be above 0")
        } else if self.per.0 == 0 {
            Some("`rate` must be per some time, not per 0")
        } else if self.per.0 > LONGEST.0 {
            Some("`rate` must be per at most ten years")
        } else if self.permits > self.per.0 {
            Some("`rate` must be at most one per nanosecond")
        } else {
            None
        }
    }
}

/// Units of time that a period is written in, largest first.
const UNITS: [(u64, &str); 7] = [
    (86_400_000_000_000, "d"),
    (3_600_000_000_000, "h"),
    (60_000_000_000, "m"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
    (1, "ns"),
];

/// As the attribute has it.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { permits, per: Nanos(ns) } = *self;
        let fits = |(unit, _): &&(u64, &str)| ns.is_multiple_of(*unit) && ns >= *unit;
        match UNITS.iter().find(fits) {
            Some((unit, name)) if ns == *unit => write!(f, "{permits}/{name}"),
            Some((unit, name)) => write!(f, "{permits}/{}{name}", ns / unit),
            None => write!(f, "{permits}/0s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_shown_as_it_is_written() {
        let shown = |permits, ns| Rate::new(permits, Duration::from_nanos(ns)).to_string();
        assert_eq!(shown(1, 86_400_000_000_000), "1/d");
        assert_eq!(shown(5, 90_000_000_000), "5/90s");
        assert_eq!(shown(5, 7_200_000_000_000), "5/2h");
        assert_eq!(shown(3, 1_500_000), "3/1500us");
        assert_eq!(shown(1, 1), "1/ns");
        assert_eq!(shown(1, 0), "1/0s");
    }

    #[test]
    fn l09_what_no_clock_could_tell_apart_is_no_rate() {
        let problem = |permits, per| Rate::new(permits, per).problem();
        let day = Duration::from_secs(86_400);
        assert_eq!(problem(1, Duration::from_nanos(1)), None);
        assert_eq!(problem(1, day * 3_650), None);
        assert_eq!(Rate::per_second(1_000_000_000).problem(), None);
        for (permits, per) in [
            (0, day),
            (1, Duration::ZERO),
            (1, day * 3_651),
            (1, Duration::MAX),
            (2, Duration::from_nanos(1)),
            (1_000_000_001, Duration::from_secs(1)),
            (u64::MAX, day),
        ] {
            let problem = problem(permits, per).expect("no rate");
            assert!(problem.contains("`rate`"), "{problem}");
        }
    }
}
