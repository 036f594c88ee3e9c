//! What an operator does with a bulkhead: look at it, switch it off and on, change its options.

use super::{Bulkhead, BulkheadOptions, COUNTED};
use crate::cell::slots::MOST;
use crate::contract::{Counter, InvalidOption, Kind, Location, Policy, Setting, Value};
use crate::sync::fixed::{MutexGuard, PoisonError};
use crate::time::Nanos;
use core::time::Duration;

/// Acting on it.
impl Bulkhead {
    /// Whether its limit is in force.
    pub fn is_enabled(&self) -> bool {
        self.live.switch.is_on()
    }

    /// Admits every call, those who wait as well. They are counted all the same.
    pub fn disable(&self) {
        self.set_in_force(false);
    }

    /// The limit is in force again, for whoever comes from now on: nobody is sent away who is inside.
    pub fn enable(&self) {
        self.set_in_force(true);
    }

    fn set_in_force(&self, enabled: bool) {
        let changing = self.changing();
        self.live.switch.turn(enabled);
        self.slots.set_limit(if enabled { self.max_concurrent() } else { MOST });
        drop(changing);
    }
}

/// Options that may change while calls are under way.
impl Bulkhead {
    /// Admits this many calls at a time.
    ///
    /// Never waits. More places go to those who wait, in their order. With fewer, nobody is sent away who is inside: as many as
    /// there are too many have to leave before anybody enters again. With 0 it is closed: every call is refused at once, and so
    /// are those who wait.
    ///
    /// # Errors
    /// [`InvalidOption`] for more than 2³⁰; nothing is changed.
    pub fn set_max_concurrent(&self, calls: u32) -> Result<(), InvalidOption> {
        self.change(|options| options.max_concurrent = calls)
    }

    /// How long a call waits at most, from the next one on.
    ///
    /// # Errors
    /// None so far: every wait makes sense.
    pub fn set_wait(&self, longest: Duration) -> Result<(), InvalidOption> {
        self.change(|options| options.wait = Nanos::from_duration(longest))
    }

    /// How many calls wait at most. Nobody is sent away who waits.
    ///
    /// # Errors
    /// [`InvalidOption`] for more than 2³⁰; nothing is changed.
    pub fn set_queue(&self, calls: u32) -> Result<(), InvalidOption> {
        self.change(|options| options.queue = Some(calls))
    }

    fn change(&self, change: impl FnOnce(&mut BulkheadOptions)) -> Result<(), InvalidOption> {
        let changing = self.changing();
        let mut options = self.live.load();
        change(&mut options);
        options.check()?;
        self.live.store(&options);
        if self.is_enabled() {
            self.slots.set_limit(options.max_concurrent);
        }
        drop(changing);
        Ok(())
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Policy for Bulkhead {
    fn kind(&self) -> Kind {
        Kind::Bulkhead
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn state(&self) -> &'static str {
        if !self.is_enabled() {
            "disabled"
        } else if self.max_concurrent() == 0 {
            "closed"
        } else if self.available() == 0 {
            "full"
        } else {
            "free"
        }
    }

    fn settings(&self, visit: &mut dyn FnMut(Setting)) {
        let options = self.live.load();
        let wait = match options.wait {
            Nanos::ZERO => Value::Off,
            Nanos::MAX => Value::Word("unbounded"),
            wait => Value::Duration(wait.to_duration()),
        };
        let settings = [
            ("max_concurrent", Value::Count(options.max_concurrent.into())),
            ("wait", wait),
            ("queue", Value::Count(options.longest_queue().into())),
        ];
        for (name, value) in settings {
            visit(Setting { name, value });
        }
    }

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        for (index, name) in COUNTED.into_iter().enumerate() {
            visit(Counter { name, value: self.counters.get(index) });
        }
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        if on { self.enable() } else { self.disable() }
    }
}
