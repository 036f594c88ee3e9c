//! The policies behind `resil`.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod cell;
mod contract;
pub mod rng;
mod sync;
pub mod time;

pub use cell::backoff::Backoff;
pub use cell::jitter::Jitter;
pub use contract::*;
