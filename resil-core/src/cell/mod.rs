//! The lock-free parts. A cell knows numbers and time, never outcomes of calls.

pub(crate) mod counters;

pub(crate) use counters::Counters;
