//! The window of time beside a plain list, and at its edges.

use super::*;
use crate::cell::Counters;
use proptest::prelude::*;

const FAILED: Mark = Mark::new(true, false);
const NOBODY: usize = usize::MAX;

/// A window whose outcomes come from one thread, which pretends to be several.
struct Stand {
    ring: Ring,
    counters: Counters<1>,
    bucket_ms: u64,
    min_calls: u64,
}

impl Stand {
    fn new(bucket_ms: u64) -> Self {
        Self { ring: Ring::new(), counters: Counters::new(), bucket_ms, min_calls: 1 }
    }

    fn window(&self) -> TimeWindow<'_, 1, { crate::cell::window::WORDS }> {
        let successes = self.counters.column(0);
        TimeWindow { ring: &self.ring, successes, bucket_ms: self.bucket_ms }
    }

    /// As a breaker does it; whether it had to look.
    fn record(&self, owner: usize, epoch: Epoch, now_ms: u64, mark: Mark) -> bool {
        let window = self.window();
        if mark.is_good() && window.only_adds(epoch, now_ms) {
            window.add_success(owner, epoch);
            return false;
        }
        window.enter(epoch, now_ms).expect("the newest epoch");
        window.add(owner, epoch, mark).expect("the newest epoch");
        let looked_at = window.begin_look();
        if window.held(epoch, 0).tally.calls >= self.min_calls {
            window.stop_looking(looked_at);
        }
        true
    }

    fn held(&self, epoch: Epoch, now_ms: u64) -> Tally {
        self.window().held(epoch, now_ms).tally
    }
}

fn tally(calls: u64, failures: u64, slow: u64) -> Tally {
    Tally { calls, failures, slow }
}

#[test]
fn outcomes_leave_with_their_bucket() {
    let (stand, epoch) = (Stand::new(100), Epoch::new(1));
    stand.record(0, epoch, 1_099, FAILED);
    stand.record(1, epoch, 1_100, Mark::GOOD);
    stand.record(NOBODY, epoch, 1_150, Mark::new(false, true));
    assert_eq!(stand.held(epoch, 1_999), tally(3, 1, 1));
    assert_eq!(stand.held(epoch, 2_000), tally(2, 0, 1));
    assert_eq!(stand.held(epoch, 2_099), tally(2, 0, 1));
    assert_eq!(stand.held(epoch, 2_100), tally(0, 0, 0));
    assert_eq!(stand.held(epoch, u64::MAX), tally(0, 0, 0));
}

#[test]
fn a_success_looks_once_a_bucket_where_there_are_enough() {
    let (mut stand, epoch) = (Stand::new(100), Epoch::new(1));
    stand.min_calls = 3;
    let looks = [0, 1, 2, 3, 99, 100, 101, 5_000, 5_001, 5_002, 5_003]
        .map(|now| stand.record(0, epoch, now, Mark::GOOD));
    assert_eq!(
        looks,
        [true, true, true, false, false, true, false, true, true, true, false],
        "until there are three; when a bucket begins; again from nothing"
    );
    stand.window().revise();
    assert!(stand.record(0, epoch, 5_004, Mark::GOOD), "the options have changed");
    assert!(!stand.record(0, epoch, 5_005, Mark::GOOD));
}

#[test]
fn who_looked_under_old_options_does_not_end_the_looking() {
    let (stand, epoch) = (Stand::new(100), Epoch::new(1));
    stand.record(0, epoch, 0, FAILED);
    let window = stand.window();
    window.revise();
    let looked_at = window.begin_look();
    window.revise();
    window.stop_looking(looked_at);
    assert!(!window.only_adds(epoch, 0));
}

#[test]
fn a_later_epoch_begins_empty_and_turns_the_earlier_away() {
    let stand = Stand::new(100);
    let (one, two) = (Epoch::new(1), Epoch::new(2));
    for owner in [0, NOBODY] {
        stand.record(owner, one, 0, Mark::GOOD);
        stand.record(owner, one, 0, Mark::new(true, true));
    }
    stand.record(0, two, 0, FAILED);
    let window = stand.window();
    assert_eq!(window.enter(one, 50), None);
    assert_eq!(window.add(1, one, FAILED), None);
    assert!(!window.only_adds(one, 0));
    assert_eq!((stand.held(two, 0), stand.held(one, 0)), (tally(1, 1, 0), Tally::default()));
    stand.record(NOBODY, two, 0, Mark::GOOD);
    window.add_success(NOBODY, one);
    assert_eq!(stand.held(two, 0), tally(2, 1, 0), "the shared stripe is of the second epoch");
}

#[test]
fn a_stripe_that_was_idle_for_many_epochs_counts_again() {
    let stand = Stand::new(100);
    let late = Epoch::new(Epoch::MASK / 2 + 10);
    stand.record(0, Epoch::new(1), 0, Mark::GOOD);
    stand.record(1, Epoch::new(Epoch::MASK / 4), 0, FAILED);
    stand.record(1, late, 0, FAILED);
    stand.record(0, late, 0, Mark::GOOD);
    assert_eq!(stand.held(late, 0), tally(2, 1, 0));
}

