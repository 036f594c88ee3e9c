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
    Sleep { span, due: None, timer: Timer::new() }
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

/// Blocks this thread until `woken` says so, or from `now` to `due`. Who makes it say so unparks this thread afterwards.
///
/// Moves a manual clock on instead, from timer to timer, since what they do may be what is waited for; it stands
/// wherever that happened. The wait is in real time also where tokio's clock is paused, as that of [`sleep_blocking`].
#[cfg(not(resil_loom))]
pub(crate) fn block_until(now: Nanos, due: Nanos, woken: impl Fn() -> bool) {
    #[cfg(feature = "test-util")]
    if let Some(clock) = super::manual::installed() {
        clock.advance_until(due, &woken);
        if due != Nanos::MAX {
            return;
        }
        // No timer is left that could end the wait: another thread has to.
    }
    clock::rest_unless(due.since(now), woken);
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;
    use crate::time::testkit::{Wakes, block_on, poll_once};
    use core::pin::pin;
    use core::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn r06_a_sleep_of_zero_yields_once() {
        let (woken, waker) = Wakes::pair();
        let mut cx = Context::from_waker(&waker);
        let mut sleep = pin!(sleep(Nanos::ZERO));
        assert!(sleep.as_mut().poll(&mut cx).is_pending());
        assert_eq!(woken.times(), 1);
        assert!(sleep.as_mut().poll(&mut cx).is_ready());
        sleep_blocking(Nanos::ZERO);
    }

    #[test]
    fn a_sleep_lasts_no_less_than_it_was_asked_for_without_any_runtime() {
        for ns in [1, 40_000, 1_500_000] {
            let begin = now();
            block_on(sleep(Nanos(ns)));
            assert!(now().since(begin) >= Nanos(ns));
            let begin = now();
            sleep_blocking(Nanos(ns));
            assert!(now().since(begin) >= Nanos(ns));
        }
    }

    #[test]
    fn a_thread_is_blocked_until_it_is_woken_or_due() {
        let begin = now();
        block_until(begin, begin.plus(Nanos(1_500_000)), || false);
        assert!(now().since(begin) >= Nanos(1_500_000), "woken by nobody");

        let woken = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let sleepers = [Nanos::MAX, begin.plus(Nanos::from_ms(3_600_000))].map(|due| {
                let woken = &woken;
                scope.spawn(move || block_until(begin, due, || woken.load(Ordering::Acquire)))
            });
            woken.store(true, Ordering::Release);
            for sleeper in &sleepers {
                sleeper.thread().unpark();
            }
        });
        block_until(begin, Nanos::MAX, || true);
    }

    #[test]
    #[cfg(feature = "test-util")]
    fn on_a_paused_tokio_clock_a_thread_is_blocked_in_real_time() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().expect("a runtime");
        runtime.block_on(async {
            let (begin, real) = (now(), std::time::Instant::now());
            block_until(begin, begin.plus(Nanos::MILLI), || false);
            assert_eq!(now(), begin, "it stands still");
            assert!(real.elapsed() >= Nanos::MILLI.to_duration());
        });
    }

    #[test]
    fn a_sleep_without_end_arms_nothing() {
        let mut sleep = pin!(sleep(Nanos::MAX));
        assert!(poll_once(sleep.as_mut()).is_pending());
        assert!(poll_once(sleep.as_mut()).is_pending());
        assert!(!sleep.timer.is_armed());
    }

    #[test]
    fn a_sleep_counts_from_its_first_poll_and_its_timer_goes_with_it() {
        let mut later = pin!(sleep(Nanos::from_ms(3_600_000)));
        assert!(!later.timer.is_armed());
        assert!(poll_once(later.as_mut()).is_pending());
        assert!(later.timer.is_armed());
        let due = later.due;
        assert!(poll_once(later.as_mut()).is_pending());
        assert_eq!(later.due, due);
    }
}
