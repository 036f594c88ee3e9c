//! The end of a call: what it came to becomes what is returned.

use crate::contract::Rejected;
use crate::fallback::{Cause, Ended, Fallback};

/// Makes what a pipeline returns of what its call came to.
pub trait Answer<T, E> {
    /// The outcome of the call.
    ///
    /// # Errors
    /// Of the body, or a refusal.
    fn answer(&self, ended: Ended<Result<T, E>>) -> Result<T, E>;
}

/// A refusal is an error of the body's type.
#[derive(Clone, Copy, Debug)]
pub struct Refusing;

impl<T, E: From<Rejected>> Answer<T, E> for Refusing {
    #[inline]
    fn answer(&self, ended: Ended<Result<T, E>>) -> Result<T, E> {
        match ended {
            Ended::Returned(outcome, _) => outcome,
            Ended::Rejected(rejected) => Err(rejected.into()),
        }
    }
}

/// A fallback answers for refusals, timeouts and failures.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'p, F> {
    pub(super) fallback: &'p Fallback,
    pub(super) answer: F,
}

impl<T, E, F> Answer<T, E> for Answered<'_, F>
where
    E: From<Rejected>,
    F: Fn(Cause<E>) -> Result<T, E>,
{
    fn answer(&self, ended: Ended<Result<T, E>>) -> Result<T, E> {
        if !self.fallback.is_enabled() {
            return Refusing.answer(ended);
        }
        let cause = match ended.__resil_cause(self.fallback) {
            Ok(outcome) => return outcome,
            Err(cause) => cause,
        };
        self.fallback.ran(&cause);
        (self.answer)(cause)
    }
}
