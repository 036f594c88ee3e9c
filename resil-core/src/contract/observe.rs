//! Cold events, and the one observer that hears them.
//!
//! Invariant: an observer changes no call. It is asked for only where something rare happens (a transition, a
//! refusal, a retry, a timeout, a fallback), one load when none is set; if it panics, the panic is caught and counted; what it
//! causes itself is told a few deep and no further.

use super::Rejected;
use crate::sync::Ordering;
use crate::sync::fixed::{AtomicU64, OnceLock};
use core::cell::Cell;
use core::fmt;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The state of a circuit breaker.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum State {
    /// Calls pass and are counted.
    Closed,
    /// Calls are refused until the wait is over.
    Open,
    /// A few probes pass; they decide.
    HalfOpen,
    /// Calls are refused until somebody says otherwise.
    ForcedOpen,
    /// Calls pass and are not judged.
    Disabled,
    /// Calls pass; what would have opened the breaker is only reported.
    ObserveOnly,
}

impl State {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
            Self::ForcedOpen => "forced open",
            Self::Disabled => "disabled",
            Self::ObserveOnly => "observe only",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What made a breaker change its state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TripReason {
    /// The share of failures reached `failure_rate`.
    FailureRate,
    /// The share of slow calls reached `slow_rate`.
    SlowRate,
    /// As many calls in a row failed (or were slow) as `consecutive` says.
    Consecutive,
    /// A probe was out longer than `probe_timeout`.
    ProbeTimeout,
    /// The open wait was over.
    WaitOver,
    /// The probes succeeded.
    Recovered,
    /// Somebody called `force_open`, `disable`, `observe_only`, `close` or `reset`.
    Manual,
}

/// What a breaker had counted at some moment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Window {
    /// Outcomes in the window (of probes, in half-open; failures in a row, where the breaker goes by those).
    pub calls: u32,
    /// Failures among them.
    pub failures: u32,
    /// Slow ones among them.
    pub slow: u32,
}

/// Something rare that happened in a policy.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A breaker changed its state. One breaker's transitions arrive in the order of their generations.
    Transition {
        /// The breaker.
        policy: &'static str,
        /// What it was.
        from: State,
        /// What it is.
        to: State,
        /// Counts transitions; wraps at 2²⁴.
        generation: u32,
        /// Why.
        reason: TripReason,
        /// What it had counted.
        window: Window,
    },
    /// A breaker that only observes would have opened.
    WouldOpen {
        /// The breaker.
        policy: &'static str,
        /// Counts transitions; wraps at 2²⁴.
        generation: u32,
        /// Why.
        reason: TripReason,
        /// What it had counted.
        window: Window,
    },
    /// A call was refused by a gate.
    Refused(Rejected),
    /// Another attempt follows after `wait`.
    RetryScheduled {
        /// The retry policy: `module::path::function`.
        policy: &'static str,
        /// The number of the attempt to come; the first retry is attempt 2.
        attempt: u32,
        /// How long it waits; what is slept is this, not drawn anew.
        wait: Duration,
    },
    /// The last attempt failed in a way that would have been retried.
    RetriesExhausted {
        /// The retry policy.
        policy: &'static str,
        /// How many attempts there were.
        attempts: u32,
        /// What stopped it.
        stop: Stop,
    },
    /// An attempt was ended by its `timeout`.
    TimedOut(Rejected),
    /// A call was ended by its `deadline`.
    DeadlineExceeded(Rejected),
    /// A sync body came too late for this limit, and its outcome is returned all the same: see `late` of the timeout.
    Late(Rejected),
    /// A fallback answers.
    FallbackRan {
        /// The fallback: `module::path::function`.
        policy: &'static str,
        /// The refusal or timeout it answers for; `None` for an error of the body.
        rejected: Option<Rejected>,
    },
    /// A poll of a guarded body blocked its thread for so long that timeouts could not fire (feature `test-util` only).
    BlockingPoll {
        /// How long.
        took: Duration,
    },
}

/// What ended a retry while failures were still worth another attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Stop {
    /// All attempts were made.
    Attempts,
    /// The next attempt would have started after `within`.
    Within,
    /// The wait would have ended past the deadline.
    Deadline,
    /// The callee asked for a longer wait than `max_pushback`.
    Pushback,
    /// The retry budget was empty.
    Budget,
}

/// Hears the rare events of every policy in the process.
///
/// Called on the thread where it happened. It must not block: the call waits for it. It may call back into the policy; what
/// it causes is told as well, four deep at most ([`observer_loops`]).
pub trait Observer: Sync {
    /// Something happened.
    fn event(&self, event: &Event);
}

static OBSERVER: OnceLock<&'static dyn Observer> = OnceLock::new();
static PANICS: AtomicU64 = AtomicU64::new(0);
static LOOPS: AtomicU64 = AtomicU64::new(0);

/// An observer was set before; it stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObserverAlreadySet;

impl fmt::Display for ObserverAlreadySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an observer was already set")
    }
}

impl core::error::Error for ObserverAlreadySet {}

/// Sets the process's observer, once, at start-up; as `log` and `tracing` do.
///
/// # Errors
/// [`ObserverAlreadySet`] if one was set before.
pub fn set_observer(observer: &'static dyn Observer) -> Result<(), ObserverAlreadySet> {
    OBSERVER.set(observer).map_err(|_| ObserverAlreadySet)
}

/// How many times the observer panicked.
pub fn observer_panics() -> u64 {
    // ORDERING: Relaxed, a count that nothing is derived from.
    PANICS.load(Ordering::Relaxed)
}

/// How many events were not told, because the observer itself had caused them, four deep.
pub fn observer_loops() -> u64 {
    // ORDERING: Relaxed, a count that nothing is derived from.
    LOOPS.load(Ordering::Relaxed)
}

/// Whether anybody listens.
#[inline]
pub(crate) fn has_observer() -> bool {
    OBSERVER.get().is_some()
}

/// How many events deep the observer's own doings go until they are told no more: an observer that answers every transition
/// by two others would otherwise never return.
const DEEPEST: u32 = 4;

thread_local! {
    /// 0, or one more than the depth of the event that this thread tells just now.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// How deep what happens on this thread is: 0, unless the observer does it.
pub(crate) fn depth() -> u32 {
    DEPTH.get()
}

/// Tells the observer, if one is set. Never panics.
#[cold]
pub(crate) fn emit(event: &Event) {
    emit_at(depth(), event);
}

/// Tells the observer of what happened `depth` deep, if one is set. Never panics.
pub(crate) fn emit_at(depth: u32, event: &Event) {
    let Some(observer) = OBSERVER.get() else { return };
    if depth > DEEPEST {
        // ORDERING: Relaxed, as where it is read.
        LOOPS.fetch_add(1, Ordering::Relaxed);
        return;
    }
    let outer = DEPTH.replace(depth + 1);
    let told = catch_unwind(AssertUnwindSafe(|| observer.event(event)));
    DEPTH.set(outer);
    if let Err(payload) = told {
        // ORDERING: Relaxed, as where it is read.
        PANICS.fetch_add(1, Ordering::Relaxed);
        // The payload's own destructor may panic as well.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
}
