//! Time: readings, the clock, the timer, the ambient deadline.

mod nanos;

pub use nanos::Nanos;
