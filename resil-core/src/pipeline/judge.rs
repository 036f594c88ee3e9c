//! What an outcome means to a pipeline: as its type says, or as a closure does.

use crate::contract::{Classify, Judgement, carries_refusal};
use core::error::Error;

/// Judges the outcomes of a pipeline's body.
pub trait JudgeBy<T, E> {
    /// What it means.
    fn judge(&self, outcome: &Result<T, E>) -> Judgement;
}

/// As [`Classify`] says.
#[derive(Clone, Copy, Debug)]
pub struct ByClassify;

impl<T, E: Classify> JudgeBy<T, E> for ByClassify {
    #[inline]
    fn judge(&self, outcome: &Result<T, E>) -> Judgement {
        outcome.classify()
    }
}

/// As a closure says.
#[derive(Clone, Copy, Debug)]
pub struct ByJudge<F>(pub(super) F);

impl<T, E, F: Fn(&Result<T, E>) -> Judgement> JudgeBy<T, E> for ByJudge<F> {
    #[inline]
    fn judge(&self, outcome: &Result<T, E>) -> Judgement {
        (self.0)(outcome)
    }
}

impl Judgement {
    /// What the attribute makes of a `Result` whose error does not classify itself: an `Err` is a failure that another
    /// attempt may mend, unless it carries a refusal, which is nobody's failure.
    ///
    /// # Examples
    /// ```
    /// # use resil_core as resil;
    /// use resil::{Judgement, Reason, Rejected, Verdict};
    ///
    /// let refused: Result<(), Rejected> = Err(Rejected::new(Reason::CircuitOpen, "inner"));
    /// assert_eq!(Judgement::of(&refused).verdict(), Verdict::Ignored);
    /// ```
    pub fn of<T, E: Error>(outcome: &Result<T, E>) -> Self {
        match outcome {
            Ok(_) => Self::SUCCESS,
            Err(error) if carries_refusal(error.source()) => Self::IGNORED,
            Err(_) => Self::TRANSIENT,
        }
    }
}
