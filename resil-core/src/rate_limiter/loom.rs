//! Models of the limiter's word under every interleaving of two threads.
//!
//! Each model says what it proves. Bounds: two threads, one to three steps each, the preemptions that `LOOM_MAX_PREEMPTIONS`
//! allows (without it: all). Readings of the clock are given, so that an old one may meet a new one. The lock is not part of
//! the models: what is done under it is done by one thread.

// What the models do not use of the files they take in is used by the library.
#![allow(dead_code)]

#[path = "bucket.rs"]
mod bucket;
#[path = "eras.rs"]
mod eras;

use crate::cell::Rate;
use crate::cell::gcra::Quota;
use crate::sync::{Arc, AtomicU64, Ordering, thread};
use crate::time::Nanos;
use bucket::{Bucket, Reserved, Short, Ticket, Word};
use core::time::Duration;
use eras::Eras;

/// When the models begin.
const BEGIN: Nanos = Nanos(1_000_000);
/// In which a permit comes in.
const GAP: Nanos = Nanos(1_000);

fn later(gaps: u64) -> Nanos {
    BEGIN.plus(Nanos(GAP.0 * gaps))
}

/// So many at once, one in so many nanoseconds.
fn quota(burst: u32, gap: Nanos) -> Quota {
    Quota::new(Rate::new(1, Duration::from_nanos(gap.0)), 1, burst)
}

struct Stand {
    bucket: Bucket,
    eras: Eras,
    /// What the threads have taken together; not part of the model.
    taken: std::sync::atomic::AtomicU64,
}

impl Stand {
    fn new(burst: u32) -> Arc<Self> {
        let (bucket, eras) = (Bucket::new(Word::FULL), Eras::new(&quota(burst, GAP)));
        Arc::new(Self { bucket, eras, taken: std::sync::atomic::AtomicU64::new(0) })
    }

