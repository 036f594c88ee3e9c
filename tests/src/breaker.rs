//! What the tests of the circuit breaker share: one of four outcomes, half of which must fail, and hands to work it.

use crate::heard;
use resil::testing::Paused;
use resil::{CircuitBreaker, CircuitBreakerBuilder, Event, Policy, State, TripReason};
use std::time::Duration;

/// A millisecond.
pub const MS: Duration = Duration::from_millis(1);
/// A second.
pub const SECOND: Duration = Duration::from_secs(1);

/// Window 4, `min_calls` 2, 50 %, open for 10 s, two probes.
pub fn builder(name: &'static str) -> CircuitBreakerBuilder {
    CircuitBreaker::builder(name).window(4).min_calls(2).open_for(10 * SECOND).probes(2)
}

/// So many failed calls.
///
/// # Panics
/// If it is not as the caller thinks.
pub fn fail(breaker: &CircuitBreaker, times: u32) {
    for _ in 0..times {
        breaker.acquire().expect("admitted").failure();
    }
}

/// So many successful calls.
///
/// # Panics
/// If it is not as the caller thinks.
pub fn succeed(breaker: &CircuitBreaker, times: u32) {
    for _ in 0..times {
        breaker.acquire().expect("admitted").success();
    }
}

/// So many ignored calls.
///
/// # Panics
/// If it is not as the caller thinks.
pub fn ignore(breaker: &CircuitBreaker, times: u32) {
    for _ in 0..times {
        breaker.acquire().expect("admitted").ignore();
    }
}

/// Whether a call is refused; one that is admitted is abandoned.
pub fn is_refused(breaker: &CircuitBreaker) -> bool {
    breaker.acquire().is_err()
}

/// One of its counters.
///
/// # Panics
/// If it is not as the caller thinks.
pub fn counter(breaker: &CircuitBreaker, name: &str) -> u64 {
    let mut value = None;
    breaker
        .counters(&mut |counter| value = value.or((counter.name == name).then_some(counter.value)));
    value.expect("a counter of that name")
}

/// The transitions that were heard of.
pub fn transitions(policy: &str) -> Vec<(State, State, TripReason)> {
    let transition = |event| match event {
        Event::Transition { from, to, reason, .. } => Some((from, to, reason)),
        _ => None,
    };
    heard(policy).into_iter().filter_map(transition).collect()
}

/// Opens it by two failures.
///
/// # Panics
/// If it is not as the caller thinks.
pub fn open(breaker: &CircuitBreaker) {
    fail(breaker, 2);
    assert_eq!(breaker.state(), State::Open);
}

/// Opens it and waits until it may be probed.
///
/// # Panics
/// If it is not as the caller thinks.
pub fn half_open(breaker: &CircuitBreaker, clock: &Paused) {
    open(breaker);
    clock.advance("10s");
}
