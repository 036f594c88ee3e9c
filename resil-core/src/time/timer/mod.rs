//! The timer: wakes a task at an instant, without a runtime.

mod global;

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
    Daemon(global::Key),
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
    /// The form for a span that is used again and again, as a timeout is.
    pub fn arm_after(&mut self, now: Nanos, span: Nanos, waker: &Waker) {
        self.arm_at(now.plus(span), waker);
    }

    /// Wakes `waker` at `at`; at once if that has passed, not at all if it is [`Nanos::MAX`].
    pub fn arm_at(&mut self, at: Nanos, waker: &Waker) {
        self.cancel();
        if at == Nanos::MAX {
            return;
        }
        #[cfg(feature = "test-util")]
        if let Some(clock) = manual::installed() {
            self.armed = clock
                .arm(at, waker.clone())
                .map_or(Armed::No, Armed::Manual);
            return;
        }
        #[cfg(feature = "test-util")]
        if tokio::runtime::Handle::try_current().is_ok() {
            if let Some(at) = super::clock::instant(at) {
                let mut sleep = Box::pin(tokio::time::sleep_until(at.into()));
                let mut cx = core::task::Context::from_waker(waker);
                if sleep.as_mut().poll(&mut cx).is_ready() {
                    waker.wake_by_ref();
                } else {
                    self.armed = Armed::Tokio(sleep);
                }
            }
            return;
        }
        self.armed = Armed::Daemon(global::arm(at, waker.clone()));
    }

    /// Makes sure that `waker` is woken at `at`, the instant this timer was armed for: on another poll, by another waker,
    /// or after the timer went off too early.
    pub fn renew(&mut self, at: Nanos, waker: &Waker) {
        let armed = match &mut self.armed {
            Armed::No => false,
            Armed::Daemon(key) => global::renew(*key, waker),
            #[cfg(feature = "test-util")]
            Armed::Manual(timer) => timer.renew(waker),
            #[cfg(feature = "test-util")]
            Armed::Tokio(sleep) => sleep
                .as_mut()
                .poll(&mut core::task::Context::from_waker(waker))
                .is_pending(),
        };
        if !armed {
            self.arm_at(at, waker);
        }
    }

    /// Takes the registration back. The waker is not woken any more, unless that is happening already.
    #[inline]
    pub fn cancel(&mut self) {
        match core::mem::take(&mut self.armed) {
            Armed::Daemon(key) => global::cancel(key),
            _ => {}
        }
    }

    /// Whether it waits to go off.
    pub fn is_armed(&self) -> bool {
        match &self.armed {
            Armed::No => false,
            Armed::Daemon(key) => global::is_armed(*key),
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
