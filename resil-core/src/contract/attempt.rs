//! One attempt at the body: called, polled, or polled under limits.
//!
//! Invariant: the body is polled before the clock is looked at, so a result that is ready in time is never thrown away;
//! a body that is ready at its first poll touches neither clock nor timer; a body that is ended is dropped before
//! anybody hears of it. The flag of [`Watched`] is up exactly while the body runs, and stays up if it panics.
//!
//! Who ends an attempt: its own timeout, the function's deadline, or a deadline that was carried into this task. A
//! deadline that a guarded function *above* enforces is left to that one, which polls this attempt, finds the time up, and
//! reports it under its own name; the attempt below is merely dropped, as by any caller that goes away. Of
//! limits that end at the same instant the wider one is named: the deadline above, then the function's own, then the
//! timeout.

use super::{Rejected, Watched};
use crate::time::{Ambient, Deadline, Nanos, Timer, now};
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

/// Calls the body once.
///
/// # Cost
/// Two stores into the permit; nothing without one.
#[inline]
pub fn call<W: Watched, R>(watched: &mut W, body: impl FnOnce() -> R) -> R {
    watched.running(true);
    let outcome = body();
    watched.running(false);
    outcome
}

/// Polls the body to its end, without a limit.
///
/// # Cost
/// Two stores into the permit a poll; nothing without one.
#[inline]
pub fn attempt<W: Watched, F: Future>(watched: &mut W, body: F) -> Attempt<'_, W, F> {
    Attempt { watched, body }
}

/// Polls the body to its end, or until one of `limits` ends it.
///
/// The future ends with the body's output, or with what [`Limits::ended`] says; by then the body is dropped. If a
/// deadline has passed beforehand, or the attempt is given no time at all, the body does not start.
///
/// # Cancellation
/// Drops the body. If that happens after the time was up, the permit is told so.
///
/// # Cost
/// Body ready at its first poll: one thread-local read; with a deadline in force, one clock reading. Otherwise one clock
/// reading a poll and one registration with the timer. Allocates nothing.
#[inline]
pub fn limited<W: Watched, L: Limits, F: Future>(
    watched: &mut W,
    limits: L,
    body: F,
) -> Limited<'_, W, L, F> {
    Limited {
        watched,
        limits,
        due: Nanos::ZERO,
        timer: Timer::new(),
        body: Some(body),
    }
}

/// What may end an attempt, and who answers for it.
///
/// Implemented by what `Timeout::limit` and `DeadlineLimit::start` return, and by a pair of both.
pub trait Limits {
    /// How long the attempt may take; `None` without such a limit.
    fn attempt(&self) -> Option<Nanos>;
    /// The deadline of the function itself.
    fn deadline(&self) -> Deadline;
    /// The span that the deadline was set with: calls of one function share it, which the timer makes use of.
    fn deadline_span(&self) -> Nanos;
    /// Counts the end, tells the observer, and says it to the caller. Called at most once an attempt.
    fn ended(&self, by: Limit) -> Rejected;
}

/// Which kind of limit ended an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The attempt's own timeout.
    Attempt,
    /// A deadline: the function's own or, where nobody above enforces it, the ambient one.
    Deadline,
}

/// The limit of an attempt beside the deadline of its call.
impl<A: Limits, D: Limits> Limits for (A, D) {
    #[inline]
    fn attempt(&self) -> Option<Nanos> {
        self.0.attempt()
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        self.1.deadline()
    }

    #[inline]
    fn deadline_span(&self) -> Nanos {
        self.1.deadline_span()
    }

    fn ended(&self, by: Limit) -> Rejected {
        match by {
            Limit::Attempt => self.0.ended(by),
            Limit::Deadline => self.1.ended(by),
        }
    }
}

pin_project! {
    /// The future of [`attempt`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Attempt<'w, W, F> {
        watched: &'w mut W,
        #[pin]
        body: F,
    }
}

impl<W: Watched, F: Future> Future for Attempt<'_, W, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        poll_watched(*this.watched, this.body, cx)
    }
}

