//! The slots against a plain model, on one thread; and the nodes of the queue under threads, also for an interpreter that
//! checks every access.

use super::*;
use core::pin::{Pin, pin};
use core::task::Waker;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::thread;

type Boxed<'a> = Pin<Box<Waiter<'a>>>;

fn join(slots: &Slots, most: u32) -> (Boxed<'_>, Joined) {
    let mut waiter = Box::pin(Waiter::new(slots));
    let joined = waiter.as_mut().join(Wake::Task(Waker::noop().clone()), Nanos::MAX, most);
    (waiter, joined)
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter,
    Join,
    Leave,
    /// The so-manieth waiter asks what became of it, and goes.
    GiveUp(usize),
    /// The same, dropped.
    Drop(usize),
    Limit(u32),
    /// Whatever is true, callers are told that there is room, or that it is crowded.
    Hint(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Enter),
        4 => Just(Step::Join),
        4 => Just(Step::Leave),
        1 => (0_usize..8).prop_map(Step::GiveUp),
        1 => (0_usize..8).prop_map(Step::Drop),
        1 => (0_u32..6).prop_map(Step::Limit),
        1 => (0_u32..70).prop_map(Step::Limit),
        1 => (0_u32..2).prop_map(Step::Hint),
    ]
}

/// The longest queue.
const MOST_WAIT: u32 = 5;

/// What the slots should be.
#[derive(Default)]
struct Model {
    limit: u32,
    inside: u32,
    /// Numbers of those who wait.
    queue: VecDeque<usize>,
    /// What became of each that ever waited.
    places: Vec<Place>,
}

impl Model {
    fn enters(&mut self) -> bool {
        let enters = self.queue.is_empty() && self.inside < self.limit;
        self.inside += u32::from(enters);
        enters
    }

    fn hand_over(&mut self) {
        while let Some(first) = self.queue.front().copied() {
            if self.limit == 0 {
                self.places[first] = Place::Refused;
            } else if self.inside < self.limit {
                self.places[first] = Place::Granted;
                self.inside += 1;
            } else {
                return;
            }
            self.queue.pop_front();
        }
    }

    /// Whether the slot of a waiter is in its hands.
    fn gives_up(&mut self, number: usize) -> bool {
        self.queue.retain(|waits| *waits != number);
        std::mem::replace(&mut self.places[number], Place::Out) == Place::Granted
    }

    fn leaves(&mut self) {
        self.inside -= 1;
        self.hand_over();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 300 }))]
    #[test]
    fn they_agree_with_a_plain_model(limit in 0_u32..70, steps in prop::collection::vec(step(), 1..200)) {
        let slots = Slots::new(limit);
        let mut model = Model { limit, ..Model::default() };
        let mut waiters: Vec<Option<Boxed<'_>>> = Vec::new();
        for step in steps {
            let nth = |n: usize| (!waiters.is_empty()).then(|| n % waiters.len());
            match step {
                Step::Enter => prop_assert_eq!(slots.try_enter(), model.enters()),
                Step::Join => {
                    let (waiter, joined) = join(&slots, MOST_WAIT);
                    let expected = if model.enters() {
                        Joined::Admitted
                    } else if model.limit == 0 || model.queue.len() >= MOST_WAIT as usize {
                        Joined::Refused
                    } else {
                        model.queue.push_back(waiters.len());
                        model.places.push(Place::Queued);
                        Joined::Queued
                    };
                    prop_assert_eq!(joined, expected);
                    if joined == Joined::Queued {
                        waiters.push(Some(waiter));
                    }
                }
                Step::Leave => {
                    // One whose slot is in its hands; those that were granted and not picked up keep theirs.
                    let unclaimed = model.places.iter().filter(|place| **place == Place::Granted);
                    if model.inside > u32::try_from(unclaimed.count()).unwrap() {
                        slots.leave();
                        model.leaves();
                    }
                }
                Step::GiveUp(n) => {
                    let Some(n) = nth(n) else { continue };
                    let Some(mut waiter) = waiters[n].take() else { continue };
                    prop_assert_eq!(waiter.as_mut().give_up(), model.gives_up(n));
                }
                Step::Drop(n) => {
                    let Some(n) = nth(n) else { continue };
                    let Some(waiter) = waiters[n].take() else { continue };
                    drop(waiter);
                    if model.gives_up(n) {
                        model.leaves();
                    }
                }
                Step::Limit(limit) => {
                    slots.set_limit(limit);
                    model.limit = limit;
                    model.hand_over();
                }
                Step::Hint(crowded) => slots.crowded.store(crowded, Ordering::Relaxed),
            }
            prop_assert_eq!(slots.in_flight(), model.inside);
            prop_assert_eq!(slots.waiting() as usize, model.queue.len());
            prop_assert_eq!(slots.available(), model.limit.saturating_sub(model.inside));
            for (waiter, place) in waiters.iter().zip(&model.places) {
                if let Some(waiter) = waiter {
                    prop_assert_eq!(waiter.place(), *place);
                }
            }
        }
    }
}

#[test]
fn a_queue_is_taken_apart_from_any_end_while_others_wait() {
    let slots = Slots::new(1);
    assert!(slots.try_enter());
    for first in 0..3 {
        let mut waiters: Vec<_> = (0..4).map(|_| join(&slots, MOST).0).collect();
        drop(waiters.remove(first));
        drop(waiters.pop());
        waiters[0].as_mut().renew(Waker::noop());
        slots.leave();
        let places: Vec<_> = waiters.iter().map(|waiter| waiter.place()).collect();
        assert_eq!(places, [Place::Granted, Place::Queued]);
        drop(waiters.pop());
        assert!(waiters.remove(0).as_mut().give_up());
    }
    slots.leave();
    assert_eq!((slots.in_flight(), slots.waiting()), (0, 0));
}

/// Threads wait on their stacks and leave as soon as they are called, while the one that calls them is not done yet.
#[test]
fn a_node_may_be_gone_as_soon_as_its_place_is_decided() {
    const ROUNDS: u32 = if cfg!(miri) { 20 } else { 5_000 };
    let slots = Slots::new(1);
    let work = || {
        for round in 0..ROUNDS {
            let mut waiter = pin!(Waiter::new(&slots));
            let wake = Wake::Thread(thread::current());
            let admitted = match waiter.as_mut().join(wake, Nanos::MAX, MOST) {
                Joined::Queued => {
                    if round % 4 == 0 {
                        waiter.as_mut().renew(Waker::noop());
                    } else {
                        // Looks on, and goes without waiting for its call.
                        while round % 4 == 1 && waiter.place() == Place::Queued {
                            thread::yield_now();
                        }
                    }
                    waiter.give_up()
                }
                joined => joined == Joined::Admitted,
            };
            if admitted {
                slots.leave();
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(work);
        }
    });
    assert_eq!((slots.in_flight(), slots.waiting()), (0, 0));
}
