//! The process's timers, and the thread that fires them.
//!
//! Invariant: the thread is started by the first timer or hook, runs while the process does, and is parked without an end
//! while nothing is armed. No code of a user runs under one of our locks, and none can end the thread: wakers are woken,
//! cloned and dropped outside, and a panic of one, or of a hook, is caught.
//!
//! # Synchronisation
//! Each shard has its lock. A thread arms in its own shard; a timer is cancelled in the one it was armed in. How the
//! daemon is woken is `plan.rs`'s. A waker is taken out of its shard by one lock holder, so it is woken once or
//! dropped: by the daemon after a `cancel` that returned only if `cancel` found the entry gone.
//! `DAEMON`'s lock is for starting and waking the thread; nobody takes it while holding a shard's.

#[cfg(test)]
mod tests;

use super::expiry;
use super::plan::{self, Plan};
use super::shard::{Fit, Shard, Ticket};
use crate::sync::fixed::{AtomicU64, Mutex, MutexGuard, PoisonError};
use crate::sync::{Ordering, thread};
use crate::time::{Nanos, now};
use core::cell::Cell;
use core::num::NonZeroU32;
use core::task::Waker;
use crossbeam_utils::CachePadded;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bits of a key that name the shard.
const SHARD_BITS: u32 = 4;
pub(super) const SHARDS: usize = 1 << SHARD_BITS;
const _: () = assert!(super::shard::ENTRIES << SHARD_BITS <= 1 << u32::BITS);

/// Wakers taken out of a shard at a time: its lock is held no longer than that takes.
const BATCH: usize = 64;

/// After the thread could not be started, it is tried again no sooner than this.
const RETRY_START: Nanos = Nanos::from_ms(1_000);

/// Padded apart: threads that arm in different shards share no line.
pub(super) static TIMERS: [CachePadded<Mutex<Shard>>; SHARDS] =
    [const { CachePadded::new(Mutex::new(Shard::new())) }; SHARDS];
pub(super) static PLAN: Plan = Plan::new();
pub(super) static DAEMON: Mutex<State> = Mutex::new(State::Absent { retry_at: Nanos::ZERO });

/// Whether the thread runs.
pub(super) enum State {
    Absent { retry_at: Nanos },
    Running(thread::Thread),
}

/// Names a timer in any shard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    /// The slot, above the number of the shard.
    place: u32,
    generation: NonZeroU32,
}

impl Key {
    fn new(shard: usize, ticket: Ticket) -> Self {
        // Four bits, and 28.
        #[allow(clippy::cast_possible_truncation)]
        Self { place: ticket.slot << SHARD_BITS | shard as u32, generation: ticket.generation }
    }

    fn shard(self) -> MutexGuard<'static, Shard> {
        lock(&TIMERS[self.place as usize % SHARDS])
    }

    fn ticket(self) -> Ticket {
        Ticket { slot: self.place >> SHARD_BITS, generation: self.generation }
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under our locks panics; a poisoned one guards good data all the same.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Arms a timer for `at`, which is `span` after the arming if one is given. `None` if a shard is full: then the caller's own
/// checks have to do.
pub(super) fn arm(at: Nanos, span: Option<Nanos>, waker: &Waker) -> Option<Key> {
    let waker = waker.clone();
    let shard = own_shard();
    let inserted = lock(&TIMERS[shard]).insert(at, span, waker);
    let ticket = inserted.ok()?;
    attend(at);
    Some(Key::new(shard, ticket))
}

/// Makes sure that the timer will wake `waker`; `false` if it went off. Called where a poll finds that it is not time yet.
pub(super) fn renew(key: Key, at: Nanos, waker: &Waker) -> bool {
    let ticket = key.ticket();
    let fit = key.shard().fit(ticket, waker);
    let armed = match fit {
        Fit::Gone => false,
        Fit::Same => true,
        Fit::Other => {
            let waker = waker.clone();
            let exchanged = key.shard().exchange(ticket, waker);
            exchanged.is_ok()
        }
    };
    // In a child after a fork, or after a start that failed.
    if armed {
        attend(at);
    }
    armed
}

/// Takes a timer back; `false` if it went off, in which case its waker was or is being woken.
pub(super) fn cancel(key: Key) -> bool {
    let waker = key.shard().remove(key.ticket());
    waker.is_some()
}

pub(super) fn is_armed(key: Key) -> bool {
    key.shard().is_armed(key.ticket())
}

/// The shard this thread arms in.
#[inline]
fn own_shard() -> usize {
    const UNKNOWN: usize = usize::MAX;
    thread_local! {
        static SHARD: Cell<usize> = const { Cell::new(UNKNOWN) };
    }
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let known = SHARD.get();
    if known != UNKNOWN {
        return known;
    }
    // ORDERING: Relaxed, a number and nothing else.
    #[allow(clippy::cast_possible_truncation)] // below `SHARDS`
    let shard = (NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS as u64) as usize;
    SHARD.set(shard);
    shard
}

/// Sees to it that there is a daemon, and that it looks again by `at`: something was armed for then.
#[inline]
pub(super) fn attend(at: Nanos) {
    if PLAN.misses(at) {
        summon();
    }
}

/// Wakes the daemon, or starts it.
#[cold]
#[inline(never)]
fn summon() {
    lock(&DAEMON).summon(now, start);
}

impl State {
    fn summon(
        &mut self,
        now: impl FnOnce() -> Nanos,
        start: impl FnOnce() -> io::Result<thread::Thread>,
    ) {
        match self {
            Self::Running(thread) => thread.unpark(),
            Self::Absent { retry_at } => {
                let now = now();
                if now >= *retry_at {
                    *self = match start() {
                        Ok(thread) => Self::Running(thread),
                        Err(_) => Self::Absent { retry_at: now.plus(RETRY_START) },
                    };
                }
            }
        }
    }
}

fn start() -> io::Result<thread::Thread> {
    #[cfg(target_os = "linux")]
    super::fork::watch();
    let handle = thread::Builder::new().name("resil-timer".into()).spawn(run)?;
    Ok(handle.thread().clone())
}

fn run() {
    let mut rounds = Rounds { due: Vec::with_capacity(BATCH) };
    loop {
        PLAN.round(&mut rounds);
    }
}

struct Rounds {
    due: Vec<Waker>,
}

impl plan::Daemon for Rounds {
    fn fire(&mut self) -> Nanos {
        let mut next = Nanos::MAX;
        for shard in &TIMERS {
            loop {
                let now = now();
                let mut timers = lock(shard);
                let more = timers.expire(now, BATCH, &mut self.due);
                if !more {
                    next = next.min(timers.survey(now));
                }
                drop(timers);
                self.due.drain(..).for_each(wake);
                if !more {
                    break;
                }
            }
        }
        next.min(expiry::fire())
    }

    fn earliest(&mut self) -> Nanos {
        TIMERS.iter().fold(expiry::earliest(), |least, shard| least.min(lock(shard).earliest()))
    }

    fn park(&mut self, until: Nanos) {
        if until == Nanos::MAX {
            thread::park();
        } else {
            thread::park_timeout(until.since(now()).to_duration());
        }
    }
}

/// Wakes a task; whatever its waker does, the daemon goes on.
fn wake(waker: Waker) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
        // The payload's own destructor may panic as well.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
}
