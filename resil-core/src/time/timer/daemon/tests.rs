//! The real thread: it fires what is due, no sooner, once, and survives what wakers do.
//!
//! Mutants that were tried, and what caught them:
//!
//! | mutant | caught by |
//! |---|---|
//! | a waker's panic, or that of its payload, is not caught | `a_waker_that_panics_does_not_end_the_daemon` |
//! | a failed start is tried again at once, or never | `a_thread_that_cannot_be_started_is_tried_again_later` |
//! | `renew` believes a timer that went off, or keeps the old waker | `another_waker_takes_the_place_of_the_first_…` |
//! | a child's plan or state is not reset, or the handlers are missing | `a_child_process_has_a_daemon_of_its_own_…` |
//! | the plan does not say `AWAKE` | `plan::tests` |
//!
//! A daemon that goes on after one batch of a shard is no mutant: its second look finds the rest, and it comes round.

use super::*;
use crate::rng;
use crate::time::testkit::Wakes;
use crate::time::{Timer, sleep, testkit::block_on};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

/// Draws an index.
fn any_of(len: usize) -> usize {
    usize::try_from(rng::below(len as u64)).expect("below a `usize`")
}

const HOUR: Nanos = Nanos::from_ms(3_600_000);

#[test]
fn a_thread_that_cannot_be_started_is_tried_again_later() {
    let mut state = State::Absent { retry_at: Nanos::ZERO };
    let tries = Cell::new(0);
    let summon = |state: &mut State, at_ms, works: bool| {
        let start = || {
            tries.set(tries.get() + 1);
            if works { Ok(thread::current()) } else { Err(io::ErrorKind::WouldBlock.into()) }
        };
        state.summon(|| Nanos::from_ms(at_ms), start);
    };
    summon(&mut state, 5_000, false);
    summon(&mut state, 5_999, true);
    assert_eq!(tries.get(), 1, "not within a second");
    summon(&mut state, 6_000, true);
    assert_eq!(tries.get(), 2);
    summon(&mut state, 9_000, true);
    assert_eq!(tries.get(), 2, "it runs");
    thread::park(); // the last one has unparked us
}

#[test]
fn a_hundred_thousand_timers_come_and_go_and_one_that_stays_goes_off() {
    let (woken, waker) = Wakes::pair();
    let begin = now();
    let timers: Vec<Timer> = (0..100_000)
        .map(|n| {
            let mut timer = Timer::new();
            match n % 3 {
                0 => timer.arm_after(begin, HOUR, &waker),
                1 => timer.arm_after(now(), HOUR.plus(Nanos(n % 40)), &waker),
                _ => timer.arm_at(begin.plus(HOUR).plus(Nanos(n * 7_919 % 1_000)), &waker),
            }
            timer
        })
        .collect();
    assert!(timers.iter().all(Timer::is_armed));
    drop(timers);
    assert_eq!(Arc::strong_count(&woken), 2, "no waker is left behind");
    let mut stays = Timer::new();
    stays.arm_at(now().plus(Nanos::MILLI), &waker);
    woken.wait();
    assert!(now().since(begin) >= Nanos::MILLI);
    assert_eq!((woken.times(), stays.is_armed()), (1, false));
}

#[test]
fn a_waker_that_panics_does_not_end_the_daemon() {
    struct Bomb;
    impl Wake for Bomb {
        fn wake(self: Arc<Self>) {
            struct Payload;
            impl Drop for Payload {
                fn drop(&mut self) {
                    std::panic::resume_unwind(Box::new("in the payload's drop"));
                }
            }
            // Without the message that `panic!` would print from another thread.
            std::panic::resume_unwind(Box::new(Payload));
        }
    }
    let bomb = Arc::new(Bomb);
    let mut timer = Timer::new();
    timer.arm_at(now(), &bomb.clone().into());
    let mut spans = 0;
    while timer.is_armed() {
        block_on(sleep(Nanos(10_000)));
        spans += 1;
    }
    block_on(sleep(Nanos::MILLI));
    assert_eq!(Arc::strong_count(&bomb), 1, "after {spans} sleeps of 10 us");
}

