//! Answers in place of what failed.
//!
//! Invariant: the static only counts and reports; what is answered is the function's own expression, outside of every
//! other policy, so that they see the failure.

mod cause;
mod config;
mod ended;

pub use cause::Cause;
pub use config::FallbackBuilder;
pub use ended::{Ended, EndedAs, OrRejected, OrRejectedAs, Standing};

use crate::cell::{Rare, Switch};
use crate::contract::{Counter, Event, Kind, Location, Policy, Rejected, Setting, emit};
use core::fmt;

/// The counters, by index.
mod count {
    /// Errors of the body.
    pub(super) const ERROR: usize = 0;
    /// Refusals by a gate.
    pub(super) const REJECTED: usize = 1;
    /// Attempts and calls that ran out of time.
    pub(super) const TIMED_OUT: usize = 2;

    pub(super) const ALL: usize = 3;
    pub(super) const NAMES: [&str; ALL] = ["error", "rejected", "timeout"];
}

/// What a function's fallback has answered for.
///
/// One `static` a function. A fallback answers for refusals, timeouts and failures; not for outcomes that are ignored or
/// aborted, nor for panics (it must not mask bugs), nor for cancelled calls (nobody is waiting). What the fallback itself
/// returns, an error included, is the call's outcome.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{Cause, Fallback};
///
/// static QUOTE: Fallback = Fallback::builder("quote").build();
///
/// fn or_nothing(quoted: Result<u32, &'static str>) -> Result<u32, &'static str> {
///     match quoted {
///         Err(error) if QUOTE.is_enabled() => {
///             QUOTE.ran(&Cause::Error(error));
///             Ok(0)
///         }
///         quoted => quoted,
///     }
/// }
///
/// assert_eq!((or_nothing(Err("down")), QUOTE.runs()), (Ok(0), 1));
/// QUOTE.disable();
/// assert_eq!((or_nothing(Err("down")), QUOTE.runs()), (Err("down"), 1));
/// ```
pub struct Fallback {
    name: &'static str,
    location: &'static Location<'static>,
    switch: Switch,
    counters: Rare<{ count::ALL }>,
}

impl Fallback {
    /// A fallback with this name, usually the path of the function.
    #[track_caller]
    pub const fn builder(name: &'static str) -> FallbackBuilder {
        FallbackBuilder::new(name, Location::caller())
    }

    const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        Self { name, location, switch: Switch::on(), counters: Rare::new() }
    }

    /// Counts and reports that the fallback answers for this cause.
    #[inline]
    pub fn ran<E>(&self, cause: &Cause<E>) {
        self.ran_for(cause.rejected());
    }

    #[cold]
    #[inline(never)]
    fn ran_for(&self, rejected: Option<Rejected>) {
        let index = match rejected {
            None => count::ERROR,
            Some(rejected) if rejected.reason().is_timeout() => count::TIMED_OUT,
            Some(_) => count::REJECTED,
        };
        self.counters.add(index);
        emit(&Event::FallbackRan { policy: self.name, rejected });
    }

    /// How often it has answered.
    pub fn runs(&self) -> u64 {
        (0..count::ALL).map(|cause| self.counters.get(cause)).sum()
    }

    /// Whether it acts.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// Lets every outcome through from now on.
    ///
    /// A refusal or timeout is still answered for in a function whose return type cannot carry one: there is nothing else
    /// that it could return.
    pub fn disable(&self) {
        self.switch.turn(false);
    }

    /// Undoes [`disable`](Self::disable).
    pub fn enable(&self) {
        self.switch.turn(true);
    }
}

impl Policy for Fallback {
    fn kind(&self) -> Kind {
        Kind::Fallback
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn settings(&self, _visit: &mut dyn FnMut(Setting)) {}

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        for (index, name) in count::NAMES.into_iter().enumerate() {
            visit(Counter { name, value: self.counters.get(index) });
        }
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        self.switch.turn(on);
    }
}

impl fmt::Debug for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Judgement, Reason, recorded};

    #[test]
    fn f03_each_answer_is_counted_and_reported_once_with_its_cause() {
        let fallback = Fallback::builder("f").build();
        let open = Rejected::new(Reason::CircuitOpen, "gateway");
        let timed_out = Rejected::new(Reason::TimedOut, "f");
        let too_late = Rejected::new(Reason::DeadlineExceeded, "f");
        let causes = [
            Cause::Error("down"),
            Cause::Rejected(open),
            Cause::Rejected(timed_out),
            Cause::Rejected(too_late),
        ];
        let ((), events) = recorded(|| causes.iter().for_each(|cause| fallback.ran(cause)));
        let mut counted = Vec::new();
        fallback.counters(&mut |counter| counted.push((counter.name, counter.value)));
        assert_eq!(counted, [("error", 1), ("rejected", 1), ("timeout", 2)]);
        assert_eq!(fallback.runs(), 4);
        let ran = |rejected| Event::FallbackRan { policy: "f", rejected };
        assert_eq!(events, [ran(None), ran(Some(open)), ran(Some(timed_out)), ran(Some(too_late))]);
    }

    #[test]
    fn f03_the_fallback_gets_the_original_and_its_own_outcome_is_the_calls() {
        fn answered(ended: Ended<Result<u8, String>>) -> Result<u8, String> {
            match ended.__resil_cause(&Fallback::builder("f").build()) {
                Ok(outcome) => outcome,
                Err(cause) => Err(format!("nothing cached after: {cause}")),
            }
        }
        let failed = Ended::returned(Err("down".to_owned()), Judgement::FAILURE);
        assert_eq!(answered(failed), Err("nothing cached after: down".to_owned()));
        let refused = Ended::Rejected(Rejected::new(Reason::CircuitOpen, "gateway"));
        assert_eq!(
            answered(refused),
            Err("nothing cached after: circuit open: `gateway`".to_owned())
        );
        assert_eq!(answered(Ended::returned(Ok(7), Judgement::SUCCESS)), Ok(7));
    }
}
