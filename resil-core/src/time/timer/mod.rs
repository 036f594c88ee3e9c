//! The timer: wakes a task at an instant, without a runtime.
//!
//! Invariant: a timer that was armed and not cancelled wakes its waker at or after its instant, once. It may fail to (no
//! thread, no memory for more), so who waits also looks at the clock whenever it is polled; and a wake-up proves nothing, so
//! who is woken looks at the clock as well.
//!
//! Where it lives: with the thread's manual clock or tokio's runtime under feature `test-util`, else with the
//! process's daemon (`daemon.rs`). `shard.rs` and `heap.rs` are the data, `plan.rs` is the hand-shake with the sleeping
//! thread, `fork.rs` what a child process inherits, `expiry` what else the daemon looks after: the hooks of sync bodies.

#[cfg_attr(resil_loom, path = "absent.rs")]
mod daemon;
mod expiry;
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
use super::{
    clock,
    manual::{self, ManualTimer},
};
use core::task::Waker;

pub use expiry::hook_panics;
#[cfg(not(resil_loom))]
pub use expiry::with_expiry;

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

/// With tokio's own clock, which stands still and jumps to the next timer when nothing else is to do.
#[cfg(all(test, feature = "test-util"))]
mod in_a_paused_tokio_runtime {
    use crate::time::testkit::Wakes;
    use crate::time::{Deadline, Nanos, Timer, now, sleep};
    use core::time::Duration;

    const HOUR: Nanos = Nanos::from_ms(3_600_000);

    fn paused<F: Future>(future: F) -> F::Output {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().expect("a runtime").block_on(future)
    }

    #[test]
    fn policies_read_its_clock_and_sleep_on_its_timer() {
        paused(async {
            let begin = now();
            assert_eq!(now(), begin, "it stands still");
            sleep(HOUR).await;
            let took = now().since(begin);
            assert!(took >= HOUR && took <= HOUR.plus(Nanos::MILLI), "{took:?}");
            let deadline = Deadline::after(Duration::from_secs(5));
            tokio::time::sleep(Duration::from_secs(2)).await;
            assert_eq!(deadline.remaining(), Some(Duration::from_secs(3)));
            tokio::time::advance(Duration::from_secs(3)).await;
            assert!(deadline.is_expired());
        });
    }

    #[test]
    fn a_timer_is_renewed_cancelled_and_goes_off_at_once_if_it_is_due() {
        paused(async {
            let ((first, a_waker), (second, b_waker)) = (Wakes::pair(), Wakes::pair());
            let mut timer = Timer::new();
            let due = now().plus(HOUR);
            timer.arm_at(due, &a_waker);
            timer.renew(due, &b_waker);
            assert!(timer.is_armed());
            sleep(HOUR).await;
            sleep(Nanos::MILLI).await;
            assert_eq!((first.times(), second.times(), timer.is_armed()), (0, 1, false));

            timer.arm_at(now(), &a_waker);
            assert_eq!((first.times(), timer.is_armed()), (1, false));

            timer.arm_after(now(), HOUR, &a_waker);
            timer.cancel();
            sleep(HOUR.plus(HOUR)).await;
            assert_eq!(first.times(), 1);

            timer.arm_at(Nanos::MAX, &a_waker);
            assert!(!timer.is_armed());
        });
    }

    #[test]
    fn a_runtime_that_was_paused_before_the_first_reading_is_read_right() {
        // Its clock stands at an instant before the epoch, if this is the first test to read the clock.
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().expect("a runtime");
        std::thread::spawn(now).join().expect("a reading elsewhere");
        runtime.block_on(async {
            let begin = now();
            tokio::time::advance(Duration::from_millis(1)).await;
            assert_eq!(now().since(begin), Nanos::MILLI);
        });
    }
}
