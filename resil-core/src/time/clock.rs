//! The clock: nanoseconds since the process's epoch, fine or coarse.
//!
//! Invariant: both clocks count from one epoch, taken once and never moved, and a difference of readings saturates.
//! They need not agree with each other (one is the processor's counter, the other the kernel's tick): an end and its
//! test read the same one.
//!
//! # Source
//! The processor's time stamp counter by way of the `quanta` crate, which falls back to the monotonic OS clock where
//! the counter cannot be trusted. Linux's `CLOCK_MONOTONIC_COARSE`, see `clock_gettime(2)`.
//!
//! # Synchronisation
//! The epoch is written once, inside its `OnceLock`. The counter is read unfenced, so a reading that was taken after a
//! hand-over from another core may look a few microseconds older than one taken there before it.
//!
//! # Safety obligations
//! One call of `clock_gettime` with a pointer to a local `timespec`.

use super::Nanos;
#[cfg(any(test, feature = "test-util"))]
use core::time::Duration;

/// The time since the process's epoch, to the nanosecond.
///
/// Under feature `test-util` this is the thread's manual clock if it has one, else tokio's inside a tokio runtime.
///
/// # Cost
/// Reads the processor's counter, about 9 ns. The very first reading of a process calibrates it, which blocks for
/// some 10 ms, at most 200: see [`warm_up`].
#[inline]
pub fn now() -> Nanos {
    source::now()
}

/// The time since the process's epoch, late by up to the kernel's tick (4 ms, at most 10).
///
/// For decisions that tolerate it. Where the platform has no such clock it is [`now`].
///
/// # Cost
/// Reads a page that the kernel keeps up to date, about 4 ns.
#[inline]
pub fn coarse() -> Nanos {
    source::coarse()
}

/// Takes the epoch and calibrates the clock, so that the first guarded call need not.
///
/// Meant for the start of `main`; any later call does nothing.
pub fn warm_up() {
    source::warm_up();
}

/// Blocks this thread for at least `span`.
///
/// Waits in real time also where tokio's clock is paused: nobody could move it on while its thread is blocked.
pub(crate) fn rest(span: Nanos) {
    let begin = std::time::Instant::now();
    let span = span.to_duration();
    while let Some(left) = span.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) {
        // `sleep` promises no less than it was asked for; the loop holds it to that.
        std::thread::sleep(left);
    }
}

/// Blocks this thread until `woken` says so or `span` is over, without end if that is [`Nanos::MAX`]. Who makes it say so
/// unparks the thread afterwards.
///
/// In real time, as [`rest`].
#[cfg(not(resil_loom))]
pub(crate) fn rest_unless(span: Nanos, woken: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !woken() {
        if span == Nanos::MAX {
            std::thread::park();
            continue;
        }
        let left = span.since(Nanos::from_duration(begin.elapsed()));
        if left == Nanos::ZERO {
            return;
        }
        std::thread::park_timeout(left.to_duration());
    }
}

/// Measures real time, whatever clock the policies read.
#[cfg(feature = "test-util")]
pub(crate) struct Stopwatch(std::time::Instant);

#[cfg(feature = "test-util")]
impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// The processor's counter and the kernel's tick.
#[cfg(not(feature = "test-util"))]
mod source {
    use super::Nanos;
    use crate::sync::fixed::OnceLock;

    struct Epoch {
        clock: quanta::Clock,
        raw: u64,
        /// On the fine kernel clock, so that the coarse one never runs ahead of it.
        #[cfg(target_os = "linux")]
        kernel: Option<u64>,
    }

    static EPOCH: OnceLock<Epoch> = OnceLock::new();

