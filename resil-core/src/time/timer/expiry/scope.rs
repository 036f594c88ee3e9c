//! One call of [`with_expiry`]: where its hook is watched while the body runs.
//!
//! # Synchronisation
//! A thread's seat and how deep it is in scopes are its own. All else is `watch.rs`'s and `seats.rs`'s.
//!
//! # Safety obligations
//! `with_expiry` keeps the hook in its frame and drops what is `Armed` before it, also when the body unwinds; `Armed` never
//! leaves that frame, so it is not forgotten. Dropping it disarms, which waits for a hook that runs.

use super::super::daemon;
#[cfg(feature = "test-util")]
use super::super::{clock, manual};
use super::caught;
use super::seats::Seats;
use super::watch::{Hook, Watch};
use crate::sync::fixed::{Arc, MutexGuard};
use crate::time::{Deadline, Nanos, now};
use core::cell::Cell;
use std::task::Wake;

/// Threads that have a seat at a time: 8 KiB. Those beyond pay an allocation a scope.
const THREADS: usize = 64;

static SEATS: Seats<THREADS> = Seats::new();

/// Runs `body`, and `hook` at the moment when the [current deadline](Deadline::current) is reached, if `body` is still running
/// then.
///
/// For what blocks and knows no deadline by itself: the hook ends it from outside, by shutting down the socket that
/// it reads, or setting the flag that it looks at. It runs on the thread of the timer, so it must be short: all timers of the
/// process wait for it. It runs at most once, and never once this function has returned: if it is running at
/// that moment, this function waits for it. So it may borrow what `body` borrows.
///
/// Without a deadline there is only the body. If the deadline has passed already, the hook runs at once, on this
/// thread, and then the body. Scopes may lie within each other, each with its hook. If the thread of the timer cannot be started, and in a child process for scopes from before the
/// fork, the hook does not run: the body's own [`check`](crate::deadline::check) has to do.
///
/// On a test's manual clock the hook runs on the thread that advances it, which may be the body's own, sleeping. Tokio's paused
/// clock stands still while a sync body runs, so there the hook does not run.
///
/// # Panics
/// As `body` does. A hook that panics is caught and counted ([`hook_panics`](super::hook_panics)), and the body goes on.
///
/// # Cost
/// No deadline: one thread-local read. Else one reading of the clock, and two exchanges of a word on a line of this
/// thread's own. Allocates nothing in four scopes within each other, on 64 threads at a time.
///
/// # Examples
/// ```
/// use std::io::Read;
/// use std::net::{Shutdown, TcpStream};
/// # use resil_core as resil;
/// use resil::deadline::with_expiry;
///
/// fn read(stream: &TcpStream, answer: &mut Vec<u8>) -> std::io::Result<usize> {
///     with_expiry(|| drop(stream.shutdown(Shutdown::Both)), || (&*stream).read_to_end(answer))
/// }
/// # let _ = read;
/// ```
#[inline]
pub fn with_expiry<R>(hook: impl FnOnce() + Send, body: impl FnOnce() -> R) -> R {
    let Some(at) = Deadline::current().at() else { return body() };
    if now() >= at {
        caught(hook);
        return body();
    }
    let mut hook = Some(hook);
    // SAFETY: `hook` is not touched from here on, and outlives what is armed, which is dropped first.
    #[allow(unsafe_code)]
    let _armed = unsafe { Armed::new(at, Hook::at(&raw mut hook)) };
    body()
}

