//! A sleep: asynchronous on the timer, blocking on the thread.
//!
//! Invariant: it ends no earlier than asked for. What is counted from is the first poll, and the clock decides, not the
//! wake-up: a task that is woken early goes on sleeping, one that is polled late wakes at once, timer or not.

use super::clock;
use super::{Nanos, Timer, now};
use core::pin::Pin;
use core::task::{Context, Poll};

/// Sleeps for `span`, from the first poll on.
///
/// A span of 0 yields once to the executor; [`Nanos::MAX`] never ends.
///
/// # Cancellation
/// Dropping it cancels its timer.
///
/// # Cost
/// One clock reading a poll, and an insertion into the timer. Allocates nothing.
pub fn sleep(span: Nanos) -> Sleep {
    Sleep {
        span,
        due: None,
        timer: Timer::new(),
    }
}

/// A future that ends after some time: what [`sleep`] returns.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    span: Nanos,
    /// Since the first poll.
    due: Option<Nanos>,
    timer: Timer,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(due) = this.due else {
            if this.span == Nanos::ZERO {
                this.due = Some(Nanos::ZERO);
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let due = now().plus(this.span);
            this.due = Some(due);
            this.timer.arm_at(due, cx.waker());
            return Poll::Pending;
        };
        if due == Nanos::ZERO || now() >= due {
            this.timer.cancel();
            return Poll::Ready(());
        }
        this.timer.renew(due, cx.waker());
        Poll::Pending
    }
}

/// Blocks this thread for `span`; advances a manual clock instead.
///
/// # Cost
/// A span of 0 returns at once.
#[cold]
#[inline(never)]
pub fn sleep_blocking(span: Nanos) {
    #[cfg(feature = "test-util")]
    if let Some(clock) = super::manual::installed() {
        clock.advance(span);
        return;
    }
    clock::rest(span);
}
