//! The policies behind `resil`.
// Models leave out what is built in a `static`, and with it the users of much of the rest.
#![cfg_attr(resil_loom, allow(dead_code, unused_imports))]

#[cfg(not(resil_loom))]
pub mod bulkhead;
#[cfg(not(resil_loom))]
mod catalog;
mod cell;
#[cfg(not(resil_loom))]
pub mod circuit_breaker;
#[cfg(all(test, resil_loom))]
#[path = "circuit_breaker/loom.rs"]
mod circuit_breaker_models;
mod contract;
#[cfg(not(resil_loom))]
pub mod deadline;
#[cfg(not(resil_loom))]
#[doc(hidden)]
pub mod expand;
#[cfg(not(resil_loom))]
mod fallback;
#[cfg(not(resil_loom))]
mod pipeline;
#[cfg(not(resil_loom))]
pub mod rate_limiter;
#[cfg(all(test, resil_loom))]
#[path = "rate_limiter/loom.rs"]
mod rate_limiter_models;
#[cfg(not(resil_loom))]
pub mod retry;
#[cfg(not(resil_loom))]
pub mod retry_budget;
#[cfg(all(test, resil_loom))]
#[path = "retry_budget/loom.rs"]
mod retry_budget_models;
pub mod rng;
mod sync;
#[cfg(feature = "test-util")]
pub mod testing;
pub mod time;
#[cfg(not(resil_loom))]
mod timeout;

#[cfg(not(resil_loom))]
pub use bulkhead::{Bulkhead, BulkheadBuilder, BulkheadOptions, Entering, Slot};
#[cfg(not(resil_loom))]
pub use catalog::{Catalog, Entry, GuardedFunction, Member, Membership, Problem, catalog};
pub use cell::backoff::Backoff;
pub use cell::jitter::Jitter;
#[cfg(not(resil_loom))]
pub use circuit_breaker::{
    BreakerOptions, CircuitBreaker, CircuitBreakerBuilder, Criterion, Permit,
};
pub use contract::*;
#[cfg(not(resil_loom))]
pub use deadline::{CallDeadline, DeadlineLimit, DeadlineLimitBuilder};
#[cfg(not(resil_loom))]
pub use fallback::{
    Cause, Ended, EndedAs, Fallback, FallbackBuilder, OrRejected, OrRejectedAs, Standing,
};
#[cfg(not(resil_loom))]
pub use pipeline::{Answer, Answered, ByClassify, ByJudge, JudgeBy, Pipeline, Refusing};
#[cfg(not(resil_loom))]
pub use rate_limiter::{Cells, LimiterOptions, RateLimiter, RateLimiterBuilder, Reserving, Start};
#[cfg(not(resil_loom))]
pub use retry::{Attempts, Retry, RetryBuilder};
#[cfg(not(resil_loom))]
pub use retry_budget::{BudgetOptions, RetryBudget, RetryBudgetBuilder};
pub use time::Deadline;
#[cfg(not(resil_loom))]
pub use timeout::{AttemptLimit, Timeout, TimeoutBuilder};
#[cfg(all(feature = "catalog", not(resil_loom)))]
#[doc(hidden)]
pub use {catalog::FUNCTIONS, catalog::POLICIES, linkme as __linkme};
