//! What the macros reach `resil` by. Not for people, and not covered by any promise of stability.

pub use resil_core::__list_function;
pub use resil_core::expand::{
    Carried, Carry, Classifies, Fails, Hint, Spare, Unknown, bulkhead_wait, cost_within_burst,
    discard, edge, limiter_wait, overdue, release, slow_call_below, wait_below, waits_below,
    with_hint,
};
pub use resil_core::time::{Deadline, sleep, sleep_blocking};
pub use resil_core::{
    Around, Attempts, Backoff, Begun, BreakerOptions, BudgetOptions, Bulkhead, BulkheadOptions,
    CallDeadline, Cause, Cells, CircuitBreaker, DeadlineLimit, Ended, EndedAs, Fallback,
    FromRejected, Jitter, Judge, Judgement, LimiterOptions, Limits, Permit, Probe, Rate,
    RateLimiter, Ratio, Reason, Rejected, Retry, RetryBudget, Slot, Start, Timeout, attempt, call,
    limited,
};
pub use resil_core::{OrRejected, OrRejectedAs};
pub use resil_core::{Timed, TimedAs, call_limited};
#[doc(hidden)]
pub use resil_macros::__registry;