#[test]
fn another_waker_takes_the_place_of_the_first_and_a_timer_that_went_off_is_armed_again() {
    let (first, first_waker) = Wakes::pair();
    let (second, second_waker) = Wakes::pair();
    let mut timer = Timer::new();
    let due = now().plus(Nanos::from_ms(2));
    timer.arm_at(due, &first_waker);
    timer.renew(due, &second_waker);
    drop(first_waker);
    second.wait();
    assert_eq!((first.times(), second.times(), Arc::strong_count(&first)), (0, 1, 1));
    timer.renew(now().plus(HOUR), &second_waker);
    assert!(timer.is_armed());
}

/// Many threads arm, cancel and let go off at random; nobody is woken early, twice, or after a cancellation that took.
#[test]
fn under_load_every_timer_is_fired_once_or_cancelled() {
    const THREADS: u64 = 4;
    const ROUNDS: usize = 2_000;
    struct Load {
        due: Nanos,
        wakes: AtomicUsize,
        early: AtomicUsize,
    }
    impl Wake for Load {
        fn wake(self: Arc<Self>) {
            self.wakes.fetch_add(1, Ordering::SeqCst);
            self.early.fetch_add(usize::from(now() < self.due), Ordering::SeqCst);
        }
    }
    let (cancelled, fired) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (cancelled, fired) = (&cancelled, &fired);
            scope.spawn(move || {
                rng::seed(seed);
                let mut held = Vec::new();
                for _ in 0..ROUNDS {
                    let (begin, span) = (now(), Nanos(rng::up_to(3) * 100_000));
                    let due = begin.plus(span);
                    let load = Arc::new(Load {
                        due,
                        wakes: AtomicUsize::new(0),
                        early: AtomicUsize::new(0),
                    });
                    let by_span = rng::below(2) == 0;
                    let key =
                        arm(due, by_span.then_some(span), &load.clone().into()).expect("room");
                    held.push((key, load));
                    if rng::below(3) == 0 {
                        let (key, load) = held.swap_remove(any_of(held.len()));
                        let took = cancel(key);
                        cancelled.fetch_add(usize::from(took), Ordering::Relaxed);
                        if took {
                            assert_eq!(load.wakes.load(Ordering::SeqCst), 0);
                            assert_eq!(Arc::strong_count(&load), 1, "the waker is gone");
                        } else {
                            held.push((key, load));
                        }
                    }
                }
                for (key, load) in held {
                    while load.wakes.load(Ordering::SeqCst) == 0 {
                        thread::yield_now();
                    }
                    assert!(!cancel(key), "it went off");
                    assert_eq!(load.wakes.load(Ordering::SeqCst), 1);
                    assert_eq!(load.early.load(Ordering::SeqCst), 0);
                    fired.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let (cancelled, fired) = (cancelled.into_inner(), fired.into_inner());
    assert_eq!(cancelled + fired, usize::try_from(THREADS).expect("four") * ROUNDS);
    assert!(cancelled > 0 && fired > 0, "both happened: {cancelled} and {fired}");
}

/// What was cancelled just before it was due does not wake who comes after it, in the same slot.
#[test]
fn to09_a_stale_timer_hits_no_later_one() {
    let (woken, waker) = Wakes::pair();
    let mut closely = 0;
    for round in 0..20_000_u64 {
        let begin = now();
        let span = Nanos(1_000 + round % 64 * 500);
        let mut first = Timer::new();
        first.arm_after(begin, span, Waker::noop());
        while now().since(begin) < Nanos(span.0 - 500) {
            core::hint::spin_loop();
        }
        first.cancel();
        closely += u32::from(now().since(begin) < span);
        let mut second = Timer::new();
        second.arm_after(now(), HOUR, &waker);
        assert!(second.is_armed());
    }
    assert_eq!(woken.times(), 0);
    assert!(closely > 0, "some were cancelled in time");
}
