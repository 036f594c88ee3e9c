//! Sync attempts under limits, on the manual clock.
//!
//! Mutants that were tried on `timed.rs` and `time/deadline.rs`, and what caught them:
//!
//! | mutant | caught by |
//! |---|---|
//! | the permit's reading is not used | `t01_…` |
//! | the instant of the limit is late | `t02_to02_…` |
//! | a failure in that instant is returned, or kept | `to07_…` |
//! | with no time left the body begins, or is said to have begun | `to11_…` |
//! | nothing is ambient around the body | `what_ends_first_…` |
//! | a carried deadline is left to nobody, or one that is kept above is judged here | `a_deadline_that_…` |
//! | of equal limits the timeout is named | `t04_…` |
//! | what is kept is not told | `t02_to02_…` |
//! | an end is told before the outcome is dropped | `a_late_outcome_…` |
//! | a sync function claims to drop what is late | `an_async_function_within_…` |

use super::*;
use crate::contract::Reason;
use crate::contract::limited::tests::{Ends, Given, Permit, deadline, timeout};
use crate::testing::{ManualClock, pause};
use crate::time::testkit::poll_once;
use core::cell::Cell;
use core::pin::pin;
use core::task::Poll;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Outcome = Result<u32, &'static str>;

/// Calls a body that takes so long, on this clock.
fn lasting<'a>(
    clock: &ManualClock,
    limits: impl Limits + 'a,
    ms: u64,
    outcome: Outcome,
) -> Timed<impl Limits + 'a, Outcome> {
    call_limited(&mut (), limits, || {
        clock.advance(Nanos::from_ms(ms));
        outcome
    })
}

fn timed_out(name: &'static str) -> Rejected {
    Rejected::new(Reason::TimedOut, name)
}

fn exceeded(name: &'static str) -> Rejected {
    Rejected::new(Reason::DeadlineExceeded, name)
}

#[test]
fn t02_to02_what_is_there_in_the_instant_of_the_limit_came_in_time() {
    let (clock, log) = (pause(), Ends::default());
    for (ms, kept, ended) in [
        (99, (Ok(Ok(7)), false), Ok(Ok(7))),
        (100, (Ok(Ok(7)), false), Ok(Ok(7))),
        (101, (Ok(Ok(7)), true), Err(timed_out("f"))),
    ] {
        assert_eq!(lasting(&clock, timeout("f", 100, &log), ms, Ok(7)).__resil_keep(), kept);
        assert_eq!(lasting(&clock, timeout("f", 100, &log), ms, Ok(7)).__resil_end(), ended);
        assert_eq!(lasting(&clock, timeout("f", 100, &log), ms, Ok(7)).or_ended(), ended);
    }
    let told = [("late", Limit::Attempt), ("f", Limit::Attempt), ("f", Limit::Attempt)];
    assert_eq!(*log.borrow(), told);
}

#[test]
fn to07_a_failure_from_the_instant_of_the_limit_on_is_the_limits() {
    let (clock, log) = (pause(), Ends::default());
    let down = Err("down");
    for (ms, expected) in [(99, Ok(down)), (100, Err(timed_out("f"))), (250, Err(timed_out("f")))] {
        let kept = lasting(&clock, timeout("f", 100, &log), ms, down).__resil_keep();
        assert_eq!(kept, (expected, false));
        assert_eq!(lasting(&clock, timeout("f", 100, &log), ms, down).__resil_end(), expected);
    }
    assert_eq!(log.borrow().len(), 4);
}

#[test]
fn of_an_option_a_late_none_is_a_failure_and_of_a_plain_value_nothing() {
    let (clock, log) = (pause(), Ends::default());
    let late = |ms| clock.advance(Nanos::from_ms(ms));
    let option = |value: Option<u32>| {
        call_limited(&mut (), timeout("f", 10, &log), || {
            late(11);
            value
        })
    };
    assert_eq!(option(Some(7)).__resil_keep(), (Ok(Some(7)), true));
    assert_eq!(option(None).__resil_keep(), (Err(timed_out("f")), false));
    assert_eq!(option(Some(7)).__resil_end(), Err(timed_out("f")));
    let plain = || call_limited(&mut (), timeout("f", 10, &log), || late(11));
    assert_eq!(plain().__resil_keep(), (Ok(()), true));
    assert_eq!(plain().__resil_end(), Err(timed_out("f")));
}

