//! How a bulkhead is built: the defaults and the builder.
//!
//! Invariant: a bulkhead that exists has options that make sense together; nothing is clamped or ignored.

use super::{Bulkhead, BulkheadOptions};
use crate::contract::{InvalidOption, Location};
use crate::time::Nanos;
use core::time::Duration;

/// How long a call waits for a place: not at all, since a caller that waits is load too.
pub const DEFAULT_WAIT: Duration = Duration::ZERO;

/// Builds a [`Bulkhead`]; made by [`Bulkhead::builder`].
///
/// Every setter is `const`, named as in the attribute, and documented with its default there.
#[derive(Clone, Copy, Debug)]
#[must_use = "call `build()`"]
pub struct BulkheadBuilder {
    name: &'static str,
    location: &'static Location<'static>,
    max_concurrent: Option<u32>,
    wait: Nanos,
    queue: Option<u32>,
}

impl BulkheadBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        let wait = Nanos::from_duration(DEFAULT_WAIT);
        Self { name, location, max_concurrent: None, wait, queue: None }
    }

    /// Admits this many calls at a time, at most 2³⁰; with 0 it is closed. Required: there is no honest guess.
    pub const fn max_concurrent(mut self, calls: u32) -> Self {
        self.max_concurrent = Some(calls);
        self
    }

    /// Has a call wait for a place for at most this long. Default: 0, it is refused at once.
    pub const fn wait(mut self, longest: Duration) -> Self {
        self.wait = Nanos::from_duration(longest);
        self
    }

    /// Lets at most this many calls wait; with 0 nobody does. Default: as many as `max_concurrent`.
    pub const fn queue(mut self, calls: u32) -> Self {
        self.queue = Some(calls);
        self
    }

    /// The options as they will be, defaults filled in.
    #[doc(hidden)]
    pub const fn options(&self) -> BulkheadOptions {
        let max_concurrent = match self.max_concurrent {
            Some(calls) => calls,
            None => 0,
        };
        BulkheadOptions { max_concurrent, wait: self.wait, queue: self.queue }
    }

    /// Builds the bulkhead.
    ///
    /// # Panics
    /// Where [`try_build`](Self::try_build) errs; in a `static` that is a compile error.
    pub const fn build(self) -> Bulkhead {
        match self.check() {
            Ok(options) => Bulkhead::with(self.name, self.location, options),
            Err(invalid) => panic!("{}", invalid.problem()),
        }
    }

    /// Builds the bulkhead.
    ///
    /// # Errors
    /// [`InvalidOption`] names the first option that makes no sense.
    pub const fn try_build(self) -> Result<Bulkhead, InvalidOption> {
        match self.check() {
            Ok(options) => Ok(Bulkhead::with(self.name, self.location, options)),
            Err(invalid) => Err(invalid),
        }
    }

    const fn check(&self) -> Result<BulkheadOptions, InvalidOption> {
        if self.max_concurrent.is_none() {
            return Err(InvalidOption::new("max_concurrent", "`max_concurrent` is required"));
        }
        let options = self.options();
        match options.check() {
            Ok(()) => Ok(options),
            Err(invalid) => Err(invalid),
        }
    }
}
