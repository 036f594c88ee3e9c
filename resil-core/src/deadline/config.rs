//! How a deadline is declared.

use super::DeadlineLimit;
use crate::cell::{Rare, Switch};
use crate::contract::{InvalidOption, Location};
use crate::time::Nanos;
use core::time::Duration;

/// Declares a [`DeadlineLimit`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct DeadlineLimitBuilder {
    name: &'static str,
    location: &'static Location<'static>,
    after: Option<Duration>,
}

impl DeadlineLimitBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        Self { name, location, after: None }
    }

    /// How long a call may take in all.
    ///
    /// # Default
    /// None, it is required. From 1 ns; above 584 years it never ends.
    pub const fn after(mut self, after: Duration) -> Self {
        self.after = Some(after);
        self
    }

    /// The deadline.
    ///
    /// # Panics
    /// If an option is missing or out of range: an error of compilation in a `static`.
    #[track_caller]
    #[must_use]
    pub const fn build(self) -> DeadlineLimit {
        match self.try_build() {
            Ok(limit) => limit,
            Err(invalid) => panic!("{}", invalid.problem()),
        }
    }

    /// The deadline, or what is wrong with it.
    ///
    /// # Errors
    /// If an option is missing or out of range.
    pub const fn try_build(self) -> Result<DeadlineLimit, InvalidOption> {
        let after = match self.after {
            None => {
                return Err(InvalidOption::new(
                    "after",
                    "`after` is required: a deadline has no default",
                ));
            }
            Some(Duration::ZERO) => {
                return Err(InvalidOption::new(
                    "after",
                    "`after` must be at least 1 ns; leave the deadline out for none",
                ));
            }
            Some(after) => Nanos::from_duration(after),
        };
        Ok(DeadlineLimit {
            name: self.name,
            location: self.location,
            after,
            switch: Switch::on(),
            counters: Rare::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t05_zero_and_nothing_are_errors_that_say_what_to_write() {
        let missing = DeadlineLimit::builder("f").try_build().unwrap_err();
        assert_eq!((missing.field(), missing.problem().contains("required")), ("after", true));
        let zero = DeadlineLimit::builder("f").after(Duration::ZERO).try_build().unwrap_err();
        assert_eq!((zero.field(), zero.problem().contains("at least 1 ns")), ("after", true));
    }

    #[test]
    #[should_panic(expected = "`after` is required")]
    fn build_panics_with_the_problem() {
        let _ = DeadlineLimit::builder("f").build();
    }
}
