//! Models of the breaker that goes by failures in a row.

use super::*;

fn stand(row: u32) -> Arc<Stand> {
    Arc::new(Stand::by(Criterion::Consecutive(row), 1, 50))
}

/// CB07, CB12: two failures that complete the row at once open once.
#[test]
fn loom_two_failures_complete_the_row_once() {
    loom::model(|| {
        let stand = stand(3);
        stand.call(FAILED);
        let fail = |s: &Stand| s.call(FAILED);
        beside(stand, fail, fail, |s| {
            assert_eq!((s.state(), s.transitions()), (State::Open, 1));
            assert_eq!(s.told.lock().unwrap()[0].window.failures, 3);
        });
    });
}

/// CB12: the third failure opens if it comes before the success, and begins a new row if it comes after it.
#[test]
fn loom_a_success_between_ends_the_row() {
    loom::model(|| {
        let stand = stand(3);
        stand.call(FAILED);
        stand.call(FAILED);
        let (failing, succeeding) = (stand.admit(), stand.admit());
        let succeed = move |s: &Stand| {
            let settled = s.settle(succeeding, GOOD);
            assert_eq!(settled == Settled::Lost, s.state() == State::Open);
        };
        let fail = move |s: &Stand| assert_eq!(s.settle(failing, FAILED), Settled::Counted);
        beside(stand, succeed, fail, |s| match s.state() {
            State::Open => assert_eq!(s.transitions(), 1),
            _ => assert_eq!((s.failures(), s.transitions()), (1, 0)),
        });
    });
}

/// Failures that open, or successes in between: a row that is broken never opens.
#[test]
fn loom_a_row_with_a_success_in_every_order_opens_only_by_failures_in_a_row() {
    loom::model(|| {
        let stand = stand(2);
        stand.call(GOOD);
        stand.call(GOOD);
        beside(
            stand,
            |s| s.call(FAILED),
            |s| s.call(GOOD),
            |s| {
                assert_eq!(s.state(), State::Closed);
                assert!(s.failures() <= 1);
                s.call(FAILED);
                assert_eq!(s.state() == State::Open, s.failures() == 0);
            },
        );
    });
}

/// B1, CB13: a failure that was admitted before a reset is lost, or counted in the row that the reset ended.
#[test]
fn loom_a_late_failure_does_not_reach_the_next_row() {
    loom::model(|| {
        let stand = stand(3);
        let late = stand.admit();
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
                assert_eq!(s.failures(), 1, "only the failure of the new row");
            },
        );
    });
}
