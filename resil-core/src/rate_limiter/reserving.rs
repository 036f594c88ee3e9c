//! Reserving a limiter: the permits of a call that may yet be refused elsewhere, at once or after a wait.
//!
//! Invariant: a call that finds its permits touches no lock and no timer. One that waits is let in by the clock, not by the wake-up.

use super::taking::Look;
use super::waiting::{Begun, Place};
use super::{Cells, RateLimiter, Taken};
use crate::cell::slots::Wake;
use crate::contract::Rejected;
use crate::time::{Deadline, Nanos, Timer};
use core::fmt;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};

impl RateLimiter {
    /// Takes `cost` permits for a call that has other gates to pass, and waits for them in this thread if they are not there: as long as
    /// the limiter's `wait`, `deadline` and the [ambient deadline](Deadline::current) allow.
    ///
    /// # Errors
    /// As [`acquire_many`](Self::acquire_many), at once if the wait would be too long.
    ///
    /// # Cost
    /// As [`acquire`](Self::acquire) if there are enough; else a lock as well, twice.
    #[inline]
    pub fn enter(&self, cost: u32, deadline: Deadline) -> Result<Cells<'_>, Rejected> {
        let shard = self.own_shard();
        let taken = match self.take(shard, cost) {
            Look { ticket: Some(ticket), at } => Taken { ticket, at, permits: cost, shard },
            Look { at, .. } => self.wait_here(cost, deadline, at)?,
        };
        Ok(Cells::new(self, taken))
    }

    /// As [`enter`](Self::enter), waiting in a task.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    ///
    /// # Cancellation
    /// Dropping the future gives the reservation back.
    ///
    /// # Cost
    /// As [`enter`](Self::enter), and a timer if it waits.
    #[inline]
    pub const fn enter_async(&self, cost: u32, deadline: Deadline) -> Reserving<'_> {
        Reserving { state: State::Before { limiter: self, cost, deadline } }
    }
}

/// A call on its way into a [`RateLimiter`]: what [`enter_async`](RateLimiter::enter_async) returns.
#[must_use = "futures do nothing unless polled"]
pub struct Reserving<'a> {
    state: State<'a>,
}

enum State<'a> {
    Before { limiter: &'a RateLimiter, cost: u32, deadline: Deadline },
    Waiting { place: Place<'a>, due: Nanos, timer: Timer },
    Over,
}

impl<'a> Future for Reserving<'a> {
    type Output = Result<Cells<'a>, Rejected>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let State::Before { limiter, cost, deadline } = self.state else { return self.look(cx) };
        let shard = limiter.own_shard();
        match limiter.take(shard, cost) {
            Look { ticket: Some(ticket), at } => {
                self.state = State::Over;
                let taken = Taken { ticket, at, permits: cost, shard };
                Poll::Ready(Ok(Cells::new(limiter, taken)))
            }
            Look { at, .. } => self.begin(limiter, cost, deadline, at, cx),
        }
    }
}

impl<'a> Reserving<'a> {
    #[cold]
    #[inline(never)]
    fn begin(
        &mut self,
        limiter: &'a RateLimiter,
        cost: u32,
        deadline: Deadline,
        at: Nanos,
        cx: &Context<'_>,
    ) -> Poll<Result<Cells<'a>, Rejected>> {
        self.state = State::Over;
        match limiter.begin(cost, deadline, at, || Wake::Task(cx.waker().clone())) {
            Ok(Begun::In(taken)) => Poll::Ready(Ok(Cells::new(limiter, taken))),
            Ok(Begun::Waiting(place, due)) => {
                let mut timer = Timer::new();
                timer.arm_at(due, cx.waker());
                self.state = State::Waiting { place, due, timer };
                Poll::Pending
            }
            Err(refused) => Poll::Ready(Err(refused)),
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self, cx: &Context<'_>) -> Poll<Result<Cells<'a>, Rejected>> {
        let state = mem::replace(&mut self.state, State::Over);
        let State::Waiting { place, due, mut timer } = state else {
            panic!("`Reserving` was polled after it had ended");
        };
        let limiter = place.limiter();
        match place.poll(cx.waker()) {
            Ok(ended) => Poll::Ready(ended.map(|taken| Cells::new(limiter, taken))),
            Err((place, newly_due)) => {
                if newly_due == due {
                    timer.renew(due, cx.waker());
                } else {
                    timer.arm_at(newly_due, cx.waker());
                }
                self.state = State::Waiting { place, due: newly_due, timer };
                Poll::Pending
            }
        }
    }
}

impl fmt::Debug for Reserving<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Before { .. } => "not polled",
            State::Waiting { .. } => "waiting",
            State::Over => "over",
        };
        f.debug_tuple("Reserving").field(&state).finish()
    }
}
