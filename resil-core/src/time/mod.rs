//! Time: readings, the clock, the timer, the ambient deadline.

mod clock;
mod deadline;
#[cfg(feature = "test-util")]
pub(crate) mod manual;
mod nanos;
mod sleep;
#[cfg(feature = "test-util")]
mod span;
#[cfg(all(test, not(resil_loom)))]
pub(crate) mod testkit;
mod timer;

#[cfg(feature = "test-util")]
pub(crate) use clock::Stopwatch;
pub use clock::{coarse, now, warm_up};
pub(crate) use deadline::{Ambient, Owner};
pub use deadline::{Attached, Deadline};
pub use nanos::Nanos;
#[cfg(not(resil_loom))]
pub(crate) use sleep::block_until;
pub use sleep::{Sleep, sleep, sleep_blocking};
#[cfg(feature = "test-util")]
pub use span::IntoSpan;
pub use timer::Timer;
#[cfg(not(resil_loom))]
pub use timer::{hook_panics, with_expiry};
