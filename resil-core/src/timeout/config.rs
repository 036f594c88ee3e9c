//! How a timeout is declared.

use super::Timeout;
use crate::cell::{Rare, Switch};
use crate::contract::{InvalidOption, Location};
use crate::time::Nanos;
use core::time::Duration;

/// Declares a [`Timeout`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct TimeoutBuilder {
    name: &'static str,
    location: &'static Location<'static>,
    after: Option<Duration>,
}

impl TimeoutBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        Self { name, location, after: None }
    }

    /// How long an attempt may take.
    ///
    /// # Default
    /// None: each call brings its own, by [`Timeout::limit_of`]. From 1 ns; above 584 years it never ends.
    pub const fn after(mut self, after: Duration) -> Self {
        self.after = Some(after);
        self
    }

    /// The timeout.
    ///
    /// # Panics
    /// If an option is out of range: an error of compilation in a `static`.
    #[track_caller]
    #[must_use]
    pub const fn build(self) -> Timeout {
        match self.try_build() {
            Ok(timeout) => timeout,
            Err(invalid) => panic!("{}", invalid.problem()),
        }
    }

    /// The timeout, or what is wrong with it.
    ///
    /// # Errors
    /// If an option is out of range.
    pub const fn try_build(self) -> Result<Timeout, InvalidOption> {
        let after = match self.after {
            Some(Duration::ZERO) => {
                return Err(InvalidOption::new(
                    "after",
                    "`after` must be at least 1 ns; leave the timeout out for none",
                ));
            }
            Some(after) => Some(Nanos::from_duration(after)),
            None => None,
        };
        Ok(Timeout {
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
    fn t05_zero_is_an_error_and_says_what_to_write() {
        let invalid = Timeout::builder("f").after(Duration::ZERO).try_build().unwrap_err();
        assert_eq!(invalid.field(), "after");
        assert!(invalid.problem().contains("at least 1 ns"), "{invalid}");
    }

    #[test]
    #[should_panic(expected = "`after` must be at least 1 ns")]
    fn build_panics_with_the_problem() {
        let _ = Timeout::builder("f").after(Duration::ZERO).build();
    }

    #[test]
    fn a_nanosecond_is_a_timeout_and_so_is_the_longest_duration() {
        for after in [Duration::from_nanos(1), Duration::from_micros(200)] {
            let timeout = Timeout::builder("f").after(after).try_build().unwrap();
            assert_eq!(timeout.after(), Some(after));
        }
        assert!(Timeout::builder("f").after(Duration::MAX).try_build().is_ok());
    }
}
