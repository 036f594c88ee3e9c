//! When a breaker opens and closes: arithmetic on counts, nothing else.
//!
//! Invariant: a rate is compared as `part · 10⁶ ≥ millionths · whole`, in integers, with equality included. What has
//! been decided early (half-open) is what the missing outcomes could not have changed.
//!
//! Pure: no atomics, no clock.

use super::criterion::Criterion;
use super::options::BreakerOptions;
use super::word::Probes;
use crate::cell::window::Tally;
use crate::contract::TripReason;

/// Whether a window of outcomes opens the breaker, and why. Failures are named before slowness.
pub(super) fn trips(tally: Tally, options: &BreakerOptions) -> Option<TripReason> {
    let enough = match options.criterion {
        // A live change may have put them out of step for a moment.
        Criterion::Calls(window) => options.min_calls.min(window),
        _ => options.min_calls,
    };
    if tally.calls < enough.into() {
        return None;
    }
    if options.failure_rate.reached_by(tally.failures, tally.calls) {
        Some(TripReason::FailureRate)
    } else if options.counts_slow() && options.slow_rate.reached_by(tally.slow, tally.calls) {
        Some(TripReason::SlowRate)
    } else {
        None
    }
}

/// What half-open comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ruling {
    /// More probes are needed.
    Wait,
    /// The callee has recovered.
    Close,
    /// It has not.
    Open(TripReason),
}

/// Judges the probes that are in, as soon as those still missing cannot change the ruling.
pub(super) fn rule(probes: Probes, options: &BreakerOptions) -> Ruling {
    // More may be in than are asked for, after a live change.
    let whole = options.probes.max(probes.done);
    let missing = whole - probes.done;
    let reached =
        |rate: crate::contract::Ratio, part: u32| rate.reached_by(part.into(), whole.into());

    let slow_counts = options.counts_slow();
    if reached(options.failure_rate, probes.failed) {
        Ruling::Open(TripReason::FailureRate)
    } else if slow_counts && reached(options.slow_rate, probes.slow) {
        Ruling::Open(TripReason::SlowRate)
    } else if reached(options.failure_rate, probes.failed + missing)
        || slow_counts && reached(options.slow_rate, probes.slow + missing)
    {
        Ruling::Wait
    } else {
        Ruling::Close
    }
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;
    use crate::CircuitBreaker;
    use crate::contract::Ratio;
    use crate::time::Nanos;
    use core::time::Duration;
    use proptest::prelude::*;

    const PLAIN: BreakerOptions = CircuitBreaker::builder("plain").options();

    fn tally(calls: u64, failures: u64, slow: u64) -> Tally {
        Tally { calls, failures, slow }
    }

    #[test]
    fn b11_a_rate_is_reached_by_equality_without_rounding() {
        let third =
            BreakerOptions { failure_rate: Ratio::from_millionths(333_333), min_calls: 1, ..PLAIN };
        assert_eq!(trips(tally(3, 1, 0), &third), Some(TripReason::FailureRate));
        let above =
            BreakerOptions { failure_rate: Ratio::from_millionths(333_334), min_calls: 1, ..PLAIN };
        assert_eq!(trips(tally(3, 1, 0), &above), None);
        assert_eq!(trips(tally(20, 10, 0), &PLAIN), Some(TripReason::FailureRate));
        assert_eq!(trips(tally(21, 10, 0), &PLAIN), None);
    }

    #[test]
    fn b12_a_rate_of_all_needs_all() {
        let all = BreakerOptions { failure_rate: Ratio::ONE, ..PLAIN };
        assert_eq!(trips(tally(20, 19, 0), &all), None);
        assert_eq!(trips(tally(20, 20, 0), &all), Some(TripReason::FailureRate));
    }

    #[test]
    fn too_few_calls_decide_nothing() {
        assert_eq!(trips(tally(19, 19, 0), &PLAIN), None);
        assert_eq!(trips(tally(0, 0, 0), &BreakerOptions { min_calls: 1, ..PLAIN }), None);
    }

    #[test]
    fn slowness_counts_only_where_it_is_asked_for() {
        assert_eq!(trips(tally(20, 0, 20), &PLAIN), None);
        let slow = CircuitBreaker::builder("slow").slow_call(Duration::from_millis(1)).options();
        assert_eq!(trips(tally(20, 0, 20), &slow), Some(TripReason::SlowRate));
        assert_eq!(trips(tally(20, 0, 19), &slow), None);
    }

    proptest! {
        /// B8: an early ruling is the one that every completion of the probes would have led to; and it comes
        /// as soon as that is so.
        #[test]
        fn b08_a_ruling_comes_when_it_is_fixed_and_not_before(
            probes in 1_u32..9, percent in 1_u32..=100, slow_percent in 1_u32..=100, timed: bool,
            done in 0_u32..9, failed in 0_u32..9, slow in 0_u32..9,
        ) {
            let done = done.min(probes);
            let (failed, slow) = (failed.min(done), slow.min(done));
            let (rate, slow_rate) = (Ratio::percent(percent), Ratio::percent(slow_percent));
            let slow_call = if timed { Nanos(1) } else { Nanos::MAX };
            let options = BreakerOptions { probes, failure_rate: rate, slow_rate, slow_call, ..PLAIN };
            let by_failures = |more: u32| rate.reached_by((failed + more).into(), probes.into());
            let by_slowness = |more: u32| timed && slow_rate.reached_by((slow + more).into(), probes.into());
            let missing = probes - done;
            let mut endings = (0..=missing).flat_map(|fail| (0..=missing).map(move |slow| (fail, slow)));
            let opens = |(fail, slow)| by_failures(fail) || by_slowness(slow);
            let expected = if by_failures(0) {
                Ruling::Open(TripReason::FailureRate)
            } else if by_slowness(0) {
                Ruling::Open(TripReason::SlowRate)
            } else if endings.any(opens) {
                Ruling::Wait
            } else {
                Ruling::Close
            };
            prop_assert_eq!(rule(Probes { issued: done, done, failed, slow }, &options), expected);
        }
    }
}
