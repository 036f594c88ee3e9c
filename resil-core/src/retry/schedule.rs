//! The decision after an attempt that failed: again, after which wait, or no more.
//!
//! Invariant: pure. What it depends on (the number of the attempt, the time, what was drawn) is its caller's, on the
//! caller's stack, so that calls cannot slow each other.

use super::config::DEFAULT_MAX_ATTEMPTS;
use super::options::{Most, Options};
use crate::contract::Stop;
use crate::time::Nanos;
use core::time::Duration;

/// Until when the next attempt must have started.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// The end of `within`, itself included; [`Nanos::MAX`] for none.
    pub(super) last_start: Nanos,
    /// When the call is over, if ever: an attempt must start before.
    pub(super) deadline: Option<Nanos>,
}

impl Limits {
    /// Whether time limits the call at all.
    pub(super) fn exist(&self) -> bool {
        self.last_start < Nanos::MAX || self.deadline.is_some()
    }
}

/// Whether attempt `number`, which failed, may be followed by another one, whatever the wait.
pub(super) fn may_follow(options: &Options, number: u32, limits: Limits) -> Result<(), Stop> {
    let most = match options.most {
        Most::Attempts(most) => most,
        Most::UntilDeadline if !limits.exist() => DEFAULT_MAX_ATTEMPTS,
        Most::UntilDeadline | Most::Unlimited => return Ok(()),
    };
    if number < most { Ok(()) } else { Err(Stop::Attempts) }
}

/// Whether the callee's wish to be left alone for `asked` is one to follow. The wish itself is compared, not what
/// would be waited.
pub(super) fn is_bearable(options: &Options, asked: Option<Duration>) -> Result<(), Stop> {
    if asked.is_some_and(|asked| asked > options.max_pushback) {
        Err(Stop::Pushback)
    } else {
        Ok(())
    }
}

/// The longest wait: [`Nanos::MAX`] is no wait but "never".
const LONGEST: Nanos = Nanos(u64::MAX - 1);

/// How long to wait: what the backoff says, and never less than was asked for.
pub(super) fn wait(own: Nanos, asked: Option<Duration>) -> Nanos {
    own.max(asked.map_or(Nanos::ZERO, Nanos::from_duration)).min(LONGEST)
}

/// Whether an attempt that starts `wait` after `now` starts in time.
pub(super) fn fits(wait: Nanos, now: Nanos, limits: Limits) -> Result<(), Stop> {
    let start = now.plus(wait);
    if start > limits.last_start {
        return Err(Stop::Within);
    }
    match limits.deadline {
        Some(deadline) if start >= deadline => Err(Stop::Deadline),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::Retry;
    use proptest::prelude::*;

    const FREE: Limits = Limits { last_start: Nanos::MAX, deadline: None };

    fn options(max_attempts: u32) -> Options {
        *Retry::builder("test")
            .max_attempts(max_attempts)
            .try_build()
            .expect("makes sense")
            .options()
    }

    #[test]
    fn r01_the_last_attempt_is_the_one_numbered_max() {
        for most in [1, 3, u32::MAX] {
            assert_eq!(may_follow(&options(most), most, FREE), Err(Stop::Attempts));
        }
        assert_eq!(may_follow(&options(3), 2, FREE), Ok(()));
        assert_eq!(may_follow(&options(u32::MAX), u32::MAX - 1, FREE), Ok(()));
    }

    #[test]
    fn rt06_without_a_deadline_until_the_deadline_means_three_attempts() {
        let built =
            Retry::builder("test").unlimited_until_deadline().try_build().expect("makes sense");
        let limited = Limits { deadline: Some(Nanos(9)), ..FREE };
        assert_eq!(may_follow(built.options(), 1_000, limited), Ok(()));
        assert_eq!(may_follow(built.options(), 2, FREE), Ok(()));
        assert_eq!(may_follow(built.options(), 3, FREE), Err(Stop::Attempts));
    }

    #[test]
    fn rt20_the_raw_hint_is_compared_with_the_cap() {
        let options = options(3);
        assert_eq!(is_bearable(&options, None), Ok(()));
        assert_eq!(is_bearable(&options, Some(Duration::ZERO)), Ok(()));
        assert_eq!(is_bearable(&options, Some(options.max_pushback)), Ok(()));
        let longer = options.max_pushback + Duration::from_nanos(1);
        assert_eq!(is_bearable(&options, Some(longer)), Err(Stop::Pushback));
        assert_eq!(is_bearable(&options, Some(Duration::MAX)), Err(Stop::Pushback));
    }

    proptest! {
        /// Against the same in signed numbers that cannot overflow.
        #[test]
        fn an_attempt_starts_within_and_before_the_deadline(
            own: u64, asked in proptest::option::of(0..=u64::MAX), now: u64,
            last_start: u64, deadline in proptest::option::of(0..u64::MAX),
        ) {
            let wait = wait(Nanos(own), asked.map(Duration::from_nanos));
            prop_assert_eq!(wait.0, own.max(asked.unwrap_or(0)).min(u64::MAX - 1));
            let start = (i128::from(now) + i128::from(wait.0)).min(i128::from(u64::MAX));
            let expected = if start > i128::from(last_start) {
                Err(Stop::Within)
            } else if deadline.is_some_and(|deadline| start >= i128::from(deadline)) {
                Err(Stop::Deadline)
            } else {
                Ok(())
            };
            let limits = Limits { last_start: Nanos(last_start), deadline: deadline.map(Nanos) };
            prop_assert_eq!(fits(wait, Nanos(now), limits), expected);
        }
    }

    #[test]
    fn r09_the_edges_of_the_limits() {
        let limits = Limits { last_start: Nanos(100), deadline: None };
        assert_eq!(
            fits(Nanos(60), Nanos(40), limits),
            Ok(()),
            "an attempt may start when `within` ends"
        );
        assert_eq!(fits(Nanos(61), Nanos(40), limits), Err(Stop::Within));
        let limits = Limits { last_start: Nanos::MAX, deadline: Some(Nanos(100)) };
        assert_eq!(fits(Nanos(59), Nanos(40), limits), Ok(()));
        assert_eq!(
            fits(Nanos(60), Nanos(40), limits),
            Err(Stop::Deadline),
            "with no time left it need not start"
        );
        assert_eq!(fits(Nanos::ZERO, Nanos(101), limits), Err(Stop::Deadline));
    }
}
