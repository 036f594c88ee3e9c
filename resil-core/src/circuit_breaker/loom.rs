//! Models of the breaker's transitions under every interleaving of two threads.
//!
//! Each model says what it proves. Bounds: two threads, one or two calls each, a window of two or three, the preemptions that
//! `LOOM_MAX_PREEMPTIONS` allows (without it: all).
//!
//! # Mutants
//! | changed | caught by |
//! |---|---|
//! | `CountWindow::sync` loads, or is Relaxed | `a_failure_and_the_success_that_completes_min_calls_open` |
//! | `tally` loads the place with Relaxed | the same |
//! | `claim` or `set` takes no notice of a later epoch | `a_late_failure_does_not_reach_the_next_window` |
//! | a bad mark is not counted before it is set | `a_word_that_is_clean_tells_the_truth` |
//! | a cleared mark is not taken back | the same |
//! | `stop_looking` without the revision | `a_change_of_options_is_not_slept_through` |
//! | `evaluate` reads the options before the word | the same |
//! | `revise` leaves alone a word that does not count | `a_word_that_closes_knows_whether_slowness_counts` |
//! | who closes does not look at the option again | the same |
//! | exchanges of the word with Relaxed | the last two |
//! | `exchange` by load and store | `exactly_as_many_probes_as_asked_for`, and four more |
//! | `issued` takes no notice of the generation | `a_stale_outcome_does_not_judge_the_probes` |
//! | a probe without a vote is not given back | `an_abandoned_probe_gives_its_place_back_once` |

// What the models do not use of the files they take in is used by the library.
#![allow(dead_code)]

#[path = "by_calls.rs"]
mod by_calls;
#[path = "by_time.rs"]
mod by_time;
#[path = "closed.rs"]
mod closed;
#[path = "criterion.rs"]
mod criterion;
#[path = "decide.rs"]
mod decide;
#[path = "half_open.rs"]
mod half_open;
#[path = "in_a_row.rs"]
mod in_a_row;
#[path = "machine.rs"]
mod machine;
#[path = "loom/by_time.rs"]
mod models_by_time;
#[path = "loom/in_a_row.rs"]
mod models_in_a_row;
#[path = "options.rs"]
mod options;
#[path = "word.rs"]
mod word;

use crate::cell::counters::Column;
use crate::cell::window::Mark;
use crate::cell::{Counters, Ratio};
use crate::contract::State;
use crate::sync::{Arc, AtomicU32, Ordering, thread};
use crate::time::Nanos;
use criterion::Criterion;
use machine::{Ground, Machine, Outcome, Settled, Transition};
use options::BreakerOptions;
use std::sync::atomic::AtomicU64 as Outside;
use word::Word;

const GOOD: Outcome = Outcome::Vote(Mark::GOOD);
const FAILED: Outcome = Outcome::Vote(Mark::new(true, false));

/// A breaker whose clock is moved by hand; its failure rate may change.
struct Stand {
    /// With room for three buckets.
    machine: Machine<14>,
    options: BreakerOptions,
    percent: AtomicU32,
    /// In milliseconds; 0 for off.
    slow_call: AtomicU32,
    /// Two stripes with an owner, and the shared one.
    counters: Counters<8, 3>,
    /// The thread that owns the first stripe.
    home: thread::ThreadId,
    /// Nobody owns a stripe.
    homeless: bool,
    /// What the clock shows this thread and the other, in milliseconds; not part of the model.
    clock: [Outside; 2],
    /// Transitions so far; not part of the model.
    told: std::sync::Mutex<Vec<Transition>>,
}

impl Stand {
    fn new(window: u32, percent: u32) -> Arc<Self> {
        Arc::new(Self::by(Criterion::Calls(window), window, percent))
    }

    fn by(criterion: Criterion, min_calls: u32, percent: u32) -> Self {
        let options = BreakerOptions {
            criterion,
            min_calls,
            failure_rate: Ratio::ONE,
            slow_call: Nanos::MAX,
            slow_rate: Ratio::ONE,
            open_for: Nanos::from_ms(1),
            open_factor: 1,
            open_cap: Nanos::MAX,
            open_jitter: Ratio::ZERO,
            max_open_for: Nanos::MAX,
            probes: 1,
            probe_timeout: Nanos::MAX,
        };
        Self {
            machine: Machine::new(criterion.kind(), false),
            options,
            percent: AtomicU32::new(percent),
            slow_call: AtomicU32::new(0),
            counters: Counters::new(),
            home: thread::current().id(),
            homeless: false,
            clock: [const { Outside::new(1_000) }; 2],
            told: std::sync::Mutex::default(),
        }
    }