#[test]
fn t04_the_limit_that_was_there_first_is_named() {
    for (timeout_ms, deadline_ms, ended) in [
        (100, 200, timed_out("timeout")),
        (200, 100, exceeded("deadline")),
        (100, 100, exceeded("deadline")),
    ] {
        let (clock, log) = (pause(), Ends::default());
        let limits =
            (timeout("timeout", timeout_ms, &log), deadline("deadline", deadline_ms, &log));
        assert_eq!(lasting(&clock, limits, 300, Err("down")).__resil_keep(), (Err(ended), false));
        assert_eq!(log.borrow().len(), 1);
    }
}

#[test]
fn t01_the_time_begins_with_the_permits_reading_or_at_the_call() {
    let (clock, log) = (pause(), Ends::default());
    let mut permit = Permit { begun: Some(now()), ..Permit::default() };
    clock.advance("60ms");
    let before = clock.readings();
    let limits = timeout("f", 100, &log);
    let ended = call_limited(&mut permit, limits, || clock.advance("50ms")).or_ended();
    assert_eq!(ended, Err(timed_out("f")));
    assert_eq!(clock.readings() - before, 1, "none at the beginning");
    assert!(!permit.running && permit.polls == 1);

    let before = clock.readings();
    let ended = call_limited(&mut (), limits, || clock.advance("100ms")).or_ended();
    assert_eq!((ended, clock.readings() - before), (Ok(()), 2));
}

#[test]
fn to11_with_no_time_left_the_body_does_not_begin() {
    let (clock, log) = (pause(), Ends::default());
    let ran = Cell::new(false);
    let call = |limits: Given<'_>| {
        let timed = call_limited(&mut (), limits, || ran.set(true));
        timed.or_ended().expect_err("no time")
    };
    let at_once = call(timeout("f", 0, &log));
    assert_eq!((at_once, at_once.has_begun()), (timed_out("f"), false));
    let passed = deadline("f", 10, &log);
    clock.advance("10ms");
    assert_eq!(call(passed), exceeded("f"));
    let _outer = Ambient::current().watch(passed.at, owner(&passed, Limit::Deadline));
    let inner = call(timeout("inner", 0, &log));
    assert_eq!((inner, inner.has_begun()), (exceeded("inner"), false), "the wider one is named");
    assert!(!ran.get());
    assert_eq!(log.borrow().len(), 3);
}

/// The first to end is what the body sees, and what it was before is restored, also by a panic.
#[test]
fn what_ends_first_is_ambient_around_the_body() {
    let (clock, log) = (pause(), Ends::default());
    let left = || Deadline::current().remaining().map(|left| left.as_millis());
    let within = |limits: (Given<'_>, Given<'_>)| {
        call_limited(&mut (), limits, || (left(), Ambient::current().owner())).or_ended().unwrap()
    };
    let sooner = within((timeout("timeout", 30, &log), deadline("deadline", 50, &log)));
    assert_eq!(sooner, (Some(30), crate::time::Owner { name: "timeout", attempt: true }));
    let later = within((timeout("timeout", 80, &log), deadline("deadline", 50, &log)));
    assert_eq!(later, (Some(50), crate::time::Owner { name: "deadline", attempt: false }));
    let nested = call_limited(&mut (), timeout("outer", 20, &log), || {
        clock.advance("5ms");
        within((timeout("timeout", 30, &log), deadline("deadline", 50, &log)))
    });
    let outer = crate::time::Owner { name: "outer", attempt: true };
    assert_eq!(nested.or_ended(), Ok((Some(15), outer)));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        call_limited(&mut (), timeout("f", 10, &log), || panic!("in the body"))
    }));
    assert!(panicked.is_err());
    assert_eq!(Deadline::current(), Deadline::NEVER);
}

#[test]
fn b27_a_panic_leaves_the_flag_up() {
    let (_clock, log) = (pause(), Ends::default());
    let mut permit = Permit::default();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        call_limited(&mut permit, timeout("f", 10, &log), || panic!("in the body"))
    }));
    assert!(panicked.is_err() && permit.running);
}

