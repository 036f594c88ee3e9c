//! The wait for a place: of a thread, and of a task.
//!
//! Invariant: a call is in one count, whatever becomes of it. A place that was handed over in time is taken, also if the
//! time is over by the time that its owner looks.

use super::{ABANDONED, ADMITTED, Bulkhead, EXPIRED, REFUSED, Slot, WAITED};
use crate::cell::slots::{Joined, Place, Waiter, Wake};
use crate::contract::Rejected;
use crate::sync::thread;
use crate::time::{Deadline, Nanos, Timer, block_until, now};
use core::fmt;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

/// How long a call may wait.
struct Patience {
    /// 0 if it may wait without an end: then nobody asks for the time.
    now: Nanos,
    due: Nanos,
    /// Of the bulkhead; `due` may be sooner.
    wait: Nanos,
    /// How many may wait at a time.
    queue: u32,
}

impl Bulkhead {
    /// How long a call may wait that finds no place now, if at all.
    fn patience(&self, deadline: Deadline) -> Option<Patience> {
        let options = self.live.load();
        let wait = options.wait;
        if wait == Nanos::ZERO {
            return None;
        }
        let deadline = deadline.min(Deadline::current()).at().unwrap_or(Nanos::MAX);
        let endless = wait == Nanos::MAX && deadline == Nanos::MAX;
        let now = if endless { Nanos::ZERO } else { now() };
        let due = now.plus(wait).min(deadline);
        (due > now).then_some(Patience { now, due, wait, queue: options.longest_queue() })
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wait_blocking(&self, deadline: Deadline) -> Result<(), Rejected> {
        let Some(patience) = self.patience(deadline) else { return Err(self.refuse(REFUSED)) };
        let Patience { now, due, queue, .. } = patience;
        let mut waiter = pin!(Waiter::new(&self.slots));
        match waiter.as_mut().join(Wake::Thread(thread::current()), due, queue) {
            Joined::Admitted => self.counters.add(ADMITTED),
            Joined::Refused => return Err(self.refuse(REFUSED)),
            Joined::Queued => {
                block_until(now, due, || waiter.place() != Place::Queued);
                return self.waited(waiter);
            }
        }
        Ok(())
    }

    /// The wait is over, one way or the other.
    fn waited(&self, waiter: Pin<&mut Waiter<'_>>) -> Result<(), Rejected> {
        if waiter.give_up() {
            self.counters.add(WAITED);
            Ok(())
        } else {
            Err(self.refuse(EXPIRED))
        }
    }
}

pin_project! {
    /// A call on its way into a bulkhead: what [`Bulkhead::acquire_async`] returns.
    #[must_use = "futures do nothing unless polled"]
    pub struct Entering<'a> {
        bulkhead: &'a Bulkhead,
        // By when it has to be inside; once it waits, no later than the bulkhead's own `wait` lets it.
        due: Deadline,
        // `None` until it waits, so that who need not sets up nothing.
        #[pin]
        wait: Option<Wait<'a>>,
    }

    impl PinnedDrop for Entering<'_> {
        fn drop(this: Pin<&mut Self>) {
            if this.wait.as_ref().is_some_and(|wait| wait.waiter.place() != Place::Out) {
                this.bulkhead.counters.add(ABANDONED);
            }
        }
    }
}

pin_project! {
    // The wait of a task.
    struct Wait<'a> {
        timer: Timer,
        #[pin]
        waiter: Waiter<'a>,
    }
}

impl<'a> Entering<'a> {
    #[inline]
    pub(super) const fn new(bulkhead: &'a Bulkhead, deadline: Deadline) -> Self {
        Self { bulkhead, due: deadline, wait: None }
    }

    /// There was no place at the first poll.
    #[cold]
    #[inline(never)]
    fn begin_to_wait(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Rejected>> {
        let mut this = self.project();
        let bulkhead = *this.bulkhead;
        let Some(patience) = bulkhead.patience(*this.due) else {
            return Poll::Ready(Err(bulkhead.refuse(REFUSED)));
        };
        let Patience { now, due, wait: longest, queue } = patience;
        *this.due = Deadline::at_instant(due);
        this.wait.set(Some(Wait { timer: Timer::new(), waiter: Waiter::new(&bulkhead.slots) }));
        let wait = this.wait.as_pin_mut().expect("just set").project();
        match wait.waiter.join(Wake::Task(cx.waker().clone()), due, queue) {
            Joined::Admitted => {
                bulkhead.counters.add(ADMITTED);
                return Poll::Ready(Ok(()));
            }
            Joined::Refused => return Poll::Ready(Err(bulkhead.refuse(REFUSED))),
            Joined::Queued => {}
        }
        if due == now.plus(longest) {
            wait.timer.arm_after(now, longest, cx.waker());
        } else {
            wait.timer.arm_at(due, cx.waker());
        }
        Poll::Pending
    }

    /// It waits: does it still?
    #[cold]
    #[inline(never)]
    fn go_on(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Rejected>> {
        let this = self.project();
        let mut wait = this.wait.as_pin_mut().expect("it waits").project();
        if wait.waiter.place() == Place::Queued && !this.due.is_expired() {
            wait.waiter.as_mut().renew(cx.waker());
            // After that: what was decided meanwhile has woken who was known until then.
            if wait.waiter.place() == Place::Queued {
                wait.timer.renew(this.due.at().unwrap_or(Nanos::MAX), cx.waker());
                return Poll::Pending;
            }
        }
        wait.timer.cancel();
        Poll::Ready(this.bulkhead.waited(wait.waiter))
    }
}

impl<'a> Future for Entering<'a> {
    type Output = Result<Slot<'a>, Rejected>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let bulkhead = self.bulkhead;
        let waited = if self.wait.is_some() {
            self.go_on(cx)
        } else if bulkhead.pass() {
            return Poll::Ready(Ok(Slot::new(bulkhead, false)));
        } else {
            self.begin_to_wait(cx)
        };
        waited.map_ok(|()| Slot::new(bulkhead, true))
    }
}

impl fmt::Debug for Entering<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entering")
            .field("bulkhead", &self.bulkhead.name())
            .field("waits", &self.wait.is_some())
            .finish_non_exhaustive()
    }
}
