//! The policies behind `resil`.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cell;
#[cfg(not(resil_loom))]
pub mod circuit_breaker;
#[cfg(all(test, resil_loom))]
#[path = "circuit_breaker/loom.rs"]
mod circuit_breaker_models;
mod contract;
#[cfg(not(resil_loom))]
mod deadline;
pub mod rng;
mod sync;
#[cfg(feature = "test-util")]
pub mod testing;
pub mod time;
#[cfg(not(resil_loom))]
mod timeout;

pub use cell::backoff::Backoff;
pub use cell::jitter::Jitter;
#[cfg(not(resil_loom))]
pub use circuit_breaker::{CircuitBreaker, CircuitBreakerBuilder, Permit};
pub use contract::*;
#[cfg(not(resil_loom))]
pub use deadline::{CallDeadline, DeadlineLimit, DeadlineLimitBuilder};
#[cfg(not(resil_loom))]
pub use timeout::{AttemptLimit, Timeout, TimeoutBuilder};