/// A hook that is watched until this is dropped.
enum Armed {
    InSeat(&'static Watch),
    Apart(#[allow(dead_code)] Apart), // dropped
    /// Nobody moves the clock meanwhile.
    #[cfg(feature = "test-util")]
    Nowhere,
}

impl Armed {
    /// # Safety
    /// What the hook points to is left alone, and stays until this is dropped.
    #[allow(unsafe_code)]
    #[inline]
    unsafe fn new(at: Nanos, hook: Hook) -> Self {
        #[cfg(feature = "test-util")]
        if manual::installed().is_some() {
            // SAFETY: the caller's promise.
            return Self::Apart(unsafe { Apart::new(at, hook) });
        }
        #[cfg(feature = "test-util")]
        if clock::stands_still() {
            return Self::Nowhere;
        }
        let Some(watch) = enter() else {
            // SAFETY: the caller's promise.
            return Self::Apart(unsafe { Apart::new(at, hook) });
        };
        // SAFETY: the watch is this thread's, and not armed since `leave`; the rest is the caller's promise.
        unsafe { watch.arm(at, hook) };
        daemon::attend(at);
        Self::InSeat(watch)
    }
}

impl Drop for Armed {
    #[inline]
    fn drop(&mut self) {
        if let Self::InSeat(watch) = self {
            watch.disarm(&SEATS.ended);
            leave();
        }
    }
}

/// Watched by a timer of its own.
struct Apart {
    watch: Arc<WokenWatch>,
    timer: Timer,
}

enum Timer {
    Daemon(Option<daemon::Key>),
    #[cfg(feature = "test-util")]
    Manual(Option<manual::ManualTimer>),
}

struct WokenWatch(Watch);

impl Wake for WokenWatch {
    fn wake(self: Arc<Self>) {
        // Timers are not early.
        self.0.fire(Nanos::MAX, &SEATS.ended);
    }
}

impl Apart {
    /// # Safety
    /// As [`Armed::new`].
    #[allow(unsafe_code)]
    #[cold]
    #[inline(never)]
    unsafe fn new(at: Nanos, hook: Hook) -> Self {
        let watch = Arc::new(WokenWatch(Watch::new()));
        // SAFETY: the watch is new; the rest is the caller's promise.
        unsafe { watch.0.arm(at, hook) };
        let waker = watch.clone().into();
        #[cfg(feature = "test-util")]
        if let Some(clock) = manual::installed() {
            return Self { watch, timer: Timer::Manual(clock.arm(at, waker)) };
        }
        let timer = Timer::Daemon(daemon::arm(at, None, &waker));
        Self { watch, timer }
    }
}

impl Drop for Apart {
    #[cold]
    fn drop(&mut self) {
        match &mut self.timer {
            Timer::Daemon(key) => drop(key.take().map(daemon::cancel)),
            #[cfg(feature = "test-util")]
            Timer::Manual(timer) => drop(timer.take()),
        }
        self.watch.0.disarm(&SEATS.ended);
    }
}

/// Where a thread watches its scopes.
#[derive(Clone, Copy)]
struct Own {
    seat: usize,
    /// How many scopes it is in that have a place in the seat.
    depth: usize,
}

/// The thread has not asked for a seat yet.
const UNKNOWN: usize = usize::MAX;
/// The thread has none.
const NONE: usize = usize::MAX - 1;

thread_local! {
    /// Without a destructor, so that reading it is one load.
    static OWN: Cell<Own> = const { Cell::new(Own { seat: UNKNOWN, depth: 0 }) };
    /// Gives the seat back when the thread ends.
    static LEASE: Lease = const { Lease };
}

struct Lease;

impl Drop for Lease {
    fn drop(&mut self) {
        let Own { seat, .. } = OWN.replace(Own { seat: NONE, depth: 0 });
        if seat < THREADS {
            SEATS.vacate(seat);
        }
    }
}

/// The next place of this thread's seat, if it has one.
#[inline]
fn enter() -> Option<&'static Watch> {
    let own = OWN.get();
    if own.seat >= THREADS {
        return if own.seat == UNKNOWN && take_seat() { enter() } else { None };
    }
    let watch = SEATS.seat(own.seat).slot(own.depth)?;
    OWN.set(Own { depth: own.depth + 1, ..own });
    Some(watch)
}

/// The place that was entered last is free again.
#[inline]
fn leave() {
    let own = OWN.get();
    OWN.set(Own { depth: own.depth - 1, ..own });
}

/// Whether there is a seat for this thread.
#[cold]
#[inline(never)]
fn take_seat() -> bool {
    // In the middle of the thread's end it could not be given back any more.
    let seat = LEASE.try_with(|_| SEATS.lease()).ok().flatten();
    OWN.set(Own { seat: seat.unwrap_or(NONE), depth: 0 });
    seat.is_some()
}

/// How many threads have a seat.
#[cfg(test)]
pub(super) fn leased() -> u32 {
    SEATS.leased()
}

/// As `Seats::fire`, for the daemon.
pub(in super::super) fn fire() -> Nanos {
    SEATS.fire(now)
}

/// As `Seats::earliest`, for the daemon.
pub(in super::super) fn earliest() -> Nanos {
    SEATS.earliest()
}

/// Holds back whoever waits for a hook to end, while the process forks.
#[allow(dead_code)] // where processes cannot fork
pub(in super::super) fn hold() -> MutexGuard<'static, ()> {
    SEATS.ended.lock()
}

/// In a child process: no hook from before the fork runs.
#[allow(dead_code)] // where processes cannot fork
pub(in super::super) fn forget() {
    SEATS.forget(Some(OWN.get().seat).filter(|seat| *seat < THREADS));
}
