//! An attempt under limits: a timeout of its own, the deadline of its call, the deadline of whoever calls that.
//!
//! Invariant: the body is polled before the clock is looked at, so a result that is ready in time is never thrown away; a body
//! that is ready at its first poll touches neither clock nor timer (with a deadline in force the clock is read once before
//! it, since what has no time left does not begin); a body that is ended is dropped before anybody hears of it. The timer only causes a poll; the clock decides, so an attempt is also ended, at its next poll, where the timer
//! cannot help.
//!
//! Who ends an attempt: its own timeout, the function's deadline, or a deadline that was carried into this task. A
//! deadline that a guarded function *above* enforces is left to that one: it polls this attempt first, finds the time up,
//! drops it, and reports it under its own name; to the attempt below, that is a caller who went away. Of limits that
//! end at the same instant the wider one is named: the deadline above, then the function's own, then the timeout. (Two
//! nested timeouts are no such case: the inner one begins first, is polled first, and is the one named.)

#[cfg(all(test, feature = "test-util", not(resil_loom)))]
mod clock_tests;
#[cfg(all(test, feature = "test-util", not(resil_loom)))]
mod nesting_tests;
#[cfg(all(test, not(resil_loom)))]
pub(super) mod tests;

use super::attempt::{owner, poll_watched};
use super::{Limit, Limits, Rejected, Watched};
use crate::time::{Ambient, Deadline, Nanos, Timer, now};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use pin_project_lite::pin_project;

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
    Limited { watched, limits, due: Nanos::ZERO, timer: Timer::new(), body: Some(body) }
}

pin_project! {
    /// The future of [`limited`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Limited<'w, W: Watched, L, F> {
        watched: &'w mut W,
        limits: L,
        // When its own limits end it; 0 until the body has pended.
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
                if is_over(*this.due) {
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
        let end = this.limits.deadline().min(ambient.at);
        let first = *this.due == Nanos::ZERO;
        let mut begun = None;
        if first {
            begun = this.watched.begun();
            let ended = if end == Deadline::NEVER { None } else { passed(end, &mut begun) };
            let none_given = this.limits.attempt() == Some(Nanos::ZERO);
            if let Some(by) = ended.or(none_given.then_some(Limit::Attempt)) {
                this.body.set(None);
                return Poll::Ready(Err(this.limits.ended(by).before_it_began()));
            }
        }

        let body = this.body.as_mut().as_pin_mut().expect("polled again after its end");
        let poll = if end == Deadline::NEVER {
            poll_watched(*this.watched, body, cx)
        } else {
            let _scope = ambient.enforce(end, owner(this.limits, Limit::Deadline));
            poll_watched(*this.watched, body, cx)
        };
        if let Poll::Ready(outcome) = poll {
            this.body.set(None);
            this.timer.cancel();
            return Poll::Ready(Ok(outcome));
        }

        let ended = if first {
            *this.due = arm(this.timer, this.limits, begun, ambient, cx.waker());
            None
        } else {
            look(this.timer, this.limits, *this.due, ambient, cx.waker())
        };
        let Some(by) = ended else { return Poll::Pending };
        this.body.set(None);
        this.timer.cancel();
        Poll::Ready(Err(this.limits.ended(by)))
    }
}

// What follows is kept out of line: one copy serves all guarded functions.

/// Whether the deadline has passed before the body begins. The clock is read unless it was, for this attempt.
#[inline(never)]
fn passed(end: Deadline, begun: &mut Option<Nanos>) -> Option<Limit> {
    let reading = *begun.get_or_insert_with(now);
    (Deadline::at_instant(reading) >= end).then_some(Limit::Deadline)
}

/// The body has pended for the first time: arms the timer, and returns when the attempt's own limits end it.
#[inline(never)]
fn arm<L: Limits>(
    timer: &mut Timer,
    limits: &L,
    begun: Option<Nanos>,
    ambient: Ambient,
    waker: &Waker,
) -> Nanos {
    let mut due = limits.deadline().at().unwrap_or(Nanos::MAX);
    let mut span = limits.deadline_span();
    if let Some(attempt) = limits.attempt() {
        let end = begun.unwrap_or_else(now).plus(attempt);
        if end < due {
            (due, span) = (end, attempt);
        }
    }
    let end = end_here(due, ambient);
    if end == due {
        timer.arm_after(due.since(span), span, waker);
    } else {
        timer.arm_at(end, waker);
    }
    due
}

/// The body has pended again: which limit ends it now, if one does.
///
/// Looks at the ambient deadline of this poll, which may be another than at the poll before: a future that began under a
/// caller's deadline may go on in a task of its own.
#[inline(never)]
fn look<L: Limits>(
    timer: &mut Timer,
    limits: &L,
    due: Nanos,
    ambient: Ambient,
    waker: &Waker,
) -> Option<Limit> {
    let end = end_here(due, ambient);
    if end == Nanos::MAX {
        return None;
    }
    if now() < end {
        if end == due {
            // Armed for then, or for something sooner, after which there is another poll.
            timer.renew(end, waker);
        } else {
            timer.arm_at(end, waker);
        }
        return None;
    }
    let here = if ambient.is_enforced() { Deadline::NEVER } else { ambient.at };
    let by_deadline = limits.deadline().min(here) <= Deadline::at_instant(end);
    Some(if by_deadline { Limit::Deadline } else { Limit::Attempt })
}

/// When an attempt whose own limits end it at `due` has to be ended here: then, or by a deadline that was carried into this
/// task. Not at all if a guarded function above ends it by then.
fn end_here(due: Nanos, ambient: Ambient) -> Nanos {
    let above = ambient.at.at().unwrap_or(Nanos::MAX);
    if !ambient.is_enforced() {
        due.min(above)
    } else if above <= due {
        Nanos::MAX
    } else {
        due
    }
}

/// Whether an attempt that was due then, if it had pended at all, is dropped too late to be merely abandoned.
#[inline(never)]
fn is_over(due: Nanos) -> bool {
    due != Nanos::ZERO && due != Nanos::MAX && now() >= due
}
