//! The timer: wakes a task at an instant, without a runtime.
//!
//! Invariant: a timer that was armed and not cancelled wakes its waker at or after its instant, once. It may fail to (no
//! thread, no memory for more), so who waits also looks at the clock whenever it is polled; and a wake-up proves nothing, so
//! who is woken looks at the clock as well.
//!
//! Where it lives: with the thread's manual clock or tokio's runtime under feature `test-util`, else with the
//! process's daemon (`daemon.rs`). `shard.rs` and `heap.rs` are the data, `plan.rs` is the hand-shake with the sleeping
//! thread, `fork.rs` what a child process inherits.

#[cfg_attr(resil_loom, path = "absent.rs")]
mod daemon;
#[cfg(all(target_os = "linux", not(resil_loom)))]
mod fork;
#[cfg(any(test, not(resil_loom)))]
mod heap;
#[cfg(all(test, resil_loom))]
mod loom;
#[cfg(any(test, not(resil_loom)))]
mod plan;
#[cfg(any(test, not(resil_loom)))]
mod shard;

use super::Nanos;
#[cfg(feature = "test-util")]
use super::manual::{self, ManualTimer};
use core::task::Waker;

/// One registration with the timer. Cancels on drop.
#[derive(Debug, Default)]
pub struct Timer {
    armed: Armed,
}

#[derive(Debug, Default)]
enum Armed {
    #[default]
    No,
    Daemon(daemon::Key),
    #[cfg(feature = "test-util")]
    Manual(ManualTimer),
    #[cfg(feature = "test-util")]
    Tokio(core::pin::Pin<Box<tokio::time::Sleep>>),
}

impl Timer {
    /// A timer that is not armed.
    #[inline]
    pub const fn new() -> Self {
        Self { armed: Armed::No }
    }

    /// Wakes `waker` once `span` has passed since `now`.
    ///
    /// The form for a span that is used again and again, as that of a timeout is: timers of one span become due in the
    /// order they are armed in, which spares sorting them and most wake-ups of the daemon.
    ///
    /// # Cost
    /// A lock of this thread's own and a constant number of steps. Allocates nothing once there were as many at a time.
    #[inline]
    pub fn arm_after(&mut self, now: Nanos, span: Nanos, waker: &Waker) {
        self.arm(now.plus(span), Some(span), waker);
    }

    /// Wakes `waker` at `at`; at once if that has passed, not at all if it is [`Nanos::MAX`].
    ///
    /// # Cost
    /// A lock of this thread's own and steps logarithmic in the timers of this kind; one that is due before all others
    /// wakes the daemon. Allocates nothing once there were as many at a time.
    #[inline]
    pub fn arm_at(&mut self, at: Nanos, waker: &Waker) {
        self.arm(at, None, waker);
    }

    fn arm(&mut self, at: Nanos, span: Option<Nanos>, waker: &Waker) {
        self.cancel();
        if at == Nanos::MAX {
            return;
        }
        #[cfg(feature = "test-util")]
        if let Some(armed) = Armed::in_test(at, waker) {
            self.armed = armed;
            return;
        }
        self.armed = daemon::arm(at, span, waker).map_or(Armed::No, Armed::Daemon);
    }

    /// Makes sure that `waker` is woken at `at`, for which this timer was armed: on another poll, perhaps by another
    /// waker, perhaps after the timer went off a little too early by the clock of this thread.
    ///
    /// # Cost
    /// A lock, which is this thread's own if it armed the timer. The waker is cloned only if it is another.
    pub fn renew(&mut self, at: Nanos, waker: &Waker) {
        let armed = match &mut self.armed {
            Armed::No => false,
            Armed::Daemon(key) => daemon::renew(*key, at, waker),
            #[cfg(feature = "test-util")]
            Armed::Manual(timer) => timer.renew(waker),
            #[cfg(feature = "test-util")]
            Armed::Tokio(sleep) => {
                let mut cx = core::task::Context::from_waker(waker);
                sleep.as_mut().poll(&mut cx).is_pending()
            }
        };
        if !armed {
            self.arm(at, None, waker);
        }
    }

    /// Takes the registration back: the waker will not be woken any more, unless it is being woken already.
    #[inline]
    pub fn cancel(&mut self) {
        if !matches!(self.armed, Armed::No) {
            self.armed.disarm();
        }
    }

    /// Whether it waits to go off.
    pub fn is_armed(&self) -> bool {
        match &self.armed {
            Armed::No => false,
            Armed::Daemon(key) => daemon::is_armed(*key),
            #[cfg(feature = "test-util")]
            Armed::Manual(timer) => timer.is_armed(),
            #[cfg(feature = "test-util")]
            Armed::Tokio(sleep) => !sleep.is_elapsed(),
        }
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        self.cancel();
    }
}

impl Armed {
    fn disarm(&mut self) {
        // The others cancel when dropped.
        if let Self::Daemon(key) = core::mem::take(self) {
            daemon::cancel(key);
        }
    }

    /// Armed with the clock that a test has in its hands; `None` if there is none.
    #[cfg(feature = "test-util")]
    fn in_test(at: Nanos, waker: &Waker) -> Option<Self> {
        if let Some(clock) = manual::installed() {
            return Some(clock.arm(at, waker.clone()).map_or(Self::No, Self::Manual));
        }
        if tokio::runtime::Handle::try_current().is_err() {
            return None;
        }
        // What lies beyond what the platform can name never comes.
        let Some(instant) = super::clock::instant(at) else { return Some(Self::No) };
        let mut sleep = Box::pin(tokio::time::sleep_until(instant.into()));
        if sleep.as_mut().poll(&mut core::task::Context::from_waker(waker)).is_ready() {
            waker.wake_by_ref();
            return Some(Self::No);
        }
        Some(Self::Tokio(sleep))
    }
}
