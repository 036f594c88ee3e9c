//! Models of the balance under every interleaving of two or three threads.
//!
//! Each model says what it proves. Bounds: one or two steps a thread, the preemptions that `LOOM_MAX_PREEMPTIONS` allows
//! (without it: all).
//!
//! # Mutants
//! | changed | caught by |
//! |---|---|
//! | `change` exchanges by load and store | `as_many_are_granted_as_there_are`, `no_deposit_is_lost`, and two more |
//! | a round that lost goes on with the word it had | the same |
//! | the terms are asked for once, before the rounds | `a_change_of_terms_binds_who_comes_after_it` |
//! | the word is loaded, or exchanged, with Relaxed | the same |

use crate::cell::Ratio;
use crate::cell::budget::{Bucket, RETRY, Terms};
use crate::sync::{Arc, AtomicU32, Ordering, thread};
use crate::time::Nanos;

const SECOND: Nanos = Nanos::from_ms(1_000);
const MINUTE: Nanos = Nanos::from_ms(60_000);

/// A balance of its reserve, whose terms may change.
struct Stand {
    bucket: Bucket,
    /// Retries a second, and so the reserve.
    min_per_sec: AtomicU32,
    /// Percent.
    ratio: AtomicU32,
}

impl Stand {
    fn new(ratio: u32, min_per_sec: u32) -> Arc<Self> {
        let bucket = Bucket::new(&terms(ratio, min_per_sec));
        Arc::new(Self {
            bucket,
            min_per_sec: AtomicU32::new(min_per_sec),
            ratio: AtomicU32::new(ratio),
        })
    }

    fn terms(&self) -> Terms {
        terms(self.ratio.load(Ordering::Relaxed), self.min_per_sec.load(Ordering::Relaxed))
    }

    fn deposit(&self) {
        self.bucket.put(|terms| terms.deposit, || self.terms(), || SECOND);
    }

    fn give_back(&self) {
        self.bucket.put(|_| RETRY, || self.terms(), || SECOND);
    }

    fn withdraw(&self, now: Nanos) -> u64 {
        u64::from(self.bucket.take(|| self.terms(), now))
    }

    fn balance(&self) -> u64 {
        self.bucket.balance(&self.terms(), SECOND)
    }
}

fn terms(ratio: u32, min_per_sec: u32) -> Terms {
    Terms::new(Ratio::percent(ratio), min_per_sec, SECOND)
}

/// Runs `theirs` on a thread of its own beside `mine`.
fn beside<R: 'static>(
    stand: &Arc<Stand>,
    theirs: impl FnOnce(&Stand) -> R + 'static,
    mine: impl FnOnce(&Stand) -> R,
) -> (R, R) {
    let other = Arc::clone(stand);
    let thread = thread::spawn(move || theirs(&other));
    let mine = mine(stand);
    (thread.join().unwrap(), mine)
}

/// G2: of three that ask for two retries, two are granted one.
#[test]
fn loom_as_many_are_granted_as_there_are() {
    loom::model(|| {
        let stand = Stand::new(0, 2);
        let ask = |stand: &Stand| stand.withdraw(SECOND);
        let (one, two) = (Arc::clone(&stand), Arc::clone(&stand));
        let threads = [thread::spawn(move || ask(&one)), thread::spawn(move || ask(&two))];
        let granted =
            ask(&stand) + threads.into_iter().map(|thread| thread.join().unwrap()).sum::<u64>();
        assert_eq!((granted, stand.balance()), (2, 0));
    });
}

/// G2, G3: what is deposited beside deposits and withdrawals is all there afterwards.
#[test]
fn loom_no_deposit_is_lost() {
    loom::model(|| {
        let stand = Stand::new(50, 1);
        let pay_in = |stand: &Stand| {
            stand.deposit();
            stand.deposit();
            0
        };
        let (_, granted) = beside(&stand, pay_in, |stand| {
            stand.deposit();
            stand.withdraw(SECOND) + stand.withdraw(SECOND)
        });
        assert!(granted >= 1, "the reserve was there");
        assert_eq!(stand.balance() + granted * RETRY, RETRY + RETRY * 3 / 2);
    });
}

/// G8: what is given back beside who asks is granted once.
#[test]
fn loom_what_is_given_back_is_granted_once() {
    loom::model(|| {
        let stand = Stand::new(0, 1);
        assert_eq!(stand.withdraw(SECOND), 1);
        let give_back = |stand: &Stand| {
            stand.give_back();
            0
        };
        let (_, granted) =
            beside(&stand, give_back, |stand| stand.withdraw(SECOND) + stand.withdraw(SECOND));
        assert_eq!(stand.balance() + granted * RETRY, RETRY);
    });
}

/// G5: what a minute brought is brought once, whoever looks first.
#[test]
fn loom_time_is_counted_once() {
    loom::model(|| {
        let stand = Stand::new(0, 1);
        assert_eq!(stand.withdraw(SECOND), 1);
        let (theirs, mine) =
            beside(&stand, |stand| stand.withdraw(MINUTE), |stand| stand.withdraw(MINUTE));
        assert_eq!(theirs + mine, 1);
    });
}

/// A deposit that meets a balance of after a change of terms is made under the new ones.
#[test]
fn loom_a_change_of_terms_binds_who_comes_after_it() {
    loom::model(|| {
        let stand = Stand::new(100, 1);
        stand.deposit();
        let change = |stand: &Stand| {
            let old = stand.terms();
            stand.bucket.settle(&old, MINUTE);
            stand.ratio.store(0, Ordering::Relaxed);
            stand.bucket.settle(&stand.terms(), MINUTE);
        };
        beside(&stand, change, |stand| stand.deposit());
        // Settled at the end of a minute: what was deposited before is forgotten but for a part.
        let balance = stand.bucket.balance(&stand.terms(), MINUTE);
        assert!(balance < 2 * RETRY + RETRY, "{balance}");
    });
}