pin_project! {
    /// The future of [`limited`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Limited<'w, W: Watched, L, F> {
        watched: &'w mut W,
        limits: L,
        // 0 until the body has pended; `MAX` if nothing here will end it.
        due: Nanos,
        timer: Timer,
        // `None` once it has ended.
        #[pin]
        body: Option<F>,
    }

    impl<W: Watched, L, F> PinnedDrop for Limited<'_, W, L, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.body.is_some() {
                this.body.set(None);
                let due = *this.due;
                if due != Nanos::ZERO && due != Nanos::MAX && now() >= due {
                    this.watched.overdue();
                }
            }
        }
    }
}

impl<W: Watched, L: Limits, F: Future> Future for Limited<'_, W, L, F> {
    type Output = Result<F::Output, Rejected>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let ambient = Ambient::current();
        let own = this.limits.deadline();
        let first = *this.due == Nanos::ZERO;
        let mut begun = None;
        if first {
            let end = own.min(ambient.at);
            if end != Deadline::NEVER {
                let reading = now();
                if Deadline::at_instant(reading) >= end {
                    this.body.set(None);
                    return Poll::Ready(Err(this.limits.ended(Limit::Deadline)));
                }
                begun = Some(reading);
            }
            if this.limits.attempt() == Some(Nanos::ZERO) {
                this.body.set(None);
                return Poll::Ready(Err(this.limits.ended(Limit::Attempt)));
            }
        }

        let body = this
            .body
            .as_mut()
            .as_pin_mut()
            .expect("polled again after its end");
        let poll = if own.min(ambient.at) == Deadline::NEVER {
            poll_watched(*this.watched, body, cx)
        } else {
            let _scope = ambient.enforce(own);
            poll_watched(*this.watched, body, cx)
        };
        if let Poll::Ready(outcome) = poll {
            this.body.set(None);
            this.timer.cancel();
            return Poll::Ready(Ok(outcome));
        }

        let end = deadline_here(own, ambient);
        if first {
            let begun = begun.unwrap_or_else(now);
            *this.due = arm(this.timer, this.limits, begun, own, end, cx);
        } else if *this.due != Nanos::MAX {
            if now() >= *this.due {
                this.body.set(None);
                this.timer.cancel();
                let by = if end <= Deadline::at_instant(*this.due) {
                    Limit::Deadline
                } else {
                    Limit::Attempt
                };
                return Poll::Ready(Err(this.limits.ended(by)));
            }
            this.timer.renew(*this.due, cx.waker());
        }
        Poll::Pending
    }
}

/// The deadline that this attempt has to see to: nobody above does.
#[inline]
fn deadline_here(own: Deadline, ambient: Ambient) -> Deadline {
    if ambient.enforced && ambient.at <= own {
        Deadline::NEVER
    } else {
        own.min(ambient.at)
    }
}

/// Arms the timer for whichever limit comes first and returns its instant.
#[inline]
fn arm<L: Limits>(
    timer: &mut Timer,
    limits: &L,
    begun: Nanos,
    own: Deadline,
    end: Deadline,
    cx: &mut Context<'_>,
) -> Nanos {
    if let Some(span) = limits.attempt() {
        let due = begun.plus(span);
        if Deadline::at_instant(due) < end {
            timer.arm_after(begun, span, cx.waker());
            return due;
        }
    }
    let Some(due) = end.at() else {
        return Nanos::MAX;
    };
    if end == own {
        let span = limits.deadline_span();
        timer.arm_after(due.since(span), span, cx.waker());
    } else {
        timer.arm_at(due, cx.waker());
    }
    due
}

/// Polls the body with the flag of its permit up.
#[inline]
fn poll_watched<W: Watched, F: Future>(
    watched: &mut W,
    body: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<F::Output> {
    watched.running(true);
    #[cfg(feature = "test-util")]
    let watch = super::blocking::PollWatch::start();
    let poll = body.poll(cx);
    #[cfg(feature = "test-util")]
    watch.stop();
    watched.running(false);
    poll
}
