//! Models of the breaker that goes by time: buckets that begin while outcomes come in.
//!
//! Bounds: a ring of three buckets, of which two are looked at; two stripes with an owner, one without.

use super::*;
use crate::contract::Window;

/// Buckets of 10 ms.
const WINDOW: Criterion = Criterion::Time(Nanos::from_ms(100));

fn stand(min_calls: u32, percent: u32) -> Stand {
    Stand::by(WINDOW, min_calls, percent)
}

fn held(s: &Stand) -> (u32, u32) {
    let Window { calls, failures, .. } = s.machine.counted(s.machine.load(), s);
    (calls, failures)
}

/// Two failures, neither of which sees `min_calls` reached without the other: one of them opens, and only one.
#[test]
fn loom_two_failures_that_complete_min_calls_open_it_once() {
    loom::model(|| {
        let fail = |s: &Stand| s.call(FAILED);
        beside(Arc::new(stand(2, 100)), fail, fail, |s| {
            assert_eq!((s.state(), s.transitions()), (State::Open, 1));
        });
    });
}

/// B6: of a failure and the success that completes `min_calls`, one sees both, on whatever stripe.
#[test]
fn loom_a_failure_and_the_success_that_completes_min_calls_open_in_time() {
    for homeless in [false, true] {
        loom::model(move || {
            let stand = Arc::new(Stand { homeless, ..stand(2, 50) });
            let (failing, succeeding) = (stand.admit(), stand.admit());
            let fail = move |s: &Stand| assert_eq!(s.settle(failing, FAILED), Settled::Counted);
            let succeed = move |s: &Stand| {
                let _ = s.settle(succeeding, GOOD);
            };
            beside(stand, succeed, fail, |s| {
                assert_eq!((s.state(), s.transitions()), (State::Open, 1));
            });
        });
    }
}

/// The same, where a success has just found that there is enough to judge by, and those after it need not look.
#[test]
fn loom_who_stops_looking_hides_no_failure() {
    loom::model(|| {
        let stand = Arc::new(stand(4, 50));
        stand.call(GOOD);
        let admitted = stand.admit();
        let settle = move |s: &Stand, outcome| {
            let _ = s.settle(admitted, outcome);
        };
        let succeed = move |s: &Stand| (0..2).for_each(|_| settle(s, GOOD));
        let fail = move |s: &Stand| (0..3).for_each(|_| settle(s, FAILED));
        beside(stand, succeed, fail, |s| {
            // Three of six; in every order something sees that half have failed.
            assert_eq!((s.state(), s.transitions()), (State::Open, 1));
        });
    });
}

/// Two outcomes find that a bucket is over: one bucket begins, and both count, once.
#[test]
fn loom_one_bucket_begins_and_nothing_is_lost() {
    for (mine, theirs, failures) in [(GOOD, GOOD, 0), (GOOD, FAILED, 1), (FAILED, FAILED, 2)] {
        loom::model(move || {
            let stand = Arc::new(stand(100, 100));
            stand.call(GOOD);
            stand.set_clock(1_015);
            let call = |outcome| move |s: &Stand| s.call(outcome);
            beside(stand, call(theirs), call(mine), move |s| {
                assert_eq!(held(s), (3, failures));
                s.set_clock(1_100);
                assert_eq!(held(s), (2, failures), "the first bucket is out of the window");
                s.set_clock(1_110);
                assert_eq!(held(s), (0, 0), "and the second");
            });
        });
    }
}

/// B37: an outcome that comes from before a bucket counts once, into one or the other.
#[test]
fn loom_an_outcome_that_meets_a_new_bucket_counts_once() {
    for (late, min_calls) in [(GOOD, 1), (GOOD, 100), (FAILED, 100)] {
        loom::model(move || {
            let stand = Arc::new(stand(min_calls, 100));
            stand.call(GOOD);
            // This thread's clock has gone on, the other's has not.
            stand.clock[0].store(1_010, Ordering::Relaxed);
            beside(
                stand,
                move |s| s.call(late),
                |s| s.call(GOOD),
                move |s| {
                    assert_eq!(held(s), (3, u32::from(late == FAILED)));
                    s.set_clock(1_100);
                    let (calls, _) = held(s);
                    assert!(
                        calls == 1 || calls == 2,
                        "the late one left with the first bucket, or not: {calls}"
                    );
                    s.set_clock(1_110);
                    assert_eq!(held(s), (0, 0));
                },
            );
        });
    }
}

/// A window that is looked at while a bucket begins holds neither more nor less than there was and comes.
#[test]
fn loom_a_look_meets_a_new_bucket() {
    loom::model(|| {
        let stand = Arc::new(stand(1, 100));
        stand.call(GOOD);
        stand.call(GOOD);
        stand.set_clock(1_010);
        let look = |s: &Stand| {
            let (calls, failures) = held(s);
            assert!((2..=3).contains(&calls) && failures == 0, "{calls}");
        };
        beside(stand, |s| s.call(GOOD), look, |s| assert_eq!(held(s), (3, 0)));
    });
}

/// B1, CB13: an outcome that was admitted before a reset is lost, or counted in the window that the reset ended.
#[test]
fn loom_a_late_outcome_does_not_reach_the_next_window_of_time() {
    for (late_outcome, homeless) in [(GOOD, false), (GOOD, true), (FAILED, false)] {
        loom::model(move || {
            let stand = Arc::new(Stand { homeless, ..stand(3, 100) });
            let late = stand.admit();
            stand.call(GOOD);
            let reset = |s: &Stand| {
                s.machine.reset(s);
                s.call(FAILED);
            };
            beside(
                stand,
                move |s| {
                    let _ = s.settle(late, late_outcome);
                },
                reset,
                |s| {
                    assert_eq!(held(s), (1, 1), "only the failure of the new window");
                    s.call(FAILED);
                    assert_eq!(s.state(), State::Closed, "two of three");
                    s.call(FAILED);
                    assert_eq!(s.state(), State::Open);
                },
            );
        });
    }
}

/// The same, where the late one finds that a bucket is over just as the new window begins with that bucket's words.
#[test]
fn loom_a_bucket_of_the_old_window_meets_the_first_of_the_new() {
    loom::model(|| {
        let stand = Arc::new(stand(100, 100));
        let late = stand.admit();
        stand.call(GOOD);
        stand.call(FAILED);
        stand.set_clock(1_010);
        let reset = |s: &Stand| {
            s.machine.reset(s);
            s.call(FAILED);
        };
        beside(
            stand,
            move |s| {
                let _ = s.settle(late, FAILED);
            },
            reset,
            |s| {
                assert_eq!(held(s), (1, 1));
                s.set_clock(1_020);
                s.call(GOOD);
                assert_eq!(held(s), (2, 1));
                s.set_clock(1_110);
                assert_eq!(held(s), (1, 0));
            },
        );
    });
}

/// B6: a change of options that meets an outcome just as that stops looking is seen by the next outcome.
#[test]
fn loom_a_change_of_options_is_not_slept_through_in_time() {
    loom::model(|| {
        let stand = Arc::new(stand(1, 100));
        for outcome in [GOOD, FAILED, GOOD] {
            stand.call(outcome);
        }
        stand.machine.revise(&*stand);
        let change = |s: &Stand| {
            s.percent.store(20, Ordering::Relaxed);
            s.machine.revise(s);
        };
        beside(
            stand,
            change,
            |s| s.call(GOOD),
            |s| {
                if s.state() == State::Closed {
                    // Of the window, one in five has failed then: as much as it takes now.
                    s.call(GOOD);
                }
                assert_eq!(s.state(), State::Open);
            },
        );
    });
}