    fn take(&self, at: Nanos) -> Option<Ticket> {
        let ticket = self.bucket.take(self.bucket.load(), &self.eras, 1, at, |_, _| {});
        if ticket.is_some() {
            self.taken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        ticket
    }

    fn try_take(&self, at: Nanos) {
        let _ = self.take(at);
    }

    fn taken(&self) -> u64 {
        self.taken.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn available(&self, at: Nanos) -> u64 {
        self.bucket.available(&self.eras, at)
    }

    fn change(&self, to: &Quota, clock: impl Fn() -> Nanos) {
        self.eras.store(self.bucket.load().era() + 1, to);
        self.bucket.begin_era(&self.eras, clock, Nanos::ZERO);
    }
}

/// Runs `one` beside `other`, then `after`.
fn beside(
    stand: Arc<Stand>,
    one: impl FnOnce(&Stand) + Send + 'static,
    other: impl FnOnce(&Stand),
    after: impl FnOnce(&Stand),
) {
    let theirs = Arc::clone(&stand);
    let thread = thread::spawn(move || one(&theirs));
    other(&stand);
    thread.join().unwrap();
    after(&stand);
}

/// L2, RL09: of two calls at one instant as many are let in as there are permits.
#[test]
fn loom_a_permit_is_taken_once() {
    for burst in [1, 3] {
        loom::model(move || {
            let twice = |s: &Stand| {
                s.try_take(BEGIN);
                s.try_take(BEGIN);
            };
            beside(Stand::new(burst), twice, twice, |s| {
                assert_eq!((s.taken(), s.available(BEGIN)), (u64::from(burst), 0));
            });
        });
    }
}

/// RL08: whoever comes with an old reading is not let in on top of those who came with a new one, nor does he put back what they
/// have taken.
#[test]
fn loom_an_old_reading_mints_nothing() {
    for burst in [1, 2] {
        loom::model(move || {
            let old = |s: &Stand| {
                s.try_take(BEGIN);
                s.try_take(BEGIN);
            };
            let new = |s: &Stand| {
                s.try_take(later(1));
                s.try_take(later(1));
            };
            beside(Stand::new(burst), old, new, |s| {
                while s.take(later(1)).is_some() {}
                let most = u64::from(burst) + 1;
                assert!((u64::from(burst)..=most).contains(&s.taken()), "{}", s.taken());
                // A time without calls is forgotten, whoever came last.
                s.taken.store(0, std::sync::atomic::Ordering::Relaxed);
                while s.take(later(9)).is_some() {}
                assert_eq!(s.taken(), u64::from(burst));
            });
        });
    }
}

/// L12: what one gives back another can take, once.
#[test]
fn loom_what_is_given_back_is_there_once() {
    loom::model(|| {
        let stand = Stand::new(1);
        let ticket = stand.take(BEGIN).expect("it is full");
        let give_back = move |s: &Stand| s.bucket.give_back(&s.eras, ticket, 1, BEGIN);
        beside(
            stand,
            give_back,
            |s| s.try_take(BEGIN),
            |s| {
                assert_eq!(s.taken() - 1 + s.available(BEGIN), 1);
            },
        );
    });
}

/// L4, L12: of two that give back at the end of a busy time, each gives back what is its own.
#[test]
fn loom_two_give_back_what_is_theirs() {
    loom::model(|| {
        let stand = Stand::new(3);
        let [one, other] = [(); 2].map(|()| stand.take(BEGIN).expect("it is full"));
        let give_back = |ticket| move |s: &Stand| s.bucket.give_back(&s.eras, ticket, 1, BEGIN);
        beside(stand, give_back(one), give_back(other), |s| assert_eq!(s.available(BEGIN), 3));
    });
}

/// L12: a permit that has come back by itself is not given back on top, also while another one is being taken.
#[test]
fn loom_what_has_come_back_is_not_given_back() {
    loom::model(|| {
        let stand = Stand::new(2);
        let ticket = stand.take(BEGIN).expect("it is full");
        let give_back = move |s: &Stand| s.bucket.give_back(&s.eras, ticket, 1, later(5));
        let take = |s: &Stand| assert!(s.take(later(5)).is_some());
        beside(stand, give_back, take, |s| assert_eq!(s.available(later(5)), 1));
    });
}

/// L11: two reservations are served one after the other, whichever comes first.
#[test]
fn loom_reservations_are_in_order() {
    loom::model(|| {
        let stand = Stand::new(1);
        stand.try_take(BEGIN);
        let waits = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let reserve = |which: usize| {
            let waits = Arc::clone(&waits);
            move |s: &Stand| {
                let limit = Nanos(GAP.0 * 2);
                match s.bucket.reserve(&s.eras, 1, BEGIN, limit, limit) {
                    Ok(Reserved::After(_, wait)) => waits[which].store(wait.0, Ordering::Relaxed),
                    other => panic!("{other:?}"),
                }
            }
        };
        beside(stand, reserve(0), reserve(1), |s| {
            let mut waits = [0, 1].map(|which| waits[which].load(Ordering::Relaxed));
            waits.sort_unstable();
            assert_eq!(waits, [GAP.0, GAP.0 * 2]);
            assert!(s.take(later(2)).is_none(), "both are let in before anybody else");
        });
    });
}

/// L6: when it has been drained there is nothing, whatever was taken meanwhile.
#[test]
fn loom_draining_leaves_nothing() {
    loom::model(|| {
        beside(
            Stand::new(2),
            |s| s.bucket.drain(&s.eras, BEGIN),
            |s| s.try_take(BEGIN),
            |s| assert_eq!(s.available(BEGIN), 0),
        );
    });
}

/// L7: a change of the quota while calls are let in leaves as many permits as there would be without it. Under the other quota
/// a permit has other units.
#[test]
fn loom_a_change_of_the_quota_keeps_what_is_left() {
    for gap in [Nanos(10), Nanos(900_000)] {
        loom::model(move || {
            let stand = Stand::new(3);
            stand.try_take(BEGIN);
            let change = move |s: &Stand| s.change(&quota(3, gap), || BEGIN);
            let take = |s: &Stand| assert!(s.take(BEGIN).is_some(), "there are two");
            beside(stand, change, take, |s| {
                assert_eq!((s.taken(), s.available(BEGIN)), (2, 1));
            });
        });
    }
}

/// L7: what was taken just before a change, after its owner has read the clock, is not taken to be old.
#[test]
fn loom_a_change_takes_up_what_was_taken_meanwhile() {
    loom::model(|| {
        let stand = Stand::new(1);
        // A clock shows everybody the same, so it is no part of the model.
        let clock = std::sync::Arc::new(std::sync::Mutex::new(BEGIN));
        let theirs = std::sync::Arc::clone(&clock);
        let take = move |s: &Stand| {
            *theirs.lock().unwrap() = later(1);
            assert!(s.take(later(1)).is_some(), "it is full");
        };
        // A tenth of a gap: one that was taken at the beginning would have come back by then.
        let faster = quota(1, Nanos(GAP.0 / 10));
        let change = move |s: &Stand| s.change(&faster, || *clock.lock().unwrap());
        beside(stand, take, change, |s| assert_eq!(s.available(later(1)), 0));
    });
}

/// A refusal that meets the fourth change since it has read the word is not founded on what that writes over.
#[test]
fn loom_a_refusal_is_not_read_from_two_eras() {
    loom::model(|| {
        let stand = Stand::new(1);
        let change = |s: &Stand| {
            for gap in [10, 20, 30] {
                s.change(&quota(1, Nanos(gap)), || BEGIN);
            }
            // In place of the first one.
            s.eras.store(0, &Quota { burst: 0, ..quota(1, GAP) });
        };
        let look = |s: &Stand| {
            let short = s.bucket.short(&s.eras, 1, BEGIN, Nanos::ZERO);
            assert_eq!(short, None::<Short>, "it is full in each of them");
        };
        beside(stand, change, look, |_| {});
    });
}
