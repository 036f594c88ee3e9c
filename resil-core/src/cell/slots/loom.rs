//! Models of entering, leaving, waiting and giving up under every interleaving of two or three threads.
//!
//! Each model says what it proves. Bounds: the threads that are written down, one or two operations each, the preemptions
//! that `LOOM_MAX_PREEMPTIONS` allows (without it: all). What a lost wake-up leaves behind is a deadlock, which loom reports.

use super::{Joined, MOST, Place, Slots, Waiter, Wake};
use crate::sync::{Arc, AtomicU32, Ordering, UnsafeCell, thread};
use crate::time::Nanos;
use core::pin::{Pin, pin};
use core::task::Waker;
use std::task::Wake as WakeTask;

/// Slots, of which so many are taken. Callers are told that it is `crowded`, or that it is not, whichever is true.
fn slots(limit: u32, taken: u32, crowded: u32) -> Arc<Slots> {
    let slots = Arc::new(Slots::new(limit));
    for _ in 0..taken {
        assert!(slots.try_enter());
    }
    slots.crowded.store(crowded, Ordering::Relaxed);
    slots
}

/// Runs a model once for each of the ways to enter.
fn both_ways(model: fn(u32)) {
    for crowded in [0, 1] {
        loom::model(move || model(crowded));
    }
}

/// Waits on this thread as long as it takes; whether it is inside then. A wake-up may come when it is inside already, and
/// loom does not stand one in the middle of `join`: so only threads that join nobody may call this.
fn enter(slots: &Slots) -> bool {
    if slots.try_enter() {
        return true;
    }
    let mut waiter = pin!(Waiter::new(slots));
    match waiter.as_mut().join(Wake::Thread(thread::current()), Nanos::MAX, MOST) {
        Joined::Admitted => true,
        Joined::Refused => false,
        Joined::Queued => {
            while waiter.place() == Place::Queued {
                thread::park();
            }
            waiter.give_up()
        }
    }
}

/// Queues as a task that counts its wake-ups.
fn queue(waiter: Pin<&mut Waiter<'_>>) -> std::sync::Arc<Wakes> {
    let wakes = std::sync::Arc::new(Wakes(AtomicU32::new(0)));
    let wake = Wake::Task(wakes.clone().into());
    assert_eq!(waiter.join(wake, Nanos::MAX, MOST), Joined::Queued);
    wakes
}

struct Wakes(AtomicU32);

impl Wakes {
    fn times(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl WakeTask for Wakes {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `other` beside what the returned guard is held for.
fn beside<R: 'static>(
    slots: &Arc<Slots>,
    other: impl FnOnce(&Slots) -> R + 'static,
) -> thread::JoinHandle<R> {
    let slots = Arc::clone(slots);
    thread::spawn(move || other(&slots))
}

/// Nothing is left: nobody inside, nobody waiting, and all slots can be had.
fn all_free(slots: &Slots, limit: u32) {
    assert_eq!((slots.in_flight(), slots.waiting()), (0, 0));
    for _ in 0..limit {
        assert!(slots.try_enter());
    }
    assert!(!slots.try_enter());
}

/// K9: of two who find one slot, one has it: none is turned away by the other's failure.
#[test]
fn loom_of_two_who_enter_one_does() {
    both_ways(|crowded| {
        let slots = slots(1, 0, crowded);
        let other = beside(&slots, Slots::try_enter);
        let mine = slots.try_enter();
        assert!(mine ^ other.join().unwrap());
        assert_eq!(slots.in_flight(), 1);
    });
}

/// K1: who begins to wait while the last one leaves is woken, or need not wait.
#[test]
fn loom_who_waits_while_one_leaves_comes_in() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        let waits = beside(&slots, enter);
        slots.leave();
        assert!(waits.join().unwrap());
        assert_eq!((slots.in_flight(), slots.waiting()), (1, 0));
        slots.leave();
        all_free(&slots, 1);
    });
}

/// What was done inside is behind whoever comes in next, through the word and through a hand-over.
#[test]
fn loom_what_was_done_inside_is_seen_by_the_next() {
    both_ways(|crowded| {
        let shared = Arc::new((slots(1, 0, crowded), UnsafeCell::new(0)));
        let work = |shared: &(Arc<Slots>, UnsafeCell<u32>)| {
            assert!(enter(&shared.0));
            // Loom reports a race if another may be at it.
            shared.1.with_mut(|value| {
                // SAFETY: as long as loom does not object.
                #[allow(unsafe_code)]
                unsafe {
                    *value += 1;
                }
            });
            shared.0.leave();
        };
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || work(&theirs));
        let another = thread::spawn({
            let shared = Arc::clone(&shared);
            move || work(&shared)
        });
        other.join().unwrap();
        another.join().unwrap();
        all_free(&shared.0, 1);
    });
}

/// The same for a waiter that only looks at its place, neither called nor locking anything; of two who leave, one may hand over
/// what the other has left.
#[test]
fn loom_what_was_done_inside_is_seen_by_who_looks() {
    both_ways(|crowded| {
        let slots = slots(2, 2, crowded);
        let done = Arc::new([UnsafeCell::new(0), UnsafeCell::new(0)]);
        {
            let (mut first, mut second) = (pin!(Waiter::new(&slots)), pin!(Waiter::new(&slots)));
            (queue(first.as_mut()), queue(second.as_mut()));
            let leave = |which: usize| {
                let done = Arc::clone(&done);
                beside(&slots, move |slots| {
                    // Loom reports a race if another may be at it.
                    done[which].with_mut(|_| ());
                    slots.leave();
                })
            };
            let leaving = [leave(0), leave(1)];
            if second.place() == Place::Granted {
                // Both have left, so both are done.
                done[0].with_mut(|_| ());
                done[1].with_mut(|_| ());
            }
            leaving.map(|leaves| leaves.join().unwrap());
        }
        all_free(&slots, 2);
    });
}