    /// 0 for the thread that made it, 1 for the other.
    fn here(&self) -> usize {
        usize::from(thread::current().id() != self.home)
    }

    /// Moves both clocks.
    fn set_clock(&self, ms: u64) {
        self.clock.iter().for_each(|clock| clock.store(ms, Ordering::Relaxed));
    }

    fn admit(&self) -> Word {
        self.machine.admit(self).expect("closed")
    }

    fn settle(&self, admitted: Word, outcome: Outcome) -> Settled {
        self.machine.settle(admitted, outcome, None, self)
    }

    fn call(&self, outcome: Outcome) {
        let _ = self.settle(self.admit(), outcome);
    }

    fn state(&self) -> State {
        self.machine.load().state()
    }

    fn transitions(&self) -> usize {
        self.told.lock().unwrap().len()
    }

    fn failures(&self) -> u32 {
        self.machine.counted(self.machine.load(), self).failures
    }
}

impl Ground for Stand {
    fn options(&self) -> BreakerOptions {
        let failure_rate = Ratio::percent(self.percent.load(Ordering::Relaxed));
        let slow_call = match self.slow_call.load(Ordering::Relaxed) {
            0 => Nanos::MAX,
            ms => Nanos::from_ms(ms.into()),
        };
        BreakerOptions { failure_rate, slow_call, ..self.options }
    }

    fn now(&self, _fine: bool) -> Nanos {
        Nanos::from_ms(self.clock[self.here()].load(Ordering::Relaxed))
    }

    fn successes(&self) -> Column<'_, 8> {
        self.counters.column(0)
    }

    fn owner(&self) -> usize {
        if self.homeless { usize::MAX } else { self.here() }
    }

    fn bucket_ms(&self) -> u64 {
        criterion::bucket_ms(self.options.criterion.span())
    }

    fn transition(&self, transition: Transition) {
        self.told.lock().unwrap().push(transition);
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

/// Two failures, neither of which sees `min_calls` reached without the other: one of them opens, and only one.
#[test]
fn loom_two_failures_that_complete_the_window_open_it_once() {
    loom::model(|| {
        beside(
            Stand::new(2, 100),
            |s| s.call(FAILED),
            |s| s.call(FAILED),
            |s| {
                assert_eq!((s.state(), s.transitions()), (State::Open, 1));
            },
        );
    });
}

/// B6, B11: the failure may be marked after the success has completed `min_calls`; one of the two opens.
#[test]
fn loom_a_failure_and_the_success_that_completes_min_calls_open() {
    loom::model(|| {
        let stand = Stand::new(2, 50);
        let (failing, succeeding) = (stand.admit(), stand.admit());
        let fail = move |s: &Stand| assert_eq!(s.settle(failing, FAILED), Settled::Counted);
        let succeed = move |s: &Stand| {
            let _ = s.settle(succeeding, GOOD);
        };
        beside(stand, fail, succeed, |s| {
            assert_eq!((s.state(), s.transitions()), (State::Open, 1));
        });
    });
}

/// A success that skips the window because its word is clean has skipped nothing: at no time is a word clean while a bad
/// mark stands, and a window's worth of successes makes it clean again.
#[test]
fn loom_a_word_that_is_clean_tells_the_truth() {
    loom::model(|| {
        let stand = Stand::new(2, 100);
        stand.call(GOOD);
        stand.call(GOOD);
        assert!(stand.machine.load().is_clean());
        let look = |s: &Stand| {
            s.call(GOOD);
            // In this order: a mark that was set after the count would be behind the word.
            let marked = s.failures() > 0;
            assert!(!(marked && s.machine.load().is_clean()));
        };
        beside(
            stand,
            |s| s.call(FAILED),
            look,
            |s| {
                assert!(s.failures() <= 1);
                for _ in 0..2 {
                    s.call(GOOD);
                }
                assert!(s.machine.load().is_clean());
                assert_eq!((s.failures(), s.state()), (0, State::Closed));
            },
        );
    });
}

/// B1, CB13: a failure that was admitted before a reset is lost, or counted in the window that the reset ended.
#[test]
fn loom_a_late_failure_does_not_reach_the_next_window() {
    loom::model(|| {
        let stand = Stand::new(3, 100);
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
                assert_eq!(s.failures(), 1, "only the failure of the new window");
                s.call(FAILED);
                assert_eq!(s.state(), State::Closed, "two of three");
                s.call(FAILED);
                assert_eq!(s.state(), State::Open);
            },
        );
    });
}

