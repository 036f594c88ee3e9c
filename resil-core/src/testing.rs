//! For tests: time that is moved by hand (feature `test-util`, development only).
//!
//! Inside a tokio runtime nothing of this is needed: policies read tokio's clock and sleep on its timer there, so that
//! `#[tokio::test(start_paused = true)]` just works. (The runtime needs its time driver, which `enable_all` gives it.)

pub use crate::rng::seed;
pub use crate::time::IntoSpan;
pub use crate::time::manual::{Installed, ManualClock, Paused, pause};
