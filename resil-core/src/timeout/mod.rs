//! Limits one attempt: how long the body may take, gates and waits excluded.

mod config;
mod limit;

use crate::cell::{Rare, Switch};
use crate::contract::{
    Counter, Kind, Location, Policy, Rejected, Setting, Value, call_limited, limited, nobody,
};
use crate::time::Nanos;
use core::fmt;
use core::time::Duration;

pub use config::TimeoutBuilder;
pub use limit::AttemptLimit;

/// Ends an attempt that takes longer than `after`.
///
/// The body is polled first and the clock looked at afterwards: a result that is ready when the time is up still counts.
/// The time is counted from the first poll that had to wait. The body of an attempt that timed out is dropped.
///
/// A sync body is not: it runs to its end, asks for itself [what is left](crate::deadline::remaining), and is looked at
/// when it is over. Its time is counted from its call.
///
/// # Examples
/// ```
/// use core::time::Duration;
/// # use resil_core as resil;
/// use resil::{Policy, Timeout};
///
/// static CHARGE: Timeout = Timeout::builder("shop::charge").after(Duration::from_millis(200)).build();
/// assert_eq!(CHARGE.name(), "shop::charge");
///
/// async fn charge() -> Result<u32, resil::Rejected> {
///     CHARGE.run(async { 7 }).await
/// }
/// ```
pub struct Timeout {
    name: &'static str,
    location: &'static Location<'static>,
    /// `None`: each call brings its own.
    after: Option<Nanos>,
    switch: Switch,
    counters: Rare<3>,
}

/// Attempts that were ended by their timeout.
const TIMED_OUT: usize = 0;
/// Attempts that were ended, or not begun, because a deadline from outside had passed.
const CUT_SHORT: usize = 1;
/// Sync attempts that came too late, and whose outcome was returned all the same.
const LATE: usize = 2;

impl Timeout {
    /// Begins a timeout of this name: `module::path::function`.
    #[track_caller]
    pub const fn builder(name: &'static str) -> TimeoutBuilder {
        TimeoutBuilder::new(name, Location::caller())
    }

    /// How long an attempt may take; `None` if each call says.
    pub const fn after(&self) -> Option<Duration> {
        match self.after {
            Some(after) => Some(after.to_duration()),
            None => None,
        }
    }

    /// Runs `body` as one attempt under this timeout, by hand.
    ///
    /// # Errors
    /// [`Rejected`] with [`Reason::TimedOut`](crate::Reason::TimedOut) if it takes longer, with
    /// [`Reason::DeadlineExceeded`](crate::Reason::DeadlineExceeded) if an ambient deadline ends it first.
    ///
    /// # Panics
    /// If `after` was not set.
    ///
    /// # Cancellation
    /// Drops the body.
    ///
    /// # Cost
    /// A body that is ready at its first poll: one thread-local read. Otherwise one clock reading a poll and one timer.
    pub fn run<F: Future>(&self, body: F) -> impl Future<Output = Result<F::Output, Rejected>> {
        limited(nobody(), self.limit(), body)
    }

    /// As [`run`](Self::run), for a sync `body`, which is not interrupted: what comes too late is dropped.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If `after` was not set.
    ///
    /// # Cost
    /// Two clock readings.
    pub fn run_blocking<R>(&self, body: impl FnOnce() -> R) -> Result<R, Rejected> {
        call_limited(&mut (), self.limit(), body).or_ended()
    }

    /// The limit of one attempt.
    ///
    /// # Panics
    /// If `after` was not set: [`limit_of`](Self::limit_of) is for that.
    #[inline]
    #[track_caller]
    pub const fn limit(&self) -> &Self {
        assert!(self.after.is_some(), "this timeout has no `after`: use `limit_of`");
        self
    }

    /// The limit of one attempt, where it is known only at the call. With 0 the attempt times out without having begun.
    #[inline]
    pub const fn limit_of(&self, after: Duration) -> AttemptLimit<'_> {
        AttemptLimit::new(self, Nanos::from_duration(after))
    }

    /// Whether it acts.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// Sets no limit to attempts that begin from now on; those under way keep theirs.
    pub fn disable(&self) {
        self.switch.turn(false);
    }

    /// Undoes [`disable`](Self::disable).
    pub fn enable(&self) {
        self.switch.turn(true);
    }
}

impl Policy for Timeout {
    fn kind(&self) -> Kind {
        Kind::Timeout
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn settings(&self, visit: &mut dyn FnMut(Setting)) {
        let value = self.after().map_or(Value::Word("by call"), Value::Duration);
        visit(Setting { name: "after", value });
    }

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        visit(Counter { name: "timed_out", value: self.counters.get(TIMED_OUT) });
        visit(Counter { name: "cut_short", value: self.counters.get(CUT_SHORT) });
        visit(Counter { name: "late", value: self.counters.get(LATE) });
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        self.switch.turn(on);
    }
}

impl fmt::Debug for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeout")
            .field("name", &self.name)
            .field("after", &self.after())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FIXED: Timeout =
        Timeout::builder("shop::fixed").after(Duration::from_millis(200)).build();
    static BY_CALL: Timeout = Timeout::builder("shop::by_call").build();

    #[test]
    fn it_says_what_it_is() {
        let shown = |timeout: &Timeout| {
            let mut shown = Vec::new();
            timeout.settings(&mut |setting| shown.push((setting.name, setting.value.to_string())));
            shown
        };
        assert_eq!(shown(&FIXED), [("after", "200ms".to_owned())]);
        assert_eq!(shown(&BY_CALL), [("after", "by call".to_owned())]);
        assert_eq!(
            (FIXED.kind(), FIXED.name(), FIXED.state()),
            (Kind::Timeout, "shop::fixed", "-")
        );
        assert!(
            FIXED.location().file().ends_with("timeout/mod.rs"),
            "where the builder was called"
        );
    }

    #[test]
    #[should_panic(expected = "use `limit_of`")]
    fn without_a_time_there_is_no_limit_by_accident() {
        let _ = BY_CALL.limit();
    }
}
