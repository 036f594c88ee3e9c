//! One attempt and its clock: when the time begins, when it is up, and what that costs.

use super::tests::{Ends, Given, Permit, timeout, unwatched};
use super::*;
use crate::contract::{Reason, call};
use crate::testing::pause;
use crate::time::testkit::{Wakes, block_on, poll_once};
use crate::time::{sleep, sleep_blocking};
use core::cell::Cell;
use core::future::{pending, ready};
use core::pin::pin;

const MS: fn(u64) -> Nanos = Nanos::from_ms;

/// Counts the times it is dropped.
struct Dropped<'a>(&'a Cell<u32>);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn t10_a_ready_body_touches_neither_clock_nor_timer() {
    let (clock, log) = (pause(), Ends::default());
    assert_eq!(block_on(unwatched(timeout("f", 100, &log), ready(1))), Ok(1));
    assert_eq!((clock.readings(), clock.timers()), (0, 0));
}

#[test]
fn a_pending_body_reads_the_clock_once_a_poll_and_arms_one_timer() {
    let (clock, log) = (pause(), Ends::default());
    let mut future = pin!(unwatched(timeout("f", 100, &log), pending::<()>()));
    for polls in 1..4 {
        assert!(poll_once(future.as_mut()).is_pending());
        assert_eq!((clock.readings(), clock.timers()), (polls, 1));
    }
}

#[test]
fn t01_the_time_counts_from_the_first_poll_that_pends() {
    let (clock, log) = (pause(), Ends::default());
    let mut future = pin!(unwatched(timeout("f", 100, &log), pending::<()>()));
    clock.advance("50ms");
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("99ms");
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("1ms");
    assert!(poll_once(future.as_mut()).is_ready());
}

#[test]
fn t01_or_from_the_reading_that_its_permit_took() {
    let (clock, log) = (pause(), Ends::default());
    let mut permit = Permit { begun: Some(now()), ..Permit::default() };
    clock.advance("50ms");
    let before = clock.readings();
    let mut future = pin!(limited(&mut permit, timeout("f", 100, &log), pending::<()>()));
    assert!(poll_once(future.as_mut()).is_pending());
    assert_eq!(clock.readings(), before);
    clock.advance("50ms");
    assert!(poll_once(future.as_mut()).is_ready());
}

#[test]
fn t02_to02_a_result_that_is_ready_when_the_time_is_up_wins() {
    for (body_ms, in_time) in [(99, true), (100, true), (101, false)] {
        let (clock, log) = (pause(), Ends::default());
        let mut future = pin!(unwatched(timeout("f", 100, &log), sleep(MS(body_ms))));
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("100ms");
        match poll_once(future.as_mut()) {
            Poll::Ready(outcome) => assert_eq!(outcome.is_ok(), in_time, "{body_ms} ms"),
            Poll::Pending => assert!(!in_time, "{body_ms} ms"),
        }
    }
}

#[test]
fn t06_limits_far_below_a_millisecond_are_kept() {
    let (clock, log) = (pause(), Ends::default());
    let limit = Given { span: Some(Nanos(200_000)), ..timeout("f", 0, &log) };
    let mut future = pin!(unwatched(limit, pending::<()>()));
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("199us");
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("1us");
    assert!(poll_once(future.as_mut()).is_ready());
}

#[test]
fn t03_the_body_is_dropped_before_anybody_hears_of_its_end() {
    struct Check<'a>(&'a Cell<u32>);
    impl Limits for Check<'_> {
        fn attempt(&self) -> Option<Nanos> {
            Some(MS(100))
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
            assert_eq!(self.0.get(), 1, "already dropped");
            Rejected::new(Reason::TimedOut, "f")
        }
        fn late(&self, _by: Limit) {
            unreachable!("async")
        }
    }
    let (clock, drops) = (pause(), Cell::new(0));
    let held = Dropped(&drops);
    let body = async move {
        let _held = held;
        pending::<()>().await;
    };
    let mut future = pin!(unwatched(Check(&drops), body));
    assert!(poll_once(future.as_mut()).is_pending());
    clock.advance("100ms");
    assert!(poll_once(future.as_mut()).is_ready());
    assert_eq!(drops.get(), 1);
}

#[test]
fn to05_each_attempt_has_its_own_time() {
    let (clock, log) = (pause(), Ends::default());
    let begin = now();
    for attempt in 1..=3 {
        let mut future = pin!(unwatched(timeout("f", 100, &log), pending::<()>()));
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("99ms");
        assert!(poll_once(future.as_mut()).is_pending());
        clock.advance("1ms");
        assert!(poll_once(future.as_mut()).is_ready());
        assert_eq!(now().since(begin), MS(attempt * 100));
    }
}

