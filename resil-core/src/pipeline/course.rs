//! One call through a pipeline: its attempts, and what stands between them.
//!
//! Invariant: nothing of an attempt is held while the call waits for the next one, but the newest outcome, in case a gate
//! refuses that.

use super::Pipeline;
use super::gates::Admitted;
use super::judge::JudgeBy;
use super::limits::Bounds;
use crate::contract::{Judgement, Limits, Rejected, attempt, call, call_limited, limited};
use crate::deadline::{CallDeadline, DeadlineLimit};
use crate::fallback::Ended;
use crate::retry::Attempts;
use crate::retry::purse::Share;
use crate::retry_budget::RetryBudget;
use crate::time::{Deadline, Nanos, sleep, sleep_blocking};

impl<J, A> Pipeline<'_, J, A> {
    /// All attempts of a call, on this thread.
    pub(super) fn attempts<T, E>(
        &self,
        mut body: impl FnMut(u32) -> Result<T, E>,
    ) -> Ended<Result<T, E>>
    where
        J: JudgeBy<T, E>,
    {
        let mut course = Course::begin(self);
        loop {
            let next = match self.gates.enter(course.deadline()) {
                Err(rejected) => course.refused(rejected),
                Ok(passed) => {
                    if let Some(ended) = course.overdue() {
                        passed.give_back();
                        return ended;
                    }
                    let mut admitted = passed.begin();
                    let number = course.admitted();
                    let (outcome, late) = match course.bounds(self) {
                        None => (Ok(call(&mut admitted, || body(number))), false),
                        Some(bounds) => {
                            let timed = call_limited(&mut admitted, bounds, || body(number));
                            if self.late_is_timeout {
                                (timed.__resil_end(), false)
                            } else {
                                timed.__resil_keep()
                            }
                        }
                    };
                    course.ended(self, admitted, outcome, late)
                }
            };
            match next {
                Next::Over(ended) => return ended,
                Next::Wait(wait) => sleep_blocking(wait),
            }
            if let Some(ended) = course.overdue() {
                return ended;
            }
        }
    }

    /// All attempts of a call, as a future.
    pub(super) async fn attempts_async<T, E>(
        &self,
        mut body: impl AsyncFnMut(u32) -> Result<T, E>,
    ) -> Ended<Result<T, E>>
    where
        J: JudgeBy<T, E>,
    {
        let mut course = Course::begin(self);
        loop {
            let next = match self.gates.enter_async(course.deadline()).await {
                Err(rejected) => course.refused(rejected),
                Ok(passed) => {
                    if let Some(ended) = course.overdue() {
                        passed.give_back();
                        return ended;
                    }
                    let mut admitted = passed.begin();
                    let number = course.admitted();
                    let outcome = match course.bounds(self) {
                        None => Ok(attempt(&mut admitted, body(number)).await),
                        Some(bounds) => limited(&mut admitted, bounds, body(number)).await,
                    };
                    course.ended(self, admitted, outcome, false)
                }
            };
            match next {
                Next::Over(ended) => return ended,
                Next::Wait(wait) => sleep(wait).await,
            }
            if let Some(ended) = course.overdue() {
                return ended;
            }
        }
    }
}

/// What follows an attempt.
enum Next<R> {
    /// Another one, after so long.
    Wait(Nanos),
    Over(Ended<R>),
}

/// One call.
struct Course<'p, R> {
    deadline: Option<CallDeadline<'p>>,
    attempts: Option<Attempts<'p, Option<Share<'p, RetryBudget>>>>,
    /// The newest outcome.
    held: Option<Ended<R>>,
}

impl<'p, T, E> Course<'p, Result<T, E>> {
    fn begin<J, A>(pipeline: &Pipeline<'p, J, A>) -> Self {
        let deadline = pipeline.deadline.map(DeadlineLimit::start);
        let attempts = pipeline.retry.map(|retry| retry.start_within(pipeline.budget));
        Self { deadline, attempts, held: None }
    }

    /// By when the whole call has to be over.
    fn deadline(&self) -> Deadline {
        self.deadline.as_ref().map_or(Deadline::NEVER, Limits::deadline)
    }

    fn bounds<J, A>(&self, pipeline: &Pipeline<'p, J, A>) -> Option<Bounds<'p>> {
        Bounds::new(pipeline.timeout, self.deadline)
    }

    /// A gate refused the attempt.
    fn refused(&mut self, rejected: Rejected) -> Next<Result<T, E>> {
        let deadline = self.deadline();
        let wait = self.attempts.as_mut().and_then(|attempts| attempts.refused(rejected, deadline));
        match wait {
            Some(wait) => Next::Wait(wait),
            None => Next::Over(self.held.take().unwrap_or(Ended::Rejected(rejected))),
        }
    }

    /// All gates let the attempt through; its number.
    fn admitted(&mut self) -> u32 {
        self.held = None;
        self.attempts.as_mut().map_or(1, |attempts| {
            attempts.admitted();
            attempts.number()
        })
    }

    /// The attempt is over.
    fn ended<J: JudgeBy<T, E>, A>(
        &mut self,
        pipeline: &Pipeline<'p, J, A>,
        admitted: Admitted<'p>,
        outcome: Result<Result<T, E>, Rejected>,
        late: bool,
    ) -> Next<Result<T, E>> {
        let judgement = match &outcome {
            Ok(_) if late => Judgement::FAILURE,
            Ok(outcome) => pipeline.judge.judge(outcome),
            Err(rejected) => match &self.attempts {
                Some(attempts) => attempts.judge(rejected),
                None => Judgement::ended(rejected, false),
            },
        };
        admitted.settle(judgement);
        let ended = match outcome {
            Ok(outcome) => Ended::returned(outcome, judgement),
            Err(rejected) => Ended::Rejected(rejected),
        };
        let deadline = self.deadline();
        let wait = self.attempts.as_mut().and_then(|attempts| attempts.next(judgement, deadline));
        match wait {
            None => Next::Over(ended),
            Some(wait) => {
                self.held = Some(ended);
                Next::Wait(wait)
            }
        }
    }

    /// The newest outcome, if the deadline has passed before the next attempt begins.
    fn overdue(&mut self) -> Option<Ended<Result<T, E>>> {
        let deadline = self.deadline();
        let attempts = self.attempts.as_mut()?;
        if self.held.is_none() || !deadline.is_expired() {
            return None;
        }
        attempts.out_of_time();
        self.held.take()
    }
}
