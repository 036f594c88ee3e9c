//! Limits beside and within each other: which one ends an attempt, and who says so.

use super::tests::{Ends, Permit, deadline, timeout, unwatched};
use super::*;
use crate::contract::Reason;
use crate::testing::pause;
use crate::time::sleep;
use crate::time::testkit::{block_on, poll_once};
use core::cell::{Cell, RefCell};
use core::future::pending;
use core::pin::pin;
use std::panic::{AssertUnwindSafe, catch_unwind};

const MS: fn(u64) -> Nanos = Nanos::from_ms;

#[test]
fn t04_reason_and_name_tell_which_limit_ended_it() {
    for (timeout_ms, deadline_ms, reason, name) in [
        (100, 200, Reason::TimedOut, "timeout"),
        (200, 100, Reason::DeadlineExceeded, "deadline"),
        (100, 100, Reason::DeadlineExceeded, "deadline"),
    ] {
        let (clock, log) = (pause(), Ends::default());
        let limits =
            (timeout("timeout", timeout_ms, &log), deadline("deadline", deadline_ms, &log));
        let mut future = pin!(unwatched(limits, pending::<()>()));
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("99.999999ms");
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("1ns");
        assert_eq!(poll_once(future.as_mut()), Poll::Ready(Err(Rejected::new(reason, name))));
        assert_eq!(log.borrow().len(), 1);
        assert_eq!(clock.timers(), 0);
    }
}

#[test]
fn to07_the_inner_limit_is_passed_on_as_the_inner_one() {
    let (clock, log) = (pause(), Ends::default());
    let mut permit = ();
    let body = limited(&mut permit, timeout("inner", 50, &log), pending::<()>());
    let mut outer_permit = ();
    let mut future = pin!(limited(&mut outer_permit, timeout("outer", 200, &log), body));
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("50ms");
    let inner = Rejected::new(Reason::TimedOut, "inner");
    assert_eq!(poll_once(future.as_mut()), Poll::Ready(Ok(Err(inner))));
    assert_eq!(*log.borrow(), [("inner", Limit::Attempt)]);
}

#[test]
fn to08_of_equal_nested_limits_the_same_one_ends_it_always() {
    for _ in 0..1_000 {
        let (clock, log) = (pause(), Ends::default());
        let (mut inner, mut outer) = ((), ());
        let body = limited(&mut inner, timeout("inner", 100, &log), pending::<()>());
        let mut future = pin!(limited(&mut outer, timeout("outer", 100, &log), body));
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("100ms");
        assert!(matches!(poll_once(future.as_mut()), Poll::Ready(Ok(Err(_)))));
        assert_eq!(*log.borrow(), [("inner", Limit::Attempt)], "timeouts: the inner one");

        log.borrow_mut().clear();
        let (mut inner, mut outer) = ((), ());
        let body = limited(&mut inner, deadline("inner", 100, &log), pending::<()>());
        let mut future = pin!(limited(&mut outer, deadline("outer", 100, &log), body));
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("100ms");
        assert!(matches!(poll_once(future.as_mut()), Poll::Ready(Err(_))));
        assert_eq!(*log.borrow(), [("outer", Limit::Deadline)], "deadlines: the outer one");
    }
}

#[test]
fn to11_without_any_time_the_body_does_not_start() {
    let (clock, log, polled) = (pause(), Ends::default(), Cell::new(false));
    let body = || async { polled.set(true) };
    let none = Err(Rejected::new(Reason::TimedOut, "f"));
    assert_eq!(block_on(unwatched(timeout("f", 0, &log), body())), none);

    let late = deadline("f", 0, &log);
    let over = Err(Rejected::new(Reason::DeadlineExceeded, "f"));
    assert_eq!(block_on(unwatched(late, body())), over);
    clock.advance("1s");
    assert_eq!(block_on(unwatched(late, body())), over);
    assert_eq!(block_on(unwatched((timeout("t", 0, &log), late), body())), over);

    let ambient = late.at.attach(unwatched(timeout("f", 100, &log), body()));
    assert_eq!(block_on(ambient), over, "an ambient one as well");
    assert!(!polled.get());
    assert_eq!(log.borrow().len(), 5, "each is told once");
}

#[test]
fn the_deadline_is_ambient_within_the_body_and_nowhere_else() {
    let (clock, log) = (pause(), Ends::default());
    let limits = deadline("f", 100, &log);
    let seen = RefCell::new(Vec::new());
    let body = async {
        seen.borrow_mut().push(Deadline::current());
        sleep(MS(10)).await;
        seen.borrow_mut().push(Deadline::current());
    };
    let mut future = pin!(unwatched(limits, body));
    assert!(poll_once(future.as_mut()).is_pending());
    assert_eq!(Deadline::current(), Deadline::NEVER);
    clock.advance("10ms");
    assert!(poll_once(future.as_mut()).is_ready());
    assert_eq!(*seen.borrow(), [limits.at, limits.at]);

    let unwound = catch_unwind(AssertUnwindSafe(|| {
        block_on(unwatched(deadline("f", 100, &log), async { panic!("body") }))
    }));
    assert!(unwound.is_err());
    assert_eq!(Deadline::current(), Deadline::NEVER);
}

/// A sooner deadline above ends the call above, which says so; below, that is a caller who went away.
#[test]
fn a_deadline_above_is_left_to_whoever_has_it() {
    for inner_has in ["a timeout", "a deadline"] {
        let (clock, log) = (pause(), Ends::default());
        let (mut permit, mut outer) = (Permit::default(), Permit::default());
        let limits = if inner_has == "a timeout" {
            timeout("inner", 200, &log)
        } else {
            deadline("inner", 200, &log)
        };
        {
            let body = limited(&mut permit, limits, pending::<()>());
            let mut future = pin!(limited(&mut outer, deadline("outer", 100, &log), body));
            assert!(poll_once(future.as_mut()).is_pending());
            clock.advance("100ms");
            let exceeded = Rejected::new(Reason::DeadlineExceeded, "outer");
            assert_eq!(poll_once(future.as_mut()), Poll::Ready(Err(exceeded)), "{inner_has}");
        }
        assert_eq!(
            *log.borrow(),
            [("outer", Limit::Deadline)],
            "one event, of the layer that fired"
        );
        assert!(!permit.overdue, "the inner attempt was given less time than it is judged by");
    }
}

#[test]
fn a_deadline_that_was_carried_into_a_task_is_seen_to_by_the_outermost_attempt_in_it() {
    let (clock, log) = (pause(), Ends::default());
    let carried = deadline("elsewhere", 100, &log).at;
    let (mut inner, mut outer) = ((), ());
    let body = limited(&mut inner, timeout("inner", 300, &log), pending::<()>());
    let task = limited(&mut outer, timeout("outer", 200, &log), body);
    let mut task = pin!(carried.attach(task));
    assert!(poll_once(task.as_mut()).is_pending());
    clock.advance("100ms");
    let exceeded = Rejected::new(Reason::DeadlineExceeded, "outer");
    assert_eq!(poll_once(task.as_mut()), Poll::Ready(Err(exceeded)));
    assert_eq!(*log.borrow(), [("outer", Limit::Deadline)]);
}
