//! The hand-written floor: the fewest operations that do the same job, inlined.

use crate::{Down, callee};
use resil::time::{Nanos, now};
use std::cell::Cell;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

/// One line of counts a thread, as `resil` keeps them.
#[repr(align(64))]
struct Line([AtomicU64; 8]);

const THREADS: usize = 32;

thread_local! {
    static THREAD: Cell<usize> = const { Cell::new(0) };
}

/// A breaker that is healthy: its state is read before and after, its outcome counted.
pub struct Breaker {
    word: AtomicU64,
    slow_call: AtomicU64,
    lines: [Line; THREADS],
}

impl Breaker {
    /// Closed.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            slow_call: AtomicU64::new(u64::MAX),
            lines: [const { Line([const { AtomicU64::new(0) }; 8]) }; THREADS],
        }
    }

    /// Opens, and times calls from now on: so that no compiler can know that neither ever happens.
    pub fn open(&self) {
        self.word.store(4, Relaxed);
        self.slow_call.store(1, Relaxed);
        THREAD.set(1);
    }

    #[inline]
    fn add(&self, index: usize) {
        let thread = THREAD.get();
        if thread < THREADS {
            let count = &self.lines[thread].0[index];
            count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    /// The guarded call, by hand.
    ///
    /// # Errors
    /// The callee's.
    #[inline]
    pub fn call(&self, request: u64) -> Result<u64, Down> {
        self.guard(|| callee(request))
    }

    #[inline]
    fn guard(&self, call: impl FnOnce() -> Result<u64, Down>) -> Result<u64, Down> {
        let word = self.word.load(Relaxed);
        if word & 7 != 0 || self.slow_call.load(Relaxed) != u64::MAX {
            return Err(Down);
        }
        let outcome = call();
        if outcome.is_ok() && self.word.load(Relaxed) == word {
            self.add(0);
        } else {
            self.add(1);
        }
        outcome
    }
}

/// The breaker of all calls here.
pub static BREAKER: Breaker = Breaker::new();

/// The floor of a healthy call through a breaker.
///
/// # Errors
/// The callee's.
#[inline(never)]
pub fn breaker(request: u64) -> Result<u64, Down> {
    BREAKER.call(request)
}

/// Places, by the fewest operations that keep to a limit: an addition in, a subtraction out, and a look at whether it was too
/// much or somebody waits.
pub struct Bulkhead {
    /// Separates who enters from who reads what stands around.
    word: Padded<AtomicU64>,
    crowded: AtomicU64,
    lines: [Line; THREADS],
}

#[repr(align(128))]
struct Padded<T>(T);

impl Bulkhead {
    /// So many places.
    pub const fn new(places: u32) -> Self {
        Self {
            word: Padded(AtomicU64::new((places as u64) << 32)),
            crowded: AtomicU64::new(0),
            lines: [const { Line([const { AtomicU64::new(0) }; 8]) }; THREADS],
        }
    }

    /// Takes all places: so that no compiler can know that this never happens.
    pub fn fill(&self) {
        self.crowded.store(1, Relaxed);
        THREAD.set(1);
    }

    /// The guarded call, by hand.
    ///
    /// # Errors
    /// The callee's.
    #[inline]
    pub fn call(&self, request: u64) -> Result<u64, Down> {
        self.guard(|| callee(request))
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // both halves
    fn guard(&self, call: impl FnOnce() -> Result<u64, Down>) -> Result<u64, Down> {
        if self.crowded.load(Relaxed) != 0 {
            return Err(Down);
        }
        let before = self.word.0.fetch_add(1, Acquire);
        if before as u32 + 16 >= (before >> 32) as u32 {
            self.leave();
            return Err(Down);
        }
        let thread = THREAD.get();
        if thread < THREADS {
            let count = &self.lines[thread].0[0];
            count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
        }
        let outcome = call();
        self.leave();
        outcome
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the lower half
    fn leave(&self) {
        if self.word.0.fetch_sub(1, Release) as u32 >= 1 << 31 {
            self.crowded.store(1, Relaxed);
        }
    }
}

/// The bulkhead of all calls here.
pub static BULKHEAD: Bulkhead = Bulkhead::new(64);

/// The floor of a call through a bulkhead that has room.
///
/// # Errors
/// The callee's.
#[inline(never)]
pub fn bulkhead(request: u64) -> Result<u64, Down> {
    BULKHEAD.call(request)
}

/// The floor of a bulkhead around a future that is ready at once.
///
/// # Errors
/// The callee's.
#[allow(clippy::unused_async)] // ready at once, as the guarded one
pub async fn bulkhead_async(request: u64) -> Result<u64, Down> {
    BULKHEAD.call(request)
}

/// Calls and attempts, counted.
pub struct Count([Line; THREADS]);

static RETRIED: Count = Count([const { Line([const { AtomicU64::new(0) }; 8]) }; THREADS]);

/// Calls up to three times, and counts one more.
#[inline]
fn up_to_three(call: impl Fn() -> Result<u64, Down>) -> Result<u64, Down> {
    attempts(call, || true)
}

/// As [`up_to_three`], where each retry has to be granted.
#[inline]
fn attempts(call: impl Fn() -> Result<u64, Down>, granted: impl Fn() -> bool) -> Result<u64, Down> {
    let mut attempt = 1;
    loop {
        let outcome = call();
        if outcome.is_ok() || attempt == 3 || !granted() {
            let thread = THREAD.get();
            if thread < THREADS {
                let count = &RETRIED.0[thread].0[usize::from(outcome.is_err())];
                count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
            }
            return outcome;
        }
        attempt += 1;
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// The floor of a retry that is not needed: the call, and one more in the count.
///
/// # Errors
/// The callee's, after the third attempt.
#[inline(never)]
pub fn retry(request: u64) -> Result<u64, Down> {
    up_to_three(|| callee(request))
}

/// A balance in millionths of a retry, which is full, and how much it holds.
static BALANCE: AtomicU64 = AtomicU64::new(1_100_000_000);
static FULL: AtomicU64 = AtomicU64::new(1_100_000_000);

/// The floor of a retry that is not needed, with a budget that is full: it is looked at.
///
/// # Errors
/// The callee's, after the third attempt.
#[inline(never)]
pub fn retry_budget(request: u64) -> Result<u64, Down> {
    if BALANCE.load(Relaxed) < FULL.load(Relaxed) {
        BALANCE.fetch_add(200_000, Relaxed);
    }
    let withdraw = |balance: u64| balance.checked_sub(1_000_000);
    attempts(|| callee(request), || BALANCE.fetch_update(Relaxed, Relaxed, withdraw).is_ok())
}

/// When what was taken of the limiter will have come back, in nanoseconds.
static ARRIVAL: Padded<AtomicU64> = Padded(AtomicU64::new(0));
/// A thousand cells, one of which comes in every nanosecond.
static TOLERANCE: AtomicU64 = AtomicU64::new(1_000);

/// Takes a cell: one reading of the clock, and one exchange.
#[inline]
fn within_the_rate(call: impl FnOnce(u64) -> Result<u64, Down>) -> Result<u64, Down> {
    let now = now().0;
    let latest = now + TOLERANCE.load(Relaxed);
    let mut arrival = ARRIVAL.0.load(Relaxed);
    loop {
        let next = arrival.max(now) + 1;
        if next > latest {
            return Err(Down);
        }
        match ARRIVAL.0.compare_exchange_weak(arrival, next, Relaxed, Relaxed) {
            Ok(_) => break,
            Err(newer) => arrival = newer,
        }
    }
    let thread = THREAD.get();
    if thread < THREADS {
        let count = &BULKHEAD.lines[thread].0[1];
        count.store(count.load(Relaxed).wrapping_add(1), Relaxed);
    }
    call(now)
}

/// The floor of a call through a rate limiter that has enough.
///
/// # Errors
/// The callee's.
#[inline(never)]
pub fn rate_limiter(request: u64) -> Result<u64, Down> {
    within_the_rate(|_| callee(request))
}

/// The floor of everything at once: three attempts, a breaker, a limiter, a bulkhead, and a timeout that shares the limiter's
/// reading.
///
/// # Errors
/// The callee's, after the third attempt.
#[inline(never)]
pub fn whole(request: u64) -> Result<u64, Down> {
    let limited = |begun| {
        let outcome = callee(request);
        if now().0 > begun + 1_000_000_000 { Err(Down) } else { outcome }
    };
    up_to_three(|| BREAKER.guard(|| within_the_rate(|begun| BULKHEAD.guard(|| limited(begun)))))
}

/// How many calls were late.
static LATE: AtomicU64 = AtomicU64::new(0);

/// Calls, and reads the clock before and after.
#[inline]
fn in_time(call: impl Fn(Nanos) -> Result<u64, Down>) -> Result<u64, Down> {
    let due = now().plus(Nanos(1_000_000_000));
    let outcome = call(due);
    if now() > due {
        LATE.fetch_add(1, Relaxed);
        outcome.map_err(|_| Down)
    } else {
        outcome
    }
}

/// The floor of a timeout that is kept to.
///
/// # Errors
/// The callee's, unless it is too late.
#[inline(never)]
pub fn timeout(request: u64) -> Result<u64, Down> {
    in_time(|_| callee(request))
}

/// Until when the call is watched; 0 for not.
static WATCHED: AtomicU64 = AtomicU64::new(0);

/// The floor of a timeout within which an expiry is watched for: a word is set and set back, if there is time left.
///
/// # Errors
/// The callee's, unless it is too late.
#[inline(never)]
pub fn with_expiry(request: u64) -> Result<u64, Down> {
    in_time(|due| {
        if now() >= due {
            return Err(Down);
        }
        WATCHED.swap(due.0, AcqRel);
        let outcome = callee(request);
        if WATCHED.swap(0, AcqRel) == due.0 { outcome } else { Err(Down) }
    })
}

/// The floor of both.
///
/// # Errors
/// The callee's, after the third attempt.
#[inline(never)]
pub fn stack(request: u64) -> Result<u64, Down> {
    up_to_three(|| BREAKER.call(request))
}

/// The bare future.
///
/// # Errors
/// The callee's.
#[allow(clippy::unused_async)] // ready at once, as the guarded one
pub async fn bare_async(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// The floor of a breaker around a future that is ready at once.
///
/// # Errors
/// The callee's.
#[allow(clippy::unused_async)] // as above
pub async fn breaker_async(request: u64) -> Result<u64, Down> {
    BREAKER.call(request)
}
