//! Models of the balance under every interleaving of two or three threads.
//!
//! Each model says what it proves. Bounds: one or two steps a thread, the preemptions that `LOOM_MAX_PREEMPTIONS` allows
//! (without it: all).
//!
//! # Mutants
//! | changed | caught by |
//! |---|---|
//! | `Bucket::change` exchanges by load and store | all |
//! | a round that lost goes on with what it had decided | four of them |
//! | `Live::change` settles after it has stored | `a_change_of_terms_is_no_gift` |
//! | it does not settle | the same |

// What the models do not use of the files they take in is used by the library.
#![allow(dead_code)]

#[path = "live.rs"]
mod live;
#[path = "options.rs"]
mod options;

use crate::cell::Ratio;
use crate::cell::budget::{Bucket, RETRY};
use crate::sync::{Arc, thread};
use crate::time::Nanos;
use live::Live;
use options::BudgetOptions;

const SECOND: Nanos = Nanos::from_ms(1_000);
const MINUTE: Nanos = Nanos::from_ms(60_000);

/// A budget, without its name.
struct Stand {
    bucket: Bucket,
    live: Live,
}

impl Stand {
    /// A `ttl` of a second, so that the floor is the reserve.
    fn new(percent: u32, min_per_sec: u32) -> Arc<Self> {
        let options = options(percent, min_per_sec);
        Arc::new(Self { bucket: Bucket::new(&options.terms()), live: Live::new(&options) })
    }

    fn deposit(&self) {
        self.bucket.put(|terms| terms.deposit, || self.live.terms(), || SECOND);
    }

    fn give_back(&self) {
        self.bucket.put(|_| RETRY, || self.live.terms(), || SECOND);
    }

    fn withdraw(&self, now: Nanos) -> u64 {
        u64::from(self.bucket.take(|| self.live.terms(), now))
    }

    fn balance(&self, now: Nanos) -> u64 {
        self.bucket.balance(&self.live.terms(), now)
    }
}

fn options(percent: u32, min_per_sec: u32) -> BudgetOptions {
    BudgetOptions { ratio: Ratio::percent(percent), min_per_sec, ttl: SECOND }
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
        assert_eq!((granted, stand.balance(SECOND)), (2, 0));
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
        assert_eq!(stand.balance(SECOND) + granted * RETRY, RETRY + RETRY * 3 / 2);
    });
}

/// G8: what is given back beside who asks is granted once.
#[test]
fn loom_what_is_given_back_is_granted_once() {
    loom::model(|| {
        let stand = Stand::new(0, 2);
        assert_eq!(stand.withdraw(SECOND), 1);
        let give_back = |stand: &Stand| {
            stand.give_back();
            0
        };
        let (_, granted) =
            beside(&stand, give_back, |stand| stand.withdraw(SECOND) + stand.withdraw(SECOND));
        assert_eq!(stand.balance(SECOND) + granted * RETRY, 2 * RETRY);
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

/// G5: a larger floor that takes effect after a minute brings nothing for that minute.
#[test]
fn loom_a_change_of_terms_is_no_gift() {
    loom::model(|| {
        let stand = Stand::new(0, 1);
        assert_eq!(stand.withdraw(SECOND), 1);
        let change = |stand: &Stand| {
            // Whoever loaded an option before it stores it would hide from loom who else loaded it.
            stand.live.change(&stand.bucket, &options(0, 1), &options(0, 3), MINUTE);
            0
        };
        let (_, granted) =
            beside(&stand, change, |stand| stand.withdraw(MINUTE) + stand.withdraw(MINUTE));
        assert_eq!(
            stand.balance(MINUTE) + granted * RETRY,
            RETRY,
            "as much as the old one brought"
        );
    });
}
