//! The vocabulary that every policy speaks: what a call came to, why one was refused, who listens.

mod attempt;
#[cfg(feature = "test-util")]
mod blocking;
mod budget;
mod classify;
mod convert;
mod judge;
mod limited;
mod observe;
mod policy;
#[cfg(all(test, not(resil_loom)))]
mod recorded;
mod rejected;
mod timed;
mod verdict;
mod watch;

pub use crate::cell::{Rate, Ratio};
pub use attempt::{Attempt, Limit, Limits, attempt, call};
pub use budget::{Budget, Withdrawal};
pub use classify::Classify;
pub use convert::FromRejected;
#[cfg(not(resil_loom))]
pub(crate) use judge::carries_refusal;
pub use judge::{Judge, Probe};
pub use limited::{Limited, limited};
pub use observe::{
    Event, Observer, ObserverAlreadySet, State, Stop, TripReason, Window, observer_loops,
    observer_panics, set_observer,
};
pub(crate) use observe::{depth, emit, emit_at, has_observer};
pub use policy::{Counter, InvalidOption, Kind, Location, Policy, Setting, Value};
#[cfg(all(test, not(resil_loom)))]
pub(crate) use recorded::recorded;
pub use rejected::{Reason, Rejected};
pub use timed::{Timed, TimedAs, call_limited};
pub use verdict::{Judgement, Verdict};
pub(crate) use watch::nobody;
pub use watch::{Around, Begun, Watched};
