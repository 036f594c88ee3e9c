//! Limits a whole call: all attempts, waits and sleeps included.

mod body;
mod config;
mod limit;

use crate::cell::{Rare, Switch};
use crate::contract::{
    Counter, Kind, Location, Policy, Rejected, Setting, Value, call_limited, limited, nobody,
};
use crate::time::{Nanos, now};
use core::fmt;
use core::time::Duration;

pub use crate::time::{hook_panics, with_expiry};
pub use body::{check, remaining};
pub use config::DeadlineLimitBuilder;
pub use limit::CallDeadline;

/// Ends a call that takes longer than `after` in all.
///
/// The attempt that runs when the time is up is dropped, and no other begins; no wait begins that would end later. What
/// the body calls sees the same deadline: see [`Deadline`](crate::time::Deadline). If a caller's deadline is
/// sooner, that one counts, and its owner reports it.
///
/// A sync body is not dropped: it asks for itself [what is left](remaining), and whether it came in time is looked at
/// when it is over.
///
/// # Examples
/// ```
/// use core::time::Duration;
/// # use resil_core as resil;
/// use resil::DeadlineLimit;
///
/// static CHECKOUT: DeadlineLimit = DeadlineLimit::builder("shop::checkout").after(Duration::from_secs(1)).build();
/// let call = CHECKOUT.start();
/// assert!(call.deadline().remaining() <= Some(Duration::from_secs(1)));
/// ```
pub struct DeadlineLimit {
    name: &'static str,
    location: &'static Location<'static>,
    after: Nanos,
    switch: Switch,
    counters: Rare<2>,
}

/// Calls that were ended, or whose attempt was not begun, because a deadline had passed.
const EXCEEDED: usize = 0;
/// Sync attempts that came after the deadline, and whose outcome was returned all the same.
const LATE: usize = 1;

impl DeadlineLimit {
    /// Begins a deadline of this name: `module::path::function`.
    #[track_caller]
    pub const fn builder(name: &'static str) -> DeadlineLimitBuilder {
        DeadlineLimitBuilder::new(name, Location::caller())
    }

    /// How long a call may take.
    pub const fn after(&self) -> Duration {
        self.after.to_duration()
    }

    /// Runs `body` as a whole call under this deadline, by hand. What it calls sees the deadline as well.
    ///
    /// # Errors
    /// [`Rejected`] with [`Reason::DeadlineExceeded`](crate::Reason::DeadlineExceeded) if it takes longer.
    ///
    /// # Cancellation
    /// Drops the body.
    ///
    /// # Cost
    /// One clock reading at the start, and another before the body begins; one a poll and one timer if it has to wait.
    pub fn run<F: Future>(&self, body: F) -> impl Future<Output = Result<F::Output, Rejected>> {
        limited(nobody(), self.start(), body)
    }

    /// As [`run`](Self::run), for a sync `body`, which is not interrupted: what comes too late is dropped.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Cost
    /// Three clock readings.
    pub fn run_blocking<R>(&'static self, body: impl FnOnce() -> R) -> Result<R, Rejected> {
        call_limited(&mut (), self.start(), body).or_ended()
    }

    /// A call begins.
    ///
    /// # Cost
    /// One clock reading.
    #[inline]
    pub fn start(&self) -> CallDeadline<'_> {
        let end = if self.is_enabled() { now().plus(self.after) } else { Nanos::MAX };
        CallDeadline::new(self, end)
    }

    /// Whether it acts.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// Sets no limit to calls that begin from now on; those under way keep theirs.
    pub fn disable(&self) {
        self.switch.turn(false);
    }

    /// Undoes [`disable`](Self::disable).
    pub fn enable(&self) {
        self.switch.turn(true);
    }
}

impl Policy for DeadlineLimit {
    fn kind(&self) -> Kind {
        Kind::Deadline
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn settings(&self, visit: &mut dyn FnMut(Setting)) {
        visit(Setting { name: "after", value: Value::Duration(self.after()) });
    }

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        visit(Counter { name: "exceeded", value: self.counters.get(EXCEEDED) });
        visit(Counter { name: "late", value: self.counters.get(LATE) });
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        self.switch.turn(on);
    }
}

impl fmt::Debug for DeadlineLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeadlineLimit")
            .field("name", &self.name)
            .field("after", &self.after())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_it_is() {
        static LIMIT: DeadlineLimit =
            DeadlineLimit::builder("shop::checkout").after(Duration::from_secs(1)).build();
        let mut shown = Vec::new();
        LIMIT.settings(&mut |setting| shown.push((setting.name, setting.value.to_string())));
        assert_eq!(shown, [("after", "1s".to_owned())]);
        let said = (LIMIT.kind(), LIMIT.name(), LIMIT.state());
        assert_eq!(said, (Kind::Deadline, "shop::checkout", "-"));
        assert_eq!(size_of::<CallDeadline<'_>>(), 16);
    }
}
