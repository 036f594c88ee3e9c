//! What the tests of the circuit breaker share: what it goes by, one that opens after two failures, and hands to work it.

use crate::heard;
use resil::testing::Paused;
use resil::{CircuitBreaker, CircuitBreakerBuilder, Event, Policy, State, TripReason};
use std::time::Duration;

/// A millisecond.
pub const MS: Duration = Duration::from_millis(1);
/// A second.
pub const SECOND: Duration = Duration::from_secs(1);

/// What a breaker goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The rates of a window of calls.
    Calls,
    /// The rates of a window of 10 s.
    Time,
    /// Failures in a row.
    Consecutive,
}

impl Mode {
    /// A name of its own for each.
    pub fn name(self, name: &str) -> &'static str {
        Box::leak(format!("{name} by {self:?}").into_boxed_str())
    }

    /// Opens after two failures: window 4 or 10 s, `min_calls` 2, 50 %. Open for 10 s, two probes.
    pub fn builder(self, name: &str) -> CircuitBreakerBuilder {
        self.opening_after(2, name)
    }

    /// The same, opening after so many failures in a row, and (if it knows rates) not before so many calls.
    pub fn opening_after(self, failures: u32, name: &str) -> CircuitBreakerBuilder {
        let builder = CircuitBreaker::builder(self.name(name)).open_for(10 * SECOND).probes(2);
        match self {
            Self::Calls => builder.window(failures.max(4)).min_calls(failures),
            Self::Time => builder.window_for(10 * SECOND).min_calls(failures),
            Self::Consecutive => builder.consecutive(failures),
        }
    }

    /// What is told when failures open it.
    pub fn reason(self) -> TripReason {
        match self {
            Self::Calls | Self::Time => TripReason::FailureRate,
            Self::Consecutive => TripReason::Consecutive,
        }
    }

    /// Closed for a full window, which then needs two failures.
    pub fn pass_a_window(self, breaker: &CircuitBreaker, clock: &Paused) {
        match self {
            Self::Calls | Self::Consecutive => succeed(breaker, 4),
            Self::Time => {
                succeed(breaker, 1);
                clock.advance("10s");
                succeed(breaker, 2);
            }
        }
    }
}

/// Opens after two failures of a window of four calls, for 10 s; two probes.
pub fn builder(name: &'static str) -> CircuitBreakerBuilder {
    CircuitBreaker::builder(name).window(4).min_calls(2).open_for(10 * SECOND).probes(2)
}

/// Tests of what holds whatever a breaker goes by: `name_of_the_function::{calls, time, consecutive}`.
#[macro_export]
macro_rules! modes {
    ($name:ident) => {
        mod $name {
            use tests::breaker::Mode;

            #[test]
            fn calls() {
                super::$name(Mode::Calls);
            }

            #[test]
            fn time() {
                super::$name(Mode::Time);
            }

            #[test]
            fn consecutive() {
                super::$name(Mode::Consecutive);
            }
        }
    };
}

/// Tests of what holds where there are rates: `name_of_the_function::{calls, time}`.
#[macro_export]
macro_rules! windows {
    ($name:ident) => {
        mod $name {
            use tests::breaker::Mode;

            #[test]
            fn calls() {
                super::$name(Mode::Calls);
            }

            #[test]
            fn time() {
                super::$name(Mode::Time);
            }
        }
    };
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
