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
    installed().map(|clock| {
        let mut inner = clock.lock();
        inner.readings += 1;
        inner.now
    })
}

/// This thread's manual clock, if it has one.
pub(super) fn installed() -> Option<ManualClock> {
    INSTALLED.try_with(|installed| installed.borrow().clone()).ok().flatten()
}

/// Gives this thread a manual clock, until the handle is dropped.
///
/// All policies read it, sync sleeps advance it, and timers fire when it is advanced past them, on the advancing
/// thread. It takes precedence over tokio's clock.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{testing, time};
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
        readings: 0,
    })));
    Paused { installed: clock.install(), clock }
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
    /// How often a policy read it.
    readings: u64,
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
        let reading = reading.into_span();
        let mut inner = self.lock();
        if reading < inner.now {
            inner.now = reading;
            return;
        }
        drop(inner);
        self.move_to(reading);
    }

    /// Makes this the manual clock of the current thread too, until the guard is dropped.
    #[must_use = "the clock stays installed until this is dropped"]
    pub fn install(&self) -> Installed {
        let before = INSTALLED.with(|installed| installed.replace(Some(self.clone())));
        Installed { before, bound_to_thread: PhantomData }
    }

    /// How many timers wait for this clock to advance.
    pub fn timers(&self) -> usize {
        self.lock().timers.len()
    }

    /// How often policies have read this clock: what a test says "touches no clock" with.
    pub fn readings(&self) -> u64 {
        self.lock().readings
    }

    fn move_to(&self, to: Nanos) {
        while let Some(waker) = self.step(to) {
            waker.wake();
        }
    }

    /// Moves the clock on towards `to`, timer by timer, until `woken` says so. Without an end, as far as there are timers.
    #[cfg(not(resil_loom))]
    pub(super) fn advance_until(&self, to: Nanos, woken: impl Fn() -> bool) {
        while !woken() {
            let due = self.lock().timers.first_key_value().map(|(key, _)| key.0);
            if to == Nanos::MAX && due.is_none() {
                return;
            }
            match self.step(to) {
                Some(waker) => waker.wake(),
                None => return,
            }
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
                // Nor does somebody who has moved it less far meanwhile.
                inner.now = inner.now.max(to);
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
        Some(ManualTimer { clock: self.clone(), key })
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

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;
    use crate::time::testkit::{Wakes, poll_once};
    use crate::time::{Timer, now, sleep, sleep_blocking};
    use core::pin::pin;
    use core::time::Duration;
    use std::task::Wake;

    #[test]
    fn time_moves_only_by_hand_and_may_go_back() {
        let clock = pause();
        let start = now();
        assert_eq!(now(), start);
        clock.advance("1.5s");
        clock.advance(Duration::from_millis(500));
        assert_eq!(now().since(start), Nanos::from_ms(2_000));
        clock.set(start);
        assert_eq!((now(), crate::time::coarse()), (start, start));
        clock.set("95s");
        assert_eq!(now(), Nanos::from_ms(95_000));
    }

    #[test]
    fn the_clock_is_this_threads_until_the_handle_goes() {
        let outer = pause();
        outer.set("1s");
        {
            let inner = pause();
            inner.set("2s");
            assert_eq!(now(), Nanos::from_ms(2_000));
        }
        assert_eq!(now(), Nanos::from_ms(1_000), "the outer one is back");
        drop(outer);
        assert!(installed().is_none());
    }

    #[test]
    fn another_thread_takes_part_once_it_has_installed_the_clock() {
        let clock = pause();
        clock.set("7s");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(installed().is_none());
                let _installed = clock.install();
                assert_eq!(now(), Nanos::from_ms(7_000));
                clock.advance("1s");
            });
        });
        assert_eq!(now(), Nanos::from_ms(8_000));
    }

    #[test]
    fn it_does_not_go_back_where_two_move_it_on_at_a_time() {
        let clock = pause();
        let start = now();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let _installed = clock.install();
                    for number in 0..2_000_u64 {
                        let before = now();
                        clock.advance(Duration::from_millis(number % 7));
                        assert!(now() >= before);
                    }
                });
            }
        });
        assert!(now().since(start) >= Nanos::from_ms(2_000 * 3 - 10));
    }

    #[test]
    fn timers_fire_on_the_advancing_thread_in_the_order_of_their_deadlines() {
        struct Log(ManualClock, Mutex<Vec<(u32, Nanos)>>);
        struct Entry(Arc<Log>, u32);
        impl Wake for Entry {
            fn wake(self: Arc<Self>) {
                assert!(installed().is_some(), "this thread's clock");
                self.0.1.lock().unwrap().push((self.1, self.0.0.now()));
            }
        }
        let clock = pause();
        clock.set("1s");
        let log = Arc::new(Log(clock.clone(), Mutex::default()));
        let mut timers = [const { Timer::new() }; 4];
        for (id, (timer, ms)) in (0..).zip(timers.iter_mut().zip([1_030, 1_010, 1_030, 1_050])) {
            timer.arm_at(Nanos::from_ms(ms), &Arc::new(Entry(log.clone(), id)).into());
        }
        clock.advance("40ms");
        let ms = Nanos::from_ms;
        assert_eq!(*log.1.lock().unwrap(), [(1, ms(1_010)), (0, ms(1_030)), (2, ms(1_030))]);
        assert_eq!(clock.timers(), 1);
        drop(timers);
        assert_eq!(clock.timers(), 0, "cancelled");
        assert_eq!(now(), ms(1_040));
    }

    #[test]
    fn a_waker_may_arm_again_and_is_fired_within_the_same_step() {
        struct Again(Mutex<Timer>, Mutex<u32>);
        impl Wake for Again {
            fn wake(self: Arc<Self>) {
                *self.1.lock().unwrap() += 1;
                let waker = self.clone().into();
                self.0.lock().unwrap().arm_at(now().plus(Nanos::from_ms(10)), &waker);
            }
        }
        let clock = pause();
        let again = Arc::new(Again(Mutex::default(), Mutex::default()));
        again.clone().wake();
        clock.advance("35ms");
        assert_eq!(*again.1.lock().unwrap(), 4);
        again.0.lock().unwrap().cancel();
    }

    #[test]
    fn a_timer_that_is_due_goes_off_at_once_and_going_back_fires_nothing() {
        let clock = pause();
        let (woken, waker) = Wakes::pair();
        let mut timer = Timer::new();
        timer.arm_at(now(), &waker);
        assert_eq!((woken.times(), timer.is_armed()), (1, false));
        timer.arm_at(now().plus(Nanos(5)), &waker);
        clock.set("1s");
        assert_eq!((woken.times(), timer.is_armed()), (1, true));
    }

    #[test]
    fn who_waits_moves_it_from_timer_to_timer_until_woken() {
        let clock = pause();
        let start = clock.now();
        let (woken, waker) = Wakes::pair();
        let mut timers = [const { Timer::new() }; 3];
        for (timer, ms) in timers.iter_mut().zip([10, 20, 30]) {
            timer.arm_at(start.plus(Nanos::from_ms(ms)), &waker);
        }
        let stands = || clock.now().since(start);
        clock.advance_until(start.plus(Nanos::from_ms(25)), || woken.times() == 1);
        assert_eq!(stands(), Nanos::from_ms(10));
        clock.advance_until(start.plus(Nanos::from_ms(25)), || false);
        assert_eq!((stands(), woken.times()), (Nanos::from_ms(25), 2));
        clock.advance_until(Nanos::MAX, || false);
        assert_eq!((stands(), clock.timers()), (Nanos::from_ms(30), 0), "no further than the last");
    }

    #[test]
    fn sleeps_keep_to_it() {
        let clock = pause();
        let start = now();
        sleep_blocking(Nanos::from_ms(20));
        assert_eq!(now().since(start), Nanos::from_ms(20));
        let mut sleep = pin!(sleep(Nanos(200_000)));
        assert!(poll_once(sleep.as_mut()).is_pending());
        clock.advance("199.999us");
        assert!(poll_once(sleep.as_mut()).is_pending());
        clock.advance("1ns");
        assert!(poll_once(sleep.as_mut()).is_ready());
        assert_eq!(clock.timers(), 0);
    }
}
