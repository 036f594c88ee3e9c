//! The lock-free parts. A cell knows numbers and time, never outcomes of calls.

pub(crate) mod backoff;
pub(crate) mod budget;
pub(crate) mod counters;
pub(crate) mod gcra;
pub(crate) mod jitter;
pub(crate) mod rate;
mod ratio;
pub(crate) mod slots;
mod switch;
pub(crate) mod window;

pub(crate) use counters::{Counters, Rare};
pub use rate::Rate;
pub use ratio::Ratio;
#[cfg(not(resil_loom))]
pub(crate) use switch::Switch;