/// B34: of two calls that find the wait over, exactly `probes` are admitted.
#[test]
fn loom_exactly_as_many_probes_as_asked_for() {
    loom::model(|| {
        let stand = Stand::new(1, 100);
        stand.machine.word.store(Word::open(2, 1_000, false).0, Ordering::Relaxed);
        let theirs = Arc::clone(&stand);
        let thread = thread::spawn(move || theirs.machine.admit(&*theirs).is_ok());
        let mine = stand.machine.admit(&*stand).is_ok();
        let admitted = u32::from(mine) + u32::from(thread.join().unwrap());
        assert_eq!((admitted, stand.state(), stand.transitions()), (1, State::HalfOpen, 1));
    });
}

/// B1, B2, CB26: the outcome of a call from before the trip neither judges a probe nor takes its place.
#[test]
fn loom_a_stale_outcome_does_not_judge_the_probes() {
    for (late_outcome, verdict, state) in [
        (FAILED, GOOD, State::Closed),
        (Outcome::NoVote, GOOD, State::Closed),
        (GOOD, FAILED, State::Open),
    ] {
        loom::model(move || {
            let stand = Stand::new(1, 100);
            let late = stand.admit();
            stand.machine.word.store(Word::open(2, 1_000, false).0, Ordering::Relaxed);
            let probe = stand.admit();
            let stale = move |s: &Stand| assert_eq!(s.settle(late, late_outcome), Settled::Lost);
            let judge = move |s: &Stand| assert_eq!(s.settle(probe, verdict), Settled::Counted);
            beside(stand, stale, judge, move |s| assert_eq!(s.state(), state));
        });
    }
}

/// B5, B9: a probe that is given back while another asks leaves exactly one place.
#[test]
fn loom_an_abandoned_probe_gives_its_place_back_once() {
    loom::model(|| {
        let stand = Stand::new(1, 100);
        stand.machine.word.store(Word::open(2, 1_000, false).0, Ordering::Relaxed);
        let probe = stand.admit();
        let theirs = Arc::clone(&stand);
        let thread = thread::spawn(move || {
            let _ = theirs.settle(probe, Outcome::NoVote);
        });
        let mine = stand.machine.admit(&*stand).is_ok();
        thread.join().unwrap();
        assert_eq!(stand.machine.load().probes().issued, u32::from(mine));
        assert_eq!(stand.machine.admit(&*stand).is_ok(), !mine);
    });
}

/// B6: a change of options that meets an outcome just as that stops looking is seen by the next outcome.
#[test]
fn loom_a_change_of_options_is_not_slept_through() {
    loom::model(|| {
        let stand = Stand::new(4, 100);
        for outcome in [FAILED, FAILED, FAILED, GOOD] {
            stand.call(outcome);
        }
        stand.machine.revise(&*stand);
        let change = |s: &Stand| {
            s.percent.store(25, Ordering::Relaxed);
            s.machine.revise(s);
        };
        beside(
            stand,
            change,
            |s| s.call(GOOD),
            |s| {
                if s.state() == State::Closed {
                    // Of the window, one in four has failed: as much as it takes now.
                    s.call(GOOD);
                }
                assert_eq!(s.state(), State::Open);
            },
        );
    });
}

/// A closed word says whether slowness counts as the option says, also if that changed just when it closed.
#[test]
fn loom_a_word_that_closes_knows_whether_slowness_counts() {
    loom::model(|| {
        let stand = Stand::new(1, 100);
        stand.machine.word.store(Word::open(2, 1_000, false).0, Ordering::Relaxed);
        let probe = stand.admit();
        let change = |s: &Stand| {
            s.slow_call.store(5, Ordering::Relaxed);
            s.machine.revise(s);
        };
        beside(
            stand,
            change,
            move |s| {
                let _ = s.settle(probe, GOOD);
            },
            |s| {
                assert_eq!((s.state(), s.machine.load().is_timed()), (State::Closed, true));
            },
        );
    });
}