/// K4, BH01: a hand-over that meets a waiter which gives up: either it has the slot, or nobody has.
#[test]
fn loom_a_slot_handed_to_who_gives_up_is_not_lost() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        {
            let mut waiter = pin!(Waiter::new(&slots));
            queue(waiter.as_mut());
            let other = beside(&slots, Slots::leave);
            if waiter.as_mut().give_up() {
                slots.leave();
            }
            other.join().unwrap();
        }
        all_free(&slots, 1);
    });
}

/// The same for a waiter that is dropped; the slot goes on to the next.
#[test]
fn loom_a_slot_handed_to_who_is_dropped_goes_to_the_next() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        let first = beside(&slots, |slots| {
            let mut waiter = pin!(Waiter::new(slots));
            let _ = waiter.as_mut().join(Wake::Task(Waker::noop().clone()), Nanos::MAX, MOST)
                == Joined::Admitted
                && {
                    slots.leave();
                    true
                };
        });
        let second = beside(&slots, enter);
        slots.leave();
        first.join().unwrap();
        assert!(second.join().unwrap());
        assert_eq!((slots.in_flight(), slots.waiting()), (1, 0));
        slots.leave();
        all_free(&slots, 1);
    });
}

/// Two who leave, two who wait: both are served, each is woken once.
#[test]
fn loom_two_who_leave_serve_two_who_wait() {
    both_ways(|crowded| {
        let slots = slots(2, 2, crowded);
        {
            let (mut first, mut second) = (pin!(Waiter::new(&slots)), pin!(Waiter::new(&slots)));
            let (a, b) = (queue(first.as_mut()), queue(second.as_mut()));
            let other = beside(&slots, Slots::leave);
            slots.leave();
            assert_ne!(first.place(), Place::Queued, "at least the first is served by now");
            other.join().unwrap();
            assert_eq!((first.place(), second.place()), (Place::Granted, Place::Granted));
            assert_eq!((a.times(), b.times()), (1, 1));
            assert_eq!((slots.in_flight(), slots.waiting()), (2, 0));
        }
        all_free(&slots, 2);
    });
}

/// Who enters without a look and takes that back keeps the slot from nobody who waits.
#[test]
fn loom_what_is_taken_back_goes_to_who_waits() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        let waits = beside(&slots, |slots| {
            assert!(enter(slots));
            slots.leave();
        });
        let passes = beside(&slots, |slots| {
            if slots.try_enter() {
                slots.leave();
            }
        });
        slots.leave();
        passes.join().unwrap();
        waits.join().unwrap();
        all_free(&slots, 1);
    });
}

/// K7: while somebody waits, or has just been handed the slot, nobody passes.
#[test]
fn loom_nobody_passes_who_waits() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        {
            let mut waiter = pin!(Waiter::new(&slots));
            queue(waiter.as_mut());
            let other = beside(&slots, Slots::leave);
            assert!(!slots.try_enter());
            other.join().unwrap();
            assert_eq!(waiter.place(), Place::Granted);
        }
        all_free(&slots, 1);
    });
}

/// A task that is polled by another waker: if it still waits after the exchange, the new one will be woken.
#[test]
fn loom_the_waker_of_the_last_poll_is_woken() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        {
            let mut waiter = pin!(Waiter::new(&slots));
            let before = queue(waiter.as_mut());
            let after = std::sync::Arc::new(Wakes(AtomicU32::new(0)));
            let other = beside(&slots, Slots::leave);
            waiter.as_mut().renew(&after.clone().into());
            let waits = waiter.place() == Place::Queued;
            other.join().unwrap();
            assert_eq!(before.times() + after.times(), 1);
            assert!(after.times() == 1 || !waits);
        }
        all_free(&slots, 1);
    });
}

/// K3: growing beside one who comes and one who leaves: whoever waits comes in.
#[test]
fn loom_growth_wakes_who_waits() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        let grows = beside(&slots, |slots| slots.set_limit(2));
        let waits = beside(&slots, enter);
        slots.leave();
        grows.join().unwrap();
        assert!(waits.join().unwrap());
        slots.leave();
        all_free(&slots, 2);
    });
}

/// K3: shrinking beside one who enters and one who leaves: from then on nobody enters beyond the new limit.
#[test]
fn loom_shrinking_is_a_debt() {
    both_ways(|crowded| {
        let slots = slots(2, 1, crowded);
        let leaves = beside(&slots, Slots::leave);
        let enters = beside(&slots, Slots::try_enter);
        slots.set_limit(1);
        leaves.join().unwrap();
        let entered = enters.join().unwrap();
        assert_eq!(slots.in_flight(), u32::from(entered));
        assert_eq!(slots.try_enter(), !entered);
    });
}

/// K6: closing beside one who begins to wait: it is sent away, and not forgotten.
#[test]
fn loom_closing_sends_away_who_waits() {
    both_ways(|crowded| {
        let slots = slots(1, 1, crowded);
        let waits = beside(&slots, enter);
        slots.set_limit(0);
        assert!(!waits.join().unwrap());
        assert_eq!((slots.in_flight(), slots.waiting()), (1, 0));
    });
}
