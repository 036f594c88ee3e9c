//! Attempts under limits: on the manual clock where time matters, and once on the real timer.
//!
//! Mutants that were tried on `limited.rs`, `attempt.rs` and `time/deadline.rs`, and what caught them:
//!
//! | mutant | caught by |
//! |---|---|
//! | the clock is looked at before the body | `t02_to02_…` |
//! | the timer is armed before the first poll | `t10_…` |
//! | the permit's reading is not used | `t01_or_from_the_reading_…` |
//! | the end is told before the body is dropped | `t03_…` |
//! | every end is a timeout's | `t04_…` |
//! | a deadline enforced above, or an equal one, is fired here | `a_deadline_above_…`, `to08_…` |
//! | a carried deadline is fired by all or none within | `a_deadline_that_was_carried_…` |
//! | no time at all, or a deadline that has passed, lets the body start | `to11_…` |
//! | due only after its instant | `t06_…` and ten more |
//! | the timer is not renewed | `the_timer_wakes_the_task_that_polled_last`, `a_clock_that_goes_back_…` |
//! | the timer stays armed after the end | `b28_an_attempt_that_has_ended_…` |
//! | overdue is told never, at every drop, or after the end | `b28_…` |
//! | the flag goes up after the call | `b27_…` |
//! | the ambient deadline is not set, not restored, or widened | `the_deadline_is_ambient_…`, `time::deadline::tests` |
//! | blocking polls are reported never, or twice | `t09_…` |

use super::*;
use crate::contract::Reason;
use crate::time::testkit::block_on;
use core::cell::RefCell;
use core::future::{pending, ready};

/// An attempt under no permit.
#[cfg(feature = "test-util")]
pub(super) fn unwatched<L: Limits, F: Future>(limits: L, body: F) -> Limited<'static, (), L, F> {
    limited(Box::leak(Box::new(())), limits, body)
}

/// Limits as wanted, which write down how they ended.
#[derive(Clone, Copy)]
pub(in crate::contract) struct Given<'a> {
    pub(in crate::contract) span: Option<Nanos>,
    pub(in crate::contract) at: Deadline,
    pub(in crate::contract) name: &'static str,
    pub(in crate::contract) log: &'a RefCell<Vec<(&'static str, Limit)>>,
}

pub(in crate::contract) type Ends = RefCell<Vec<(&'static str, Limit)>>;

pub(in crate::contract) fn timeout<'a>(name: &'static str, ms: u64, log: &'a Ends) -> Given<'a> {
    Given { span: Some(Nanos::from_ms(ms)), at: Deadline::NEVER, name, log }
}

#[cfg(feature = "test-util")]
pub(in crate::contract) fn deadline<'a>(name: &'static str, ms: u64, log: &'a Ends) -> Given<'a> {
    Given { span: None, at: Deadline::at_instant(now().plus(Nanos::from_ms(ms))), name, log }
}

impl Limits for Given<'_> {
    fn attempt(&self) -> Option<Nanos> {
        self.span
    }

    fn deadline(&self) -> Deadline {
        self.at
    }

    fn deadline_span(&self) -> Nanos {
        Nanos::from_ms(100)
    }

    fn name(&self, _by: Limit) -> &'static str {
        self.name
    }

    fn ended(&self, by: Limit) -> Rejected {
        self.log.borrow_mut().push((self.name, by));
        let reason = match by {
            Limit::Attempt => Reason::TimedOut,
            Limit::Deadline => Reason::DeadlineExceeded,
        };
        Rejected::new(reason, self.name)
    }

    fn late(&self, by: Limit) {
        self.log.borrow_mut().push(("late", by));
    }
}

/// A permit that remembers what it was told.
#[derive(Default, Debug, PartialEq)]
pub(in crate::contract) struct Permit {
    pub(in crate::contract) running: bool,
    pub(in crate::contract) polls: u32,
    pub(in crate::contract) overdue: bool,
    pub(in crate::contract) begun: Option<Nanos>,
}

impl Watched for Permit {
    fn running(&mut self, running: bool) {
        assert_ne!(self.running, running, "up and down in turn");
        self.running = running;
        self.polls += u32::from(running);
    }

