//! One attribute that makes a function survive the failure of what it calls.
//!
//! ```
//! use std::io;
//!
//! mod policies {
//!     resil::registry! {
//!         /// Everything that talks to the gateway shares this breaker.
//!         circuit_breaker gateway { window = 100, failure_rate = "50%", open_for = "10s" }
//!     }
//! }
//!
//! #[resil::resilient(circuit_breaker = "gateway", retry(max = 3))]
//! fn ping(host: &str) -> io::Result<String> {
//!     Ok(format!("pong from {host}"))
//! }
//!
//! fn main() {
//!     assert_eq!(ping("a").unwrap(), "pong from a");
//! }
//! ```
//!
//! The signature stays as it was, and what is not written costs nothing. The policies are `static`s, built at
//! compile time; the attribute turns into straight-line code around the body, and a healthy call takes no lock.
//!
//! # Where to look
//! * [`macro@resilient`] guards a function; [`registry!`] declares the policies that functions share.
//! * [`Rejected`] is what a refused call returns; [`derive@Classify`] says what errors mean.
//! * [`CircuitBreaker`] and the others can be used by hand.
//! * [`deadline`] is what the body of a sync function asks about its time, since nobody interrupts it.
//! * [`catalog`] lists every policy in the binary; [`set_observer`] hears of what is rare.
//!
//! # What an error means
//! Any `Err` is a failure unless something says otherwise, and a breaker that many functions share counts every one: a
//! client's bad request must be told apart from a broken callee. In this order of preference:
//! 1. `#[derive(Classify)]` on the error type: `#[resil(transient)]`, `#[resil(ignore)]` on its variants.
//! 2. Patterns in the attribute: `ignore = Err(PayError::Declined)`, `failure = …`, `retry(on = …, abort = …)`.
//!
//! A refusal inside an error (of a guarded function that was called) is nobody's failure.

#[doc(inline)]
pub use resil_core::time::warm_up;
#[doc(inline)]
pub use resil_core::{
    Answer, Answered, AttemptLimit, Attempts, Backoff, BreakerOptions, Budget, BudgetOptions,
    Bulkhead, BulkheadBuilder, BulkheadOptions, ByClassify, ByJudge, CallDeadline, Catalog, Cause,
    Cells, CircuitBreaker, CircuitBreakerBuilder, Classify, Counter, Criterion, Deadline,
    DeadlineLimit, DeadlineLimitBuilder, Entering, Entry, Event, Fallback, FallbackBuilder,
    GuardedFunction, InvalidOption, Jitter, JudgeBy, Judgement, Kind, LimiterOptions, Location,
    Observer, ObserverAlreadySet, Permit, Pipeline, Policy, Problem, Rate, RateLimiter,
    RateLimiterBuilder, Ratio, Reason, Refusing, Rejected, Reserving, Retry, RetryBudget,
    RetryBudgetBuilder, RetryBuilder, Setting, Slot, Start, State, Stop, Timeout, TimeoutBuilder,
    TripReason, Value, Verdict, Window, Withdrawal, catalog, observer_loops, observer_panics,
    register, set_observer,
};
#[doc(inline)]
pub use resil_macros::{Classify, resilient};

#[cfg(feature = "test-util")]
#[doc(inline)]
pub use resil_core::testing;

/// Time, for policies that are used by hand: readings, sleeps, the ambient deadline.
pub mod time {
    #[doc(inline)]
    pub use resil_core::time::{
        Attached, Deadline, Nanos, Sleep, now, sleep, sleep_blocking, warm_up,
    };
}

/// The time of the running code: what is left of it, whether to go on, and what to do at its end. For the bodies of guarded
/// functions, sync ones above all, which nobody interrupts.
pub mod deadline {
    #[doc(inline)]
    pub use resil_core::deadline::{check, hook_panics, remaining, with_expiry};
}

/// Whether feature `test-util` is on: a build that is measured or shipped must not have it.
pub const TEST_UTIL: bool = cfg!(feature = "test-util");

/// Declares the policies that functions share: one `static` each, in a module named after its kind.
///
/// By convention in `src/policies.rs`, where `#[resilient(circuit_breaker = "gateway")]` looks for
/// `crate::policies::circuit_breaker::gateway`. Options are [those of the attribute](macro@resilient#options); doc comments
/// and `#[cfg]` go onto the statics.
///
/// | kind | example | named by |
/// |---|---|---|
/// | `circuit_breaker` | `{ window = 100, failure_rate = "50%", open_for = "10s" }` | `circuit_breaker = "gateway"` |
/// | `rate_limiter` | `{ rate = "100/s", burst = 20 }` | `rate_limiter = "quota"` |
/// | `bulkhead` | `{ max_concurrent = 64, wait = "10ms" }` | `bulkhead = "pool"` |
/// | `retry_budget` | `{ ratio = "20%", min_per_sec = 10 }` | `retry(budget = "budget")` |
///
/// Everything is built at compile time: a bad value is an error at the value.
///
/// # Examples
/// ```
/// mod policies {
///     resil::registry! {
///         /// Everything that talks to the payment gateway shares this breaker.
///         circuit_breaker gateway { window = 100, failure_rate = "50%", open_for = "10s" }
///         /// As many connections as the gateway takes from us.
///         bulkhead pool { max_concurrent = 64, wait = "10ms" }
///     }
/// }
///
/// assert_eq!(policies::circuit_breaker::gateway.name(), "gateway");
/// let place = policies::bulkhead::pool.acquire()?;
/// # drop(place);
/// # Ok::<(), resil::Rejected>(())
/// ```
#[macro_export]
macro_rules! registry {
    ($($policies:tt)*) => {
        $crate::__private::__registry! { ($crate) $($policies)* }
    };
}

/// What expansions call. Exempt from semver, whatever its name.
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
