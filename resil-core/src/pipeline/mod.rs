//! Policies composed at run time, for callers that cannot use the attribute.
//!
//! Invariant: what a pipeline does with a script of outcomes is what the attribute does with it: the same order, the same
//! counts, events, waits and refusals. It decides nothing itself; each step is the policies' own.

mod answer;
mod course;
mod gates;
mod judge;
mod limits;

pub use answer::{Answer, Answered, Refusing};
pub use judge::{ByClassify, ByJudge, JudgeBy};

use crate::bulkhead::Bulkhead;
use crate::circuit_breaker::CircuitBreaker;
use crate::contract::Judgement;
use crate::deadline::DeadlineLimit;
use crate::fallback::{Cause, Fallback};
use crate::rate_limiter::RateLimiter;
use crate::retry::Retry;
use crate::retry_budget::RetryBudget;
use crate::timeout::Timeout;
use core::fmt;
use gates::Gates;

/// Policies around a call, put together at run time.
///
/// Outermost first, as the attribute has it: fallback → deadline → retry → circuit breaker → rate limiter → bulkhead →
/// timeout → body. It borrows its policies, is `Copy`, and is as well made for one call as kept for many. What the attribute
/// says by patterns, here says [`Classify`](crate::Classify) or a closure ([`judged_by`](Self::judged_by)).
///
/// # Cost
/// What is not set costs a test. Allocates nothing.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use core::time::Duration;
/// use resil::{Bulkhead, CircuitBreaker, Judgement, Pipeline, Retry};
/// use std::io;
///
/// static GATEWAY: CircuitBreaker = CircuitBreaker::builder("gateway").build();
/// let pool = Bulkhead::builder("pool").max_concurrent(8).build();
/// let twice = Retry::builder("read").max_attempts(2).build();
///
/// let guarded = Pipeline::new()
///     .retry(&twice)
///     .circuit_breaker(&GATEWAY)
///     .bulkhead(&pool)
///     .judged_by(Judgement::of);
///
/// let answer = guarded.call(|attempt| {
///     if attempt == 1 { Err(io::Error::other("reset")) } else { Ok(7) }
/// });
/// assert_eq!(answer.unwrap(), 7);
/// ```
#[derive(Clone, Copy)]
#[must_use = "a pipeline guards what is called through it"]
pub struct Pipeline<'p, J = ByClassify, A = Refusing> {
    deadline: Option<&'p DeadlineLimit>,
    retry: Option<&'p Retry>,
    budget: Option<&'p RetryBudget>,
    gates: Gates<'p>,
    timeout: Option<&'p Timeout>,
    late_is_timeout: bool,
    judge: J,
    answer: A,
}

impl Pipeline<'_> {
    /// Without any policy: a call is the call.
    pub const fn new() -> Self {
        Self {
            deadline: None,
            retry: None,
            budget: None,
            gates: Gates::NONE,
            timeout: None,
            late_is_timeout: false,
            judge: ByClassify,
            answer: Refusing,
        }
    }
}

impl Default for Pipeline<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'p, J, A> Pipeline<'p, J, A> {
    /// Limits the whole call.
    pub const fn deadline(mut self, deadline: &'p DeadlineLimit) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Calls again after a failure.
    pub const fn retry(mut self, retry: &'p Retry) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Lets retries be paid from this budget. Does nothing without [`retry`](Self::retry).
    pub const fn retry_budget(mut self, budget: &'p RetryBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Asks this breaker before each attempt.
    pub const fn circuit_breaker(mut self, breaker: &'p CircuitBreaker) -> Self {
        self.gates.circuit_breaker = Some(breaker);
        self
    }

    /// Takes a cell of this limiter for each attempt.
    pub const fn rate_limiter(mut self, limiter: &'p RateLimiter) -> Self {
        self.gates.rate_limiter = Some(limiter);
        self
    }

    /// How many cells an attempt takes. Default: 1.
    pub const fn cost(mut self, cells: u32) -> Self {
        self.gates.cost = cells;
        self
    }

    /// Takes a place in this bulkhead for each attempt.
    pub const fn bulkhead(mut self, bulkhead: &'p Bulkhead) -> Self {
        self.gates.bulkhead = Some(bulkhead);
        self
    }

    /// Limits each attempt.
    pub const fn timeout(mut self, timeout: &'p Timeout) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Turns a sync `Ok` that came too late into a timeout, instead of returning it. Async attempts are ended in time.
    pub const fn late_is_timeout(mut self) -> Self {
        self.late_is_timeout = true;
        self
    }

    /// Judges outcomes by this closure instead of by [`Classify`](crate::Classify). Where an error type has nothing to say,
    /// [`Judgement::of`] takes every `Err` for a failure that another attempt may mend, as the attribute does.
    pub fn judged_by<T, E, F: Fn(&Result<T, E>) -> Judgement>(
        self,
        judge: F,
    ) -> Pipeline<'p, ByJudge<F>, A> {
        let Self { deadline, retry, budget, gates, timeout, late_is_timeout, answer, .. } = self;
        let judge = ByJudge(judge);
        Pipeline { deadline, retry, budget, gates, timeout, late_is_timeout, judge, answer }
    }

    /// Answers by this closure for refusals, timeouts and failures, outside of every other policy. (A future that answers is
    /// awaited by the caller, on what the pipeline returned.)
    pub fn fallback<T, E, F: Fn(Cause<E>) -> Result<T, E>>(
        self,
        fallback: &'p Fallback,
        answer: F,
    ) -> Pipeline<'p, J, Answered<'p, F>> {
        let Self { deadline, retry, budget, gates, timeout, late_is_timeout, judge, .. } = self;
        let answer = Answered { fallback, answer };
        Pipeline { deadline, retry, budget, gates, timeout, late_is_timeout, judge, answer }
    }

    /// Calls `body` under these policies. It gets the number of the attempt, from 1.
    ///
    /// # Errors
    /// What the body returned last, or a refusal, timeout or deadline as `E`.
    ///
    /// # Panics
    /// If the body does: a breaker takes that for a failure, everything is given back.
    pub fn call<T, E>(&self, body: impl FnMut(u32) -> Result<T, E>) -> Result<T, E>
    where
        J: JudgeBy<T, E>,
        A: Answer<T, E>,
    {
        self.answer.answer(self.attempts(body))
    }

    /// Polls the futures that `body` makes under these policies, one an attempt. It gets the number of the attempt,
    /// from 1.
    ///
    /// Where the future has to be `Send`, for a task of its own, `body` must own what it uses: `async move |n| …`, or
    /// `move |n| async move { … }`. Of one that borrows its surroundings the compiler cannot tell.
    ///
    /// # Errors
    /// What the body returned last, or a refusal, timeout or deadline as `E`.
    ///
    /// # Cancellation
    /// Drops the body and gives everything back; a breaker takes it for a failure only if it was late by then.
    ///
    /// # Panics
    /// If the body does: a breaker takes that for a failure, everything is given back.
    pub async fn run<T, E>(&self, body: impl AsyncFnMut(u32) -> Result<T, E>) -> Result<T, E>
    where
        J: JudgeBy<T, E>,
        A: Answer<T, E>,
    {
        self.answer.answer(self.attempts_async(body).await)
    }
}

impl<J, A> fmt::Debug for Pipeline<'_, J, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipeline")
            .field("deadline", &self.deadline)
            .field("retry", &self.retry)
            .field("retry_budget", &self.budget)
            .field("circuit_breaker", &self.gates.circuit_breaker)
            .field("rate_limiter", &self.gates.rate_limiter)
            .field("bulkhead", &self.gates.bulkhead)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
