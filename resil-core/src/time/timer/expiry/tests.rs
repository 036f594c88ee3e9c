//! Hooks on the real thread of the timer, and on the manual clock. A thread may stand still for any time between two steps, so no
//! test of the former says how far a scope gets before its time is up.
//!
//! Mutants that were tried, and what caught them:
//!
//! | mutant | caught by |
//! |---|---|
//! | a deadline that has passed is armed like any other | `what_has_passed_already_…` |
//! | a hook's panic is not caught | the tests hang: the daemon has ended |
//! | tokio's paused clock is taken for a running one | `while_tokios_clock_is_paused_…` |

use super::*;
use crate::rng;
use crate::time::{Ambient, Deadline, Nanos, Owner, Timer, now};
use core::hint::spin_loop;
use core::task::Waker;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;

const OWNER: Owner = Owner { name: "test", attempt: true };
const HOUR: Nanos = Nanos::from_ms(3_600_000);

/// Runs `body` with so much time left.
fn within<R>(span: Nanos, body: impl FnOnce() -> R) -> R {
    let _scope = Ambient::current().watch(Deadline::at_instant(now().plus(span)), OWNER);
    body()
}

/// A hook that raises a flag, and a body that waits for it.
fn until_it_runs(flag: &AtomicBool) {
    with_expiry(
        || flag.store(true, SeqCst),
        || {
            while !flag.load(SeqCst) {
                thread::yield_now();
            }
        },
    );
}

#[test]
fn a_hook_ends_a_body_that_blocks_and_not_before_its_time() {
    let (tell, told) = mpsc::channel();
    let begin = now();
    let ran = within(Nanos::from_ms(5), || {
        with_expiry(|| tell.send(now()).expect("somebody waits"), || told.recv())
    });
    assert!(ran.expect("told").since(begin) >= Nanos::from_ms(5));
}

#[test]
fn a_hook_that_is_sooner_than_all_else_wakes_the_daemon() {
    let mut timer = Timer::new();
    timer.arm_at(now().plus(HOUR), Waker::noop());
    // The daemon sleeps by now, or will without knowing of the scope.
    thread::yield_now();
    for _ in 0..20 {
        within(Nanos(300_000), || until_it_runs(&AtomicBool::new(false)));
    }
}

#[test]
fn without_a_deadline_there_is_only_the_body() {
    let ran = AtomicBool::new(false);
    assert_eq!(with_expiry(|| ran.store(true, SeqCst), || 7), 7);
    assert!(!ran.into_inner());
}

#[test]
fn what_has_passed_already_runs_at_once_on_this_thread_and_then_the_body() {
    let ran_on = Mutex::new(None);
    let here = within(Nanos::ZERO, || {
        let hook = || *ran_on.lock().unwrap() = Some(thread::current().id());
        with_expiry(hook, || *ran_on.lock().unwrap())
    });
    assert_eq!(here, Some(thread::current().id()));
}

#[test]
fn a_hook_that_was_not_needed_is_dropped_unrun_when_the_scope_ends() {
    struct Dropped<'a>(&'a AtomicBool);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }
    let (ran, dropped) = (AtomicBool::new(false), AtomicBool::new(false));
    let held = Dropped(&dropped);
    within(HOUR, || {
        let hook = || {
            let _held = held;
            ran.store(true, SeqCst);
        };
        with_expiry(hook, || assert!(!dropped.load(SeqCst)));
    });
    assert!(dropped.into_inner() && !ran.into_inner());
}