    #[inline]
    fn epoch() -> &'static Epoch {
        match EPOCH.get() {
            Some(epoch) => epoch,
            None => take(),
        }
    }

    #[cold]
    #[inline(never)]
    fn take() -> &'static Epoch {
        EPOCH.get_or_init(|| {
            let clock = quanta::Clock::new();
            Epoch {
                raw: clock.raw(),
                clock,
                #[cfg(target_os = "linux")]
                kernel: kernel::read(libc::CLOCK_MONOTONIC),
            }
        })
    }

    /// Out of line: 200 bytes that every guarded function which needs time would have twice.
    #[inline(never)]
    pub(super) fn now() -> Nanos {
        let epoch = epoch();
        Nanos(epoch.clock.delta_as_nanos(epoch.raw, epoch.clock.raw()))
    }

    #[cfg(target_os = "linux")]
    #[inline]
    pub(super) fn coarse() -> Nanos {
        match (epoch().kernel, kernel::read(libc::CLOCK_MONOTONIC_COARSE)) {
            (Some(begin), Some(tick)) => Nanos(tick).since(Nanos(begin)),
            // A sandbox without this clock.
            _ => now(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    #[inline]
    pub(super) fn coarse() -> Nanos {
        now()
    }

    pub(super) fn warm_up() {
        epoch();
    }

    #[cfg(target_os = "linux")]
    mod kernel {
        /// Reads one of the kernel's clocks.
        #[inline]
        pub(super) fn read(clock: libc::clockid_t) -> Option<u64> {
            let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: `at` is one `timespec`, writable, and outlives the call.
            #[allow(unsafe_code)]
            let failed = unsafe { libc::clock_gettime(clock, &raw mut at) } != 0;
            if failed {
                return None;
            }
            // Time since boot: neither part is negative.
            #[allow(clippy::cast_sign_loss)]
            Some((at.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(at.tv_nsec as u64))
        }
    }
}

/// The thread's manual clock, tokio's, or the OS's, in this order.
#[cfg(feature = "test-util")]
mod source {
    use super::{Duration, Nanos};
    use crate::sync::fixed::OnceLock;
    use std::time::Instant;

    static EPOCH: OnceLock<Instant> = OnceLock::new();

    /// What the epoch reads. Not 0: a runtime that was paused before the first reading stands at an earlier instant.
    const AT_EPOCH: Duration = Duration::from_secs(3_600);

    fn epoch() -> Instant {
        *EPOCH.get_or_init(Instant::now)
    }

    /// The instant that reads `at`; `None` if the platform cannot name it.
    pub(crate) fn instant(at: Nanos) -> Option<Instant> {
        epoch().checked_add(at.to_duration())?.checked_sub(AT_EPOCH)
    }

    pub(super) fn now() -> Nanos {
        if let Some(at) = crate::time::manual::reading() {
            return at;
        }
        let epoch = epoch();
        let now = match tokio::runtime::Handle::try_current() {
            Ok(_) => tokio::time::Instant::now().into_std(),
            Err(_) => Instant::now(),
        };
        let since = match now.checked_duration_since(epoch) {
            Some(later) => AT_EPOCH.saturating_add(later),
            None => AT_EPOCH.saturating_sub(epoch.duration_since(now)),
        };
        Nanos::from_duration(since)
    }

    pub(super) fn coarse() -> Nanos {
        now()
    }

    /// Whether this is inside a tokio runtime whose clock is paused: it shows none of the time that goes by.
    pub(crate) fn stands_still() -> bool {
        if tokio::runtime::Handle::try_current().is_err() {
            return false;
        }
        let before = Instant::now();
        let shown = tokio::time::Instant::now().into_std();
        !(before..=Instant::now()).contains(&shown)
    }

    pub(super) fn warm_up() {
        epoch();
    }
}

#[cfg(feature = "test-util")]
pub(super) use source::{instant, stands_still};

#[cfg(all(test, not(feature = "test-util")))]
mod tests {
    use super::*;

    #[test]
    fn readings_count_from_the_start_of_the_process() {
        warm_up();
        let (first, second) = (now(), now());
        assert!(first <= second);
        assert!(
            second < Nanos::from_duration(Duration::from_secs(86_400)),
            "the epoch is this process's"
        );
    }

    #[test]
    fn the_coarse_clock_counts_from_the_same_epoch() {
        // Both are read in turn until the coarse one has moved: whatever its tick, it lies between two fine readings
        // that are a tick apart.
        let slack = Nanos::from_ms(1_000);
        let before = coarse();
        while coarse() == before {
            std::hint::spin_loop();
        }
        let (fine, tick) = (now(), coarse());
        assert!(tick.since(fine) < slack && fine.since(tick) < slack, "{fine:?} and {tick:?}");
    }

    #[test]
    fn a_rest_is_never_too_short() {
        let begin = std::time::Instant::now();
        rest(Nanos(1_500_000));
        assert!(begin.elapsed() >= Duration::from_micros(1_500));
        rest(Nanos::ZERO);
    }
}