#[test]
fn a_window_that_grew_looks_back_as_far_as_it_remembers() {
    let (mut stand, epoch) = (Stand::new(10), Epoch::new(1));
    for now in 0..30 {
        stand.record(0, epoch, now * 10, FAILED);
    }
    assert_eq!(stand.held(epoch, 290), tally(10, 10, 0));
    stand.bucket_ms = 100;
    assert_eq!(
        stand.held(epoch, 290),
        tally(11, 11, 0),
        "one of twelve may be overwritten at any time"
    );
    stand.record(0, epoch, 350, FAILED);
    assert_eq!(stand.held(epoch, 350), tally(12, 12, 0), "in the last bucket of the shorter ones");
    stand.record(0, epoch, 450, FAILED);
    assert_eq!(stand.held(epoch, 450), tally(12, 12, 0));
}

#[test]
fn counts_may_pass_their_width() {
    let (stand, epoch) = (Stand::new(100), Epoch::new(1));
    stand.record(0, epoch, 0, Mark::GOOD);
    stand.record(0, epoch, 0, FAILED);
    let almost = |seen: u64| seen & !COUNT | (COUNT - 1);
    stand.counters.column(0).raise(0, |seen, _| almost(seen));
    stand.ring.words[crate::cell::window::WORDS - 2].store(almost(first(epoch)), Ordering::Relaxed);
    // From here on only what the next bucket begins with counts.
    for now in [5_000, 5_000, 5_000] {
        stand.record(0, epoch, now, Mark::GOOD);
        stand.record(0, epoch, now, FAILED);
    }
    assert_eq!(stand.held(epoch, 5_000), tally(6, 3, 0));
}

/// The plain window: a list of what was counted, each with the beginning of its bucket.
#[derive(Default)]
struct Plain {
    newest: Option<u64>,
    begun: Vec<u64>,
    counted: Vec<(u64, Mark)>,
}

impl Plain {
    fn record(&mut self, now_ms: u64, bucket_ms: u64, mark: Mark) {
        if self.newest.is_none_or(|began| now_ms >= began + bucket_ms) {
            self.newest = Some(now_ms / bucket_ms * bucket_ms);
            self.begun.extend(self.newest);
        }
        self.counted.extend(self.newest.map(|began| (began, mark)));
    }

    fn tally(&self, now_ms: u64, bucket_ms: u64) -> Tally {
        let Some(newest) = self.newest else { return Tally::default() };
        let now = newest.max(now_ms / bucket_ms * bucket_ms);
        // The ring remembers eleven buckets.
        let remembered = self.begun[self.begun.len().saturating_sub(11)];
        let held = |began: u64| began >= remembered && now - began < 10 * bucket_ms;
        let held: Vec<_> = self.counted.iter().filter(|(began, _)| held(*began)).collect();
        let count =
            |wanted: fn(Mark) -> bool| held.iter().filter(|(_, mark)| wanted(*mark)).count() as u64;
        tally(held.len() as u64, count(Mark::failed), count(Mark::slow))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Record { owner: usize, failed: bool, slow: bool },
    Advance(u64),
    Back(u64),
    Resize(u64),
    NewEpoch,
}

fn step() -> impl Strategy<Value = Step> {
    let owner = prop_oneof![0_usize..3, Just(NOBODY)];
    prop_oneof![
        40 => (owner, any::<bool>(), any::<bool>())
            .prop_map(|(owner, failed, slow)| Step::Record { owner, failed, slow }),
        20 => (0_u64..150).prop_map(Step::Advance),
        4 => (0_u64..5_000).prop_map(Step::Advance),
        2 => (0_u64..2_000).prop_map(Step::Back),
        2 => (10_u64..300).prop_map(Step::Resize),
        1 => Just(Step::NewEpoch),
    ]
}

proptest! {
    /// One thread, any marks and stripes, the clock moved either way, the length changed and epochs begun at any time: the
    /// same counts as a list.
    #[test]
    fn it_agrees_with_a_list(steps in proptest::collection::vec(step(), 1..400)) {
        let (mut stand, mut plain) = (Stand::new(100), Plain::default());
        let (mut now, mut generation) = (10_000, 1);
        for step in steps {
            match step {
                Step::Record { owner, failed, slow } => {
                    let mark = Mark::new(failed, slow);
                    stand.record(owner, Epoch::new(generation), now, mark);
                    plain.record(now, stand.bucket_ms, mark);
                }
                Step::Advance(by) => now += by,
                Step::Back(by) => now = now.saturating_sub(by),
                Step::Resize(to) => {
                    stand.bucket_ms = to;
                    stand.window().revise();
                }
                Step::NewEpoch => (generation, plain) = (generation + 1, Plain::default()),
            }
            let held = stand.held(Epoch::new(generation), now);
            prop_assert_eq!(held, plain.tally(now, stand.bucket_ms));
        }
    }

    /// B37: nothing as old as the window counts, everything younger than nine tenths of it does.
    #[test]
    fn b37_it_is_exact_to_a_bucket(spans in proptest::collection::vec(0_u64..200, 1..200), rest in 0_u64..2_000) {
        let (stand, epoch) = (Stand::new(100), Epoch::new(1));
        let (mut now, mut at) = (7, Vec::new());
        for span in spans {
            now += span;
            stand.record(0, epoch, now, FAILED);
            at.push(now);
        }
        now += rest;
        let younger = |than: u64| at.iter().filter(|at| now - **at < than).count() as u64;
        let held = stand.held(epoch, now).calls;
        prop_assert!(younger(900) <= held && held <= younger(1_000), "{} of {} to {}", held, younger(900), younger(1_000));
    }
}