/// Scopes that end about when their time does, on more threads than processors.
#[test]
fn to09_no_hook_runs_twice_or_outside_of_its_scope() {
    const THREADS: u64 = 4;
    const ROUNDS: u32 = 4_000;
    let (ran, unrun) = (AtomicU32::new(0), AtomicU32::new(0));
    thread::scope(|scope| {
        for seed in 0..THREADS {
            let (ran, unrun) = (&ran, &unrun);
            scope.spawn(move || {
                rng::seed(seed);
                for round in 0..ROUNDS {
                    let inside = AtomicBool::new(true);
                    let (runs, outside) = (AtomicU32::new(0), AtomicBool::new(false));
                    let hook = || {
                        runs.fetch_add(1, SeqCst);
                        if !inside.load(SeqCst) {
                            outside.store(true, SeqCst);
                        }
                    };
                    let span = Nanos(20_000 + rng::below(60_000));
                    let lasts = Nanos(rng::below(120_000));
                    let begin = now();
                    within(span, || {
                        with_expiry(hook, || {
                            while now().since(begin) < lasts {
                                spin_loop();
                            }
                        });
                    });
                    inside.store(false, SeqCst);
                    let runs = runs.into_inner();
                    assert!(runs <= 1 && !outside.into_inner(), "round {round}");
                    if runs == 1 { ran } else { unrun }.fetch_add(1, SeqCst);
                }
            });
        }
    });
    let (ran, unrun) = (ran.into_inner(), unrun.into_inner());
    assert!(ran > 100 && unrun > 100, "both happened often: {ran} and {unrun}");
}

#[test]
fn who_leaves_while_the_hook_runs_waits_for_it() {
    let (begun, leaving, ended) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let wait_for = |flag: &AtomicBool| {
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    };
    let here = thread::current().id();
    within(Nanos::MILLI, || {
        let hook = || {
            begun.store(true, SeqCst);
            if thread::current().id() == here {
                return ended.store(true, SeqCst); // the time was up before the scope began
            }
            wait_for(&leaving);
            // Long enough for the other thread to be gone if it did not wait.
            (0..100).for_each(|_| thread::yield_now());
            ended.store(true, SeqCst);
        };
        let body = || {
            wait_for(&begun);
            leaving.store(true, SeqCst);
        };
        with_expiry(hook, body);
        assert!(ended.load(SeqCst));
    });
}

#[test]
fn a_hook_that_panics_is_counted_and_the_body_goes_on() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            resume_unwind(Box::new("in the payload's drop"));
        }
    }
    let before = hook_panics();
    for span in [Nanos::ZERO, Nanos::MILLI] {
        let ran = AtomicBool::new(false);
        let seven = within(span, || {
            let hook = || {
                ran.store(true, SeqCst);
                // Without the message that `panic!` would print from another thread.
                resume_unwind(Box::new(Payload));
            };
            with_expiry(hook, || {
                while !ran.load(SeqCst) {
                    thread::yield_now();
                }
                7
            })
        });
        assert_eq!(seven, 7);
    }
    assert_eq!(hook_panics() - before, 2);
    within(Nanos::MILLI, || until_it_runs(&AtomicBool::new(false)));
}

#[test]
fn a_body_that_panics_leaves_nothing_armed() {
    for _ in 0..super::seats::SLOTS * 3 {
        let ran = AtomicBool::new(false);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            within(Nanos::MILLI, || {
                with_expiry(|| ran.store(true, SeqCst), || resume_unwind(Box::new("in the body")))
            })
        }));
        assert!(unwound.is_err());
        let by_then = ran.load(SeqCst);
        // A later scope of the same place, which the daemon has to look at, after the time of the first.
        within(Nanos::from_ms(2), || until_it_runs(&AtomicBool::new(false)));
        assert_eq!(ran.load(SeqCst), by_then);
    }
}

/// So many scopes within each other, which all end at once; whose hooks ran.
fn nested(depth: usize) -> Vec<usize> {
    fn enter(depth: usize, all: usize, ran: &Mutex<Vec<usize>>) {
        with_expiry(
            || ran.lock().unwrap().push(depth),
            || {
                if depth < all {
                    return enter(depth + 1, all, ran);
                }
                while ran.lock().unwrap().len() < all {
                    thread::yield_now();
                }
            },
        );
    }
    let ran = Mutex::new(Vec::new());
    within(Nanos::from_ms(2), || enter(1, depth, &ran));
    let mut ran = ran.into_inner().unwrap();
    ran.sort_unstable();
    ran
}