    fn overdue(&mut self) {
        assert!(!self.overdue, "told once");
        self.overdue = true;
    }

    fn begun(&self) -> Option<Nanos> {
        self.begun
    }
}

#[test]
fn a_body_that_waits_for_ever_is_ended_without_any_runtime() {
    let (log, mut permit) = (Ends::default(), Permit::default());
    let begin = now();
    let ended = block_on(limited(&mut permit, timeout("f", 2, &log), pending::<()>()));
    assert!(now().since(begin) >= Nanos::from_ms(2));
    assert_eq!(ended, Err(Rejected::new(Reason::TimedOut, "f")));
    assert_eq!(*log.borrow(), [("f", Limit::Attempt)]);
    assert!(!permit.running && !permit.overdue && permit.polls >= 2);
}

#[test]
fn a_ready_body_is_polled_once_and_the_flag_goes_up_and_down() {
    let (log, mut permit) = (Ends::default(), Permit::default());
    assert_eq!(block_on(limited(&mut permit, timeout("f", 2, &log), ready(7))), Ok(7));
    assert_eq!(permit, Permit { polls: 1, ..Permit::default() });
    assert_eq!(super::super::call(&mut permit, || 8), 8);
    assert_eq!(block_on(super::super::attempt(&mut permit, ready(9))), 9);
    assert_eq!((permit.polls, permit.running), (3, false));
}

#[test]
fn b27_a_panic_leaves_the_flag_up() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    let log = Ends::default();
    for which in 0..3 {
        let mut permit = Permit::default();
        let unwound = catch_unwind(AssertUnwindSafe(|| match which {
            0 => super::super::call(&mut permit, || panic!("body")),
            1 => block_on(super::super::attempt(&mut permit, async { panic!("body") })),
            _ => drop(block_on(limited(&mut permit, timeout("f", 2, &log), async {
                panic!("body")
            }))),
        }));
        assert!(unwound.is_err());
        assert!(permit.running && !permit.overdue);
    }
    assert!(log.borrow().is_empty());
    assert_eq!(Deadline::current(), Deadline::NEVER);
}

#[test]
fn a_guarded_future_is_send_where_its_body_is() {
    fn is_send<T: Send>(_: &T) {}
    struct Free;
    impl Limits for Free {
        fn attempt(&self) -> Option<Nanos> {
            None
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
            unreachable!("nothing ends it")
        }
        fn late(&self, _by: Limit) {
            unreachable!("async")
        }
    }
    let mut permit = Permit::default();
    let body = async {
        is_send(&crate::time::sleep(Nanos::ZERO).await);
        Deadline::current().attach(ready(())).await;
    };
    let future = limited(&mut permit, Free, body);
    is_send(&future);
    assert_eq!(block_on(future), Ok(()));
}

/// What a limit adds to the future of a body.
#[test]
#[cfg(not(feature = "test-util"))]
fn a_timeout_adds_forty_bytes_to_the_body() {
    fn size_beside<L: Limits, F: Future>(limits: L, body: F) -> usize {
        let body_size = size_of::<F>();
        let mut permit = ();
        let future = limited(&mut permit, limits, body);
        size_of_val(&future) - body_size
    }
    struct Bare {
        _timeout: &'static (),
        span: Nanos,
    }
    impl Limits for Bare {
        fn attempt(&self) -> Option<Nanos> {
            Some(self.span)
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
            Rejected::new(Reason::TimedOut, "f")
        }
        fn late(&self, _by: Limit) {
            unreachable!("async")
        }
    }
    let bare = || Bare { _timeout: &(), span: Nanos(1) };
    let small = async {};
    let large = async {
        let held = [1_u8; 1024];
        core::future::ready(()).await;
        core::hint::black_box(held);
    };
    assert_eq!(size_beside(bare(), small), 7 + 40, "seven are padding behind a body of one byte");
    assert_eq!(size_beside(bare(), large) & !7, 40);
    assert_eq!(size_of::<Timer>(), 8);
}
