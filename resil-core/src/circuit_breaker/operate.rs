//! What an operator does with a breaker: look at it, force it, change its options.

use super::criterion::meaningless;
use super::{BreakerOptions, COUNTED, CircuitBreaker, Criterion, LOST};
use crate::contract::{
    Counter, InvalidOption, Kind, Location, Policy, Ratio, Setting, State, Value,
};
use crate::sync::fixed::PoisonError;
use crate::time::Nanos;
use core::time::Duration;

/// Acting on it. Each takes effect on the next call; outcomes of calls admitted before are lost.
impl CircuitBreaker {
    /// Refuses every call until somebody says otherwise.
    pub fn force_open(&self) {
        self.machine.go(State::ForcedOpen, self);
    }

    /// Admits every call and judges none.
    pub fn disable(&self) {
        self.machine.go(State::Disabled, self);
    }

    /// Undoes [`disable`](Self::disable), and nothing else: a breaker that is not disabled stays as it is.
    ///
    /// One that had been forced open or to observe only is that again. Any other is closed, with an empty window: what it
    /// had decided by itself rests on outcomes of another time.
    pub fn enable(&self) {
        self.machine.enable(self);
    }

    /// Whether it acts: in every state but [`State::Disabled`].
    pub fn is_enabled(&self) -> bool {
        self.state() != State::Disabled
    }

    /// Admits every call, counts as if closed, and only reports when it would have opened.
    pub fn observe_only(&self) {
        self.machine.go(State::ObserveOnly, self);
    }

    /// Closes, with an empty window. A growing open wait goes on growing.
    pub fn close(&self) {
        self.machine.go(State::Closed, self);
    }

    /// As new: closed, with an empty window and the shortest open wait. Counters keep on rising.
    pub fn reset(&self) {
        self.machine.reset(self);
    }
}

/// Options that may change while calls are under way.
///
/// The first outcome after a change is judged by it; what was counted is kept. What a breaker goes by (calls, time, failures in
/// a row) stays what it was.
impl CircuitBreaker {
    /// Counts the last `calls` outcomes, 1..=1024. A larger window fills up; a smaller one keeps the newest.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense, or the window is none of calls; nothing is changed.
    pub fn set_window(&self, calls: u32) -> Result<(), InvalidOption> {
        self.change_criterion(Criterion::Calls(calls))
    }

    /// Counts the outcomes of the last `span`, 100 ms..=24 h. A longer window fills up; a shorter one keeps the newest.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense, or the window is none of time; nothing is changed.
    pub fn set_window_for(&self, span: Duration) -> Result<(), InvalidOption> {
        self.change_criterion(Criterion::Time(Nanos::from_duration(span)))
    }

    /// Opens after this many failures in a row, 1..=1024. A row goes on.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense, or the breaker goes by a window; nothing is changed.
    pub fn set_consecutive(&self, failures: u32) -> Result<(), InvalidOption> {
        self.change_criterion(Criterion::Consecutive(failures))
    }