#[test]
fn to06_neighbours_end_each_on_its_own() {
    let (clock, log) = (pause(), Ends::default());
    let mut a = pin!(unwatched(timeout("f", 200, &log), pending::<()>()));
    let mut b = pin!(unwatched(timeout("f", 200, &log), sleep(MS(150))));
    assert!(poll_once(a.as_mut()).is_pending());
    clock.advance("100ms");
    assert!(poll_once(b.as_mut()).is_pending());
    clock.advance("100ms");
    assert!(matches!(poll_once(a.as_mut()), Poll::Ready(Err(_))));
    assert!(poll_once(b.as_mut()).is_pending());
    clock.advance("50ms");
    assert_eq!(poll_once(b.as_mut()), Poll::Ready(Ok(())));
}

#[test]
fn b28_dropped_when_the_time_was_up_is_told_to_the_permit_and_dropped_before_is_not() {
    let (clock, log) = (pause(), Ends::default());
    for (wait, overdue) in [("99ms", false), ("100ms", true), ("1h", true)] {
        let mut permit = Permit::default();
        {
            let mut future = pin!(limited(&mut permit, timeout("f", 100, &log), pending::<()>()));
            assert!(poll_once(future.as_mut()).is_pending());
            clock.advance(wait);
        }
        assert_eq!(permit.overdue, overdue, "{wait}");
        assert!(!permit.running);
    }
    let mut permit = Permit::default();
    drop(limited(&mut permit, timeout("f", 100, &log), pending::<()>()));
    assert!(!permit.overdue, "never polled");
    assert!(log.borrow().is_empty(), "a drop is not an end");
    assert_eq!(clock.timers(), 0);
}

#[test]
fn b28_an_attempt_that_has_ended_is_not_overdue_afterwards() {
    let (clock, log, mut permit) = (pause(), Ends::default(), Permit::default());
    {
        let mut done = pin!(limited(&mut permit, timeout("f", 100, &log), sleep(MS(50))));
        assert!(poll_once(done.as_mut()).is_pending());
        clock.advance("50ms");
        assert!(poll_once(done.as_mut()).is_ready());
        assert_eq!(clock.timers(), 0, "its timer goes before it does");
        clock.advance("1s");
    }
    {
        let mut ended = pin!(limited(&mut permit, timeout("f", 100, &log), pending::<()>()));
        assert!(poll_once(ended.as_mut()).is_pending());
        clock.advance("1s");
        assert!(poll_once(ended.as_mut()).is_ready());
        clock.advance("1s");
    }
    assert!(!permit.overdue);
}

#[test]
fn the_timer_wakes_the_task_that_polled_last() {
    let (clock, log) = (pause(), Ends::default());
    let ((first, first_waker), (second, second_waker)) = (Wakes::pair(), Wakes::pair());
    let mut future = pin!(unwatched(timeout("f", 100, &log), pending::<()>()));
    assert!(future.as_mut().poll(&mut Context::from_waker(&first_waker)).is_pending());
    assert!(future.as_mut().poll(&mut Context::from_waker(&second_waker)).is_pending());
    clock.advance("100ms");
    assert_eq!((first.times(), second.times()), (0, 1));
}

#[test]
fn a_clock_that_goes_back_ends_nothing_early_and_loses_no_timer() {
    let (clock, log) = (pause(), Ends::default());
    let (woken, waker) = Wakes::pair();
    let mut cx = Context::from_waker(&waker);
    let begin = now();
    let mut future = pin!(unwatched(timeout("f", 100, &log), pending::<()>()));
    assert!(future.as_mut().poll(&mut cx).is_pending());
    clock.set("1s");
    assert!(future.as_mut().poll(&mut cx).is_pending());
    clock.set(begin.plus(MS(100)));
    assert_eq!(woken.times(), 1);
    clock.set(begin);
    assert!(future.as_mut().poll(&mut cx).is_pending(), "went off, and it is not time any more");
    clock.set(begin.plus(MS(100)));
    assert_eq!(woken.times(), 2, "armed again");
    assert!(future.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn a_sync_body_is_called_whatever_the_clock_says() {
    let (clock, mut permit) = (pause(), Permit::default());
    let outcome = call(&mut permit, || {
        sleep_blocking(MS(20));
        5
    });
    assert_eq!((outcome, clock.readings(), permit.polls), (5, 0, 1));
}

#[test]
fn t09_a_poll_that_blocks_is_reported_once() {
    use crate::contract::{Event, recorded};
    let (_clock, log) = (pause(), Ends::default());
    let (mut inner, mut outer) = ((), ());
    let body = async {
        let begin = std::time::Instant::now();
        while begin.elapsed() < core::time::Duration::from_millis(11) {
            core::hint::spin_loop();
        }
    };
    let body = limited(&mut inner, timeout("inner", 100, &log), body);
    let outer = limited(&mut outer, timeout("outer", 100, &log), body);
    let (outcome, events) = recorded(|| block_on(outer));
    assert_eq!(outcome, Ok(Ok(())));
    let blocked =
        |event: &&Event| matches!(event, Event::BlockingPoll { took } if took.as_millis() >= 11);
    assert_eq!(events.iter().filter(blocked).count(), 1);
}