#[test]
fn scopes_within_each_other_run_each_its_hook_where_there_is_a_place_and_where_not() {
    assert_eq!(nested(4), [1, 2, 3, 4]);
    assert_eq!(nested(9), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn an_inner_scope_that_is_sooner_runs_alone() {
    let outer_ran = AtomicBool::new(false);
    within(HOUR, || {
        with_expiry(
            || outer_ran.store(true, SeqCst),
            || within(Nanos::MILLI, || until_it_runs(&AtomicBool::new(false))),
        );
    });
    assert!(!outer_ran.load(SeqCst));
}

#[test]
fn more_threads_than_there_are_seats_are_watched_all_the_same() {
    const THREADS: usize = 80;
    let (all_in, all_out) = (Barrier::new(THREADS), Barrier::new(THREADS));
    let too_soon = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                within(HOUR, || with_expiry(|| too_soon.store(true, SeqCst), || all_in.wait()));
                assert_eq!(scope::leased(), 64, "everybody has one, or has found none");
                all_out.wait();
                within(Nanos::MILLI, || until_it_runs(&AtomicBool::new(false)));
                // Nobody ends, and so frees a seat, before all have looked.
                all_out.wait();
            });
        }
    });
    // Others may have some.
    for _ in 0..THREADS {
        let ended = thread::spawn(|| within(HOUR, || with_expiry(|| (), || ())));
        ended.join().expect("it ends");
    }
    assert!(scope::leased() < 64, "they are given back");
    assert!(!too_soon.into_inner());
}

#[cfg(feature = "test-util")]
mod on_a_test_clock {
    use super::*;
    use crate::testing::pause;
    use crate::time::sleep_blocking;

    /// When a hook ran, and on which thread.
    type Ran = Mutex<Option<(Nanos, thread::ThreadId)>>;

    fn note(ran: &Ran) {
        *ran.lock().unwrap() = Some((now(), thread::current().id()));
    }

    #[test]
    fn it_runs_on_the_thread_that_advances_the_clock_past_it() {
        let (clock, ran) = (pause(), Ran::default());
        let due = now().plus(Nanos::from_ms(100));
        within(Nanos::from_ms(100), || {
            with_expiry(
                || note(&ran),
                || {
                    clock.advance("99ms");
                    assert_eq!(*ran.lock().unwrap(), None);
                    sleep_blocking(Nanos::from_ms(5));
                    assert_eq!(*ran.lock().unwrap(), Some((due, thread::current().id())));
                },
            );
        });
        assert_eq!(clock.timers(), 0);
    }

    #[test]
    fn another_thread_that_shares_the_clock_runs_it_too() {
        let (clock, ran) = (pause(), Ran::default());
        let handle = &*clock;
        within(Nanos::from_ms(100), || {
            let body = || {
                thread::scope(|scope| {
                    let other = scope.spawn(|| {
                        let _installed = handle.install();
                        handle.advance("100ms");
                        thread::current().id()
                    });
                    other.join().unwrap()
                })
            };
            let other = with_expiry(|| note(&ran), body);
            assert_eq!(ran.lock().unwrap().unwrap().1, other);
        });
    }

    #[test]
    fn it_does_not_run_after_its_scope_and_leaves_no_timer() {
        let (clock, ran) = (pause(), Ran::default());
        within(Nanos::from_ms(100), || {
            with_expiry(|| note(&ran), || clock.advance("99ms"));
        });
        assert_eq!(clock.timers(), 0);
        clock.advance("1h");
        assert_eq!(ran.into_inner().unwrap(), None);
        let panics = hook_panics();
        within(Nanos::from_ms(1), || {
            with_expiry(|| resume_unwind(Box::new("hook")), || clock.advance("1ms"));
        });
        assert!(hook_panics() > panics);
    }

    fn in_a_runtime<R>(paused: bool, body: impl FnOnce() -> R) -> R {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(paused).build().expect("a runtime");
        runtime.block_on(async { body() })
    }

    #[test]
    fn while_tokios_clock_is_paused_nobody_runs_it() {
        let ran = AtomicBool::new(false);
        // In real time: when a hook of another thread has run that was armed later, and for later.
        let elsewhere = || within(Nanos::from_ms(3), || until_it_runs(&AtomicBool::new(false)));
        in_a_runtime(true, || {
            within(Nanos::MILLI, || {
                let body = || thread::scope(|scope| scope.spawn(elsewhere).join().expect("it ran"));
                with_expiry(|| ran.store(true, SeqCst), body);
            });
        });
        assert!(!ran.into_inner());
    }

    #[test]
    fn on_tokios_running_clock_the_daemon_runs_it() {
        in_a_runtime(false, || within(Nanos::MILLI, || until_it_runs(&AtomicBool::new(false))));
    }
}