    /// Outcomes before a rate counts.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_min_calls(&self, calls: u32) -> Result<(), InvalidOption> {
        self.change_rates(meaningless::MIN_CALLS, |options| options.min_calls = calls)
    }

    /// The share of failures that opens.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_failure_rate(&self, rate: Ratio) -> Result<(), InvalidOption> {
        self.change_rates(meaningless::FAILURE_RATE, |options| options.failure_rate = rate)
    }

    /// What is slow; `None` if slowness does not count. Calls under way keep to what held when they began.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_slow_call(&self, longer_than: Option<Duration>) -> Result<(), InvalidOption> {
        self.change(|options| {
            options.slow_call = longer_than.map_or(Nanos::MAX, Nanos::from_duration);
            Ok(())
        })
    }

    /// The share of slow calls that opens.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_slow_rate(&self, rate: Ratio) -> Result<(), InvalidOption> {
        self.change_rates(meaningless::SLOW_RATE, |options| options.slow_rate = rate)
    }

    /// How long it stays open, from the next time on.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_open_for(&self, wait: Duration) -> Result<(), InvalidOption> {
        self.set_open_for_exponential(wait, 1, Duration::MAX)
    }

    /// A wait that grows, from the next time on.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_open_for_exponential(
        &self,
        first: Duration,
        factor: u32,
        cap: Duration,
    ) -> Result<(), InvalidOption> {
        self.change(|options| {
            options.open_for = Nanos::from_duration(first);
            options.open_factor = factor;
            options.open_cap = Nanos::from_duration(cap);
            Ok(())
        })
    }

    /// How far waits are spread.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_open_jitter(&self, share: Ratio) -> Result<(), InvalidOption> {
        self.change(|options| {
            options.open_jitter = share;
            Ok(())
        })
    }

    /// The cap of growing waits and of hints.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_max_open_for(&self, cap: Duration) -> Result<(), InvalidOption> {
        self.change(|options| {
            options.max_open_for = Nanos::from_duration(cap);
            Ok(())
        })
    }

    /// How many calls half-open admits.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_probes(&self, probes: u32) -> Result<(), InvalidOption> {
        self.change(|options| {
            options.probes = probes;
            Ok(())
        })
    }

    /// How long a probe may be out, from the next one on.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_probe_timeout(&self, longest: Duration) -> Result<(), InvalidOption> {
        self.change(|options| {
            options.probe_timeout = Nanos::from_duration(longest);
            Ok(())
        })
    }

    fn change_criterion(&self, to: Criterion) -> Result<(), InvalidOption> {
        self.change(|options| options.criterion.change(to))
    }

    /// Changes what only a breaker with rates has; `meaningless` is what is said of others.
    fn change_rates(
        &self,
        meaningless: InvalidOption,
        change: impl FnOnce(&mut BreakerOptions),
    ) -> Result<(), InvalidOption> {
        self.change(|options| {
            if !options.criterion.has_rates() {
                return Err(meaningless);
            }
            change(options);
            Ok(())
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BreakerOptions) -> Result<(), InvalidOption>,
    ) -> Result<(), InvalidOption> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut options = self.live.load();
        change(&mut options)?;
        options.check()?;
        self.live.store(&options);
        self.machine.revise(self);
        Ok(())
    }
}

impl Policy for CircuitBreaker {
    fn kind(&self) -> Kind {
        Kind::CircuitBreaker
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn state(&self) -> &'static str {
        self.state().as_str()
    }

    fn settings(&self, visit: &mut dyn FnMut(Setting)) {
        let options = self.live.load();
        let count = |n: u32| Value::Count(n.into());
        let span = |span: Nanos| {
            if span == Nanos::MAX { Value::Off } else { Value::Duration(span.to_duration()) }
        };
        let criterion = match options.criterion {
            Criterion::Calls(calls) => ("window", count(calls)),
            Criterion::Time(window) => ("window", span(window)),
            Criterion::Consecutive(failures) => ("consecutive", count(failures)),
        };
        let rates = [
            ("min_calls", count(options.min_calls)),
            ("failure_rate", Value::Ratio(options.failure_rate)),
            ("slow_call", span(options.slow_call)),
            ("slow_rate", Value::Ratio(options.slow_rate)),
        ];
        let others = [
            ("open_for", span(options.open_for)),
            ("open_factor", count(options.open_factor)),
            ("open_jitter", Value::Ratio(options.open_jitter)),
            ("max_open_for", span(options.max_open_for)),
            ("probes", count(options.probes)),
            ("probe_timeout", span(options.probe_timeout)),
        ];
        let has = |(name, _): &(&str, _)| options.criterion.has_rates() || *name == "slow_call";
        let settings = [criterion].into_iter().chain(rates.into_iter().filter(has)).chain(others);
        for (name, value) in settings {
            visit(Setting { name, value });
        }
    }

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        for (index, name) in COUNTED.into_iter().enumerate() {
            let striped = index != LOST;
            let value = if striped { self.counters.get(index) } else { self.lost.get(0) };
            visit(Counter { name, value });
        }
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        if on { self.enable() } else { self.disable() }
    }
}
