//! The manual clock of a test: time that moves only when somebody moves it.
//!
//! Invariant: a timer fires on the thread that moves the clock past it, in the order of the deadlines (of equal ones, in
//! the order of arming), and the clock shows that deadline while it fires. Nothing fires twice.
//!
//! # Synchronisation
//! One lock guards reading and timers. Wakers run outside of it, so what they wake may read, arm, cancel and advance.

use super::{IntoSpan, Nanos};
use crate::sync::fixed::{Arc, Mutex, MutexGuard, PoisonError};
use core::cell::RefCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::task::Waker;
use std::collections::BTreeMap;

/// What a manual clock shows at first. Not 0, so that what looks back in time finds some.
const START: Nanos = Nanos(3_600_000_000_000);

thread_local! {
    static INSTALLED: RefCell<Option<ManualClock>> = const { RefCell::new(None) };
}

/// The reading of this thread's manual clock, if it has one.
pub(super) fn reading() -> Option<Nanos> {
    installed().map(|clock| clock.now())
}

/// This thread's manual clock, if it has one.
pub(super) fn installed() -> Option<ManualClock> {
    INSTALLED
        .try_with(|installed| installed.borrow().clone())
        .ok()
        .flatten()
}

/// Gives this thread a manual clock, until the handle is dropped.
///
/// All policies read it, sync sleeps advance it, and timers fire when it is advanced past them, on the advancing
/// thread. It takes precedence over tokio's clock.
///
/// # Examples
/// ```
/// use resil_core::{testing, time};
///
/// let clock = testing::pause();
/// let before = time::now();
/// clock.advance("1.5s");
/// assert_eq!(time::now().since(before).to_duration().as_millis(), 1_500);
/// ```
#[must_use = "the clock stays manual until this is dropped"]
pub fn pause() -> Paused {
    let clock = ManualClock(Arc::new(Mutex::new(Inner {
        now: START,
        armed: 0,
        timers: BTreeMap::new(),
    })));
    Paused {
        installed: clock.install(),
        clock,
    }
}

/// This thread's clock is manual until this is dropped: what [`pause`] returns. Derefs to the clock itself.
#[derive(Debug)]
pub struct Paused {
    clock: ManualClock,
    #[allow(dead_code)] // dropped
    installed: Installed,
}

impl Deref for Paused {
    type Target = ManualClock;

    fn deref(&self) -> &ManualClock {
        &self.clock
    }
}

/// A clock that is moved by hand; cloned to move it from, or install it in, other threads.
#[derive(Clone)]
pub struct ManualClock(Arc<Mutex<Inner>>);

struct Inner {
    now: Nanos,
    /// How many timers were ever armed: tells equal deadlines apart.
    armed: u64,
    timers: BTreeMap<(Nanos, u64), Waker>,
}

impl ManualClock {
    /// What the clock shows.
    pub fn now(&self) -> Nanos {
        self.lock().now
    }

    /// Moves the clock on by `"10s"`, or a `Duration`, and fires what becomes due.
    ///
    /// # Panics
    /// If a string is no duration.
    #[track_caller]
    pub fn advance(&self, span: impl IntoSpan) {
        let span = span.into_span();
        let to = self.lock().now.plus(span);
        self.move_to(to);
    }

    /// Makes the clock show this, which may be earlier than what it shows now: then nothing fires.
    ///
    /// # Panics
    /// If a string is no duration.
    #[track_caller]
    pub fn set(&self, reading: impl IntoSpan) {
        self.move_to(reading.into_span());
    }

    /// Makes this the manual clock of the current thread too, until the guard is dropped.
    #[must_use = "the clock stays installed until this is dropped"]
    pub fn install(&self) -> Installed {
        let before = INSTALLED.with(|installed| installed.replace(Some(self.clone())));
        Installed {
            before,
            bound_to_thread: PhantomData,
        }
    }

    /// How many timers wait for this clock to advance.
    pub fn timers(&self) -> usize {
        self.lock().timers.len()
    }

    fn move_to(&self, to: Nanos) {
        while let Some(waker) = self.step(to) {
            waker.wake();
        }
    }

    /// Goes as far as the next timer that is due by `to` and takes it, or all the way if there is none.
    fn step(&self, to: Nanos) -> Option<Waker> {
        let mut inner = self.lock();
        match inner.timers.first_key_value() {
            Some((&key, _)) if key.0 <= to => {
                // One that was armed in the past does not turn the clock back.
                inner.now = inner.now.max(key.0);
                inner.timers.remove(&key)
            }
            _ => {
                inner.now = to;
                None
            }
        }
    }

    /// Registers `waker` to be woken when the clock shows `at`; if it does already, wakes it and registers nothing.
    pub(super) fn arm(&self, at: Nanos, waker: Waker) -> Option<ManualTimer> {
        let mut inner = self.lock();
        if at <= inner.now {
            drop(inner);
            waker.wake();
            return None;
        }
        inner.armed += 1;
        let key = (at, inner.armed);
        inner.timers.insert(key, waker);
        drop(inner);
        Some(ManualTimer {
            clock: self.clone(),
            key,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        f.debug_struct("ManualClock")
            .field("now", &inner.now)
            .field("timers", &inner.timers.len())
            .finish()
    }
}

/// A manual clock is this thread's until this is dropped. Guards of one thread are dropped in reverse order.
#[derive(Debug)]
pub struct Installed {
    before: Option<ManualClock>,
    /// Not `Send`: it acts on the thread that made it.
    bound_to_thread: PhantomData<MutexGuard<'static, ()>>,
}

impl Drop for Installed {
    fn drop(&mut self) {
        let before = self.before.take();
        let ours = INSTALLED.try_with(|installed| installed.replace(before));
        drop(ours);
    }
}

/// One registration with a manual clock. Cancels on drop.
#[derive(Debug)]
pub(super) struct ManualTimer {
    clock: ManualClock,
    key: (Nanos, u64),
}

impl ManualTimer {
    /// Whether it still waits; if so, `waker` is the one that will be woken.
    pub(super) fn renew(&self, waker: &Waker) -> bool {
        let known = match self.clock.lock().timers.get(&self.key) {
            None => return false,
            Some(known) => known.will_wake(waker),
        };
        if known {
            return true;
        }
        let mut spare = waker.clone();
        let armed = match self.clock.lock().timers.get_mut(&self.key) {
            None => false,
            Some(known) => {
                core::mem::swap(known, &mut spare);
                true
            }
        };
        drop(spare);
        armed
    }

    /// Whether it still waits.
    pub(super) fn is_armed(&self) -> bool {
        self.clock.lock().timers.contains_key(&self.key)
    }
}

impl Drop for ManualTimer {
    fn drop(&mut self) {
        let waker = self.clock.lock().timers.remove(&self.key);
        drop(waker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time;
    use core::sync::atomic::{AtomicU64, Ordering};
    use core::time::Duration;
    use std::task::Wake;

    /// Writes down what the clock showed at each wake.
    struct Log(ManualClock, Mutex<Vec<(u64, Nanos)>>, u64);

    impl Wake for Log {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push((self.2, self.0.now()));
        }
    }
}