/// Whose callers' time is up has not failed by that; who called answers for it.
#[test]
fn a_deadline_that_a_function_above_keeps_is_left_to_that_one() {
    let (clock, log) = (pause(), Ends::default());
    let outer = call_limited(&mut (), timeout("outer", 50, &log), || {
        let inner = lasting(&clock, deadline("inner", 100, &log), 70, Err("down"));
        assert_eq!(inner.__resil_keep(), (Ok(Err("down")), false));
        Outcome::Err("down")
    });
    assert_eq!(outer.__resil_keep(), (Err(timed_out("outer")), false));
    assert_eq!(*log.borrow(), [("outer", Limit::Attempt)]);
}

/// Equal limits within each other: both were not kept to, and the caller hears of the outer one.
#[test]
fn to08_of_equal_nested_limits_each_is_told_and_the_outer_one_is_named() {
    for _ in 0..1_000 {
        let (clock, log) = (pause(), Ends::default());
        let outer = call_limited(&mut (), timeout("outer", 50, &log), || {
            lasting(&clock, timeout("inner", 50, &log), 70, Err("down")).__resil_end()
        });
        assert_eq!(outer.__resil_end(), Err(timed_out("outer")));
        assert_eq!(*log.borrow(), [("inner", Limit::Attempt), ("outer", Limit::Attempt)]);
    }
}

#[test]
fn a_deadline_that_was_carried_here_is_kept_here() {
    let (clock, log) = (pause(), Ends::default());
    let carried = Deadline::after(core::time::Duration::from_millis(50));
    let mut task = pin!(carried.attach(async {
        lasting(&clock, timeout("f", 100, &log), 70, Err("down")).__resil_keep()
    }));
    assert_eq!(poll_once(task.as_mut()), Poll::Ready((Err(exceeded("f")), false)));
    assert_eq!(*log.borrow(), [("f", Limit::Deadline)]);
}

/// An async function within a sync one has nobody above who would drop it: it ends itself.
#[test]
fn an_async_function_within_ends_itself_when_the_callers_time_is_up() {
    let (clock, log) = (pause(), Ends::default());
    let outer = call_limited(&mut (), timeout("outer", 50, &log), || {
        let mut permit = ();
        let body = core::future::pending::<()>();
        let mut inner =
            pin!(crate::contract::limited(&mut permit, timeout("inner", 100, &log), body));
        assert!(poll_once(inner.as_mut()).is_pending());
        clock.advance("50ms");
        poll_once(inner.as_mut())
    });
    assert_eq!(outer.or_ended(), Ok(Poll::Ready(Err(exceeded("inner")))));
}

#[test]
fn a_limit_beyond_all_time_costs_one_reading() {
    let (clock, log) = (pause(), Ends::default());
    let limits = Given { span: Some(Nanos::MAX), ..timeout("f", 0, &log) };
    let before = clock.readings();
    let outcome = call_limited(&mut (), limits, || clock.advance("1000d"));
    assert_eq!((outcome.or_ended(), clock.readings() - before), (Ok(()), 1));
}

#[test]
fn a_late_outcome_is_dropped_before_anybody_hears_of_it() {
    struct Dropped<'a>(&'a Cell<bool>);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    #[derive(Clone, Copy)]
    struct Check<'a>(&'a Cell<bool>);
    impl Limits for Check<'_> {
        fn attempt(&self) -> Option<Nanos> {
            Some(Nanos::MILLI)
        }
        fn deadline(&self) -> Deadline {
            Deadline::NEVER
        }
        fn deadline_span(&self) -> Nanos {
            Nanos::MAX
        }
        fn name(&self, _by: Limit) -> &'static str {
            "f"
        }
        fn ended(&self, _by: Limit) -> Rejected {
            assert!(self.0.get(), "already dropped");
            timed_out("f")
        }
        fn late(&self, _by: Limit) {
            unreachable!("nothing is kept")
        }
    }
    let (clock, dropped) = (pause(), Cell::new(false));
    let timed = call_limited(&mut (), Check(&dropped), || {
        clock.advance("2ms");
        Dropped(&dropped)
    });
    assert!(timed.or_ended().is_err());
}
