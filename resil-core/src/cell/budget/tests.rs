//! The balance against its bounds, and against a plain model of it.
#![allow(clippy::cast_precision_loss)] // counts and milliseconds, far below 2^52

use super::word::REMEMBERED;
use super::{Bucket, RETRY, Terms};
use crate::cell::Ratio;
use crate::time::Nanos;
use proptest::prelude::*;

const TICK_MS: u64 = 16;
const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A balance and its clock.
struct Stand {
    bucket: Bucket,
    terms: Terms,
    now: Nanos,
}

impl Stand {
    fn new(ratio: Ratio, min_per_sec: u32, ttl_ms: u64) -> Self {
        let terms = Terms::new(ratio, min_per_sec, Nanos::from_ms(ttl_ms));
        Self { bucket: Bucket::new(&terms), terms, now: Nanos::from_ms(3_600_000) }
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now.plus(Nanos::from_ms(ms));
    }

    fn deposit(&self) {
        self.bucket.put(|terms| terms.deposit, || self.terms, || self.now);
    }

    fn give_back(&self) {
        self.bucket.put(|_| RETRY, || self.terms, || self.now);
    }

    fn withdraw(&self) -> bool {
        self.bucket.take(|| self.terms, self.now)
    }

    /// Withdraws until it is refused.
    fn drain(&self) -> u64 {
        let mut granted = 0;
        while self.withdraw() {
            granted += 1;
        }
        granted
    }

    fn balance(&self) -> u64 {
        self.bucket.balance(&self.terms, self.now)
    }
}

fn percent(ratio: u32) -> Ratio {
    Ratio::percent(ratio)
}

#[test]
fn rt13_a_thousand_deposits_are_worth_the_ratio_exactly() {
    for (ratio, worth) in [(0.1, 100), (0.15, 150), (0.3, 300), (0.6, 600), (0.67, 670), (0.9, 900)]
    {
        let stand = Stand::new(Ratio::of(ratio), 0, 10_000);
        (0..1_000).for_each(|_| stand.deposit());
        assert_eq!(stand.drain(), worth, "{ratio}");
    }
    let thirds = Stand::new(Ratio::from_millionths(333_333), 0, 10_000);
    (0..3).for_each(|_| thirds.deposit());
    assert_eq!(thirds.drain(), 0, "three times less than a third");
}

#[test]
fn rt14_a_balance_is_clamped_at_both_ends() {
    let stand = Stand::new(percent(100), 10, 10_000);
    (0..1_000_000).for_each(|_| stand.deposit());
    assert_eq!(stand.balance(), (100 + REMEMBERED) * RETRY);
    stand.give_back();
    assert_eq!(stand.drain(), 100 + REMEMBERED);
    (0..1_000).for_each(|_| assert!(!stand.withdraw()));
    assert_eq!(stand.balance(), 0);
    stand.deposit();
    assert!(stand.withdraw(), "no debt was run up");
}

#[test]
fn g03_a_full_balance_is_read_and_not_written() {
    let mut stand = Stand::new(percent(20), 10, 10_000);
    (0..5_000).for_each(|_| stand.deposit());
    assert!(stand.bucket.is_full(stand.terms.brim()));
    let clock = || -> Nanos { panic!("nobody asks for the time") };
    stand.pass(DAY_MS);
    stand.bucket.put(|terms| terms.deposit, || stand.terms, clock);
}

#[test]
fn g03_the_first_deposit_and_the_one_that_fills_read_the_clock_and_no_other() {
    let stand = Stand::new(percent(100), 0, 10_000);
    let readings = std::cell::Cell::new(0);
    let clock = || {
        readings.set(readings.get() + 1);
        stand.now
    };
    for deposit in 1..=REMEMBERED + 10 {
        stand.bucket.put(|terms| terms.deposit, || stand.terms, clock);
        assert_eq!(readings.get(), 1 + u64::from(deposit >= REMEMBERED), "{deposit}");
    }
}

#[test]
fn g01_deposits_are_kept_for_half_a_ttl_and_then_forgotten() {
    let mut stand = Stand::new(percent(100), 0, 10_000);
    (0..100).for_each(|_| stand.deposit());
    stand.pass(4_999);
    assert_eq!(stand.balance(), 100 * RETRY);
    stand.pass(1 + TICK_MS);
    assert_eq!(
        stand.balance() / RETRY,
        49,
        "as if collected evenly: half of it is older than half a ttl"
    );
    stand.pass(95_000);
    assert_eq!(stand.balance() / RETRY, 4);
    stand.pass(DAY_MS);
    assert_eq!(stand.drain(), 0);
}

#[test]
fn g01_a_day_of_a_little_traffic_is_worth_no_more_than_a_ttl_of_it() {
    for look_every_ms in [16, 500, 4_000, 30_000, 3_600_000] {
        let mut stand = Stand::new(percent(100), 0, 10_000);
        // Ten calls a second, so a hundred retries in a ttl.
        for ms in (0..DAY_MS / 8).step_by(100) {
            stand.deposit();
            stand.pass(100);
            if ms % look_every_ms < 100 {
                stand.bucket.settle(&stand.terms, stand.now);
            }
        }
        let remembered = stand.balance() / RETRY;
        assert!(
            (49..=100).contains(&remembered),
            "{remembered}, looked at every {look_every_ms} ms"
        );
    }
}

#[test]
fn g05_the_floor_is_exact_whatever_is_asked() {
    for min_per_sec in [1, 3, 10, 77, 1_000] {
        let mut stand = Stand::new(percent(0), min_per_sec, 10_000);
        stand.drain();
        let seconds = 100;
        let mut granted = 0;
        for _ in 0..seconds * 1_000 / 8 {
            stand.pass(8);
            granted += stand.drain();
        }
        let expected = seconds * u64::from(min_per_sec);
        assert!((expected - 1..=expected).contains(&granted), "{granted} of {expected}");
    }
}

#[test]
fn g05_what_is_idle_saves_up_a_ttl_of_the_floor_and_no_more() {
    let mut stand = Stand::new(percent(0), 10, 10_000);
    assert_eq!(stand.drain(), 100, "with which it starts");
    stand.pass(3_200);
    assert_eq!(stand.drain(), 32);
    stand.pass(DAY_MS);
    assert_eq!(stand.drain(), 100);
    let mut rare = Stand::new(percent(0), 1, 100);
    assert_eq!(rare.drain(), 1, "less than one retry a ttl is still one");
    rare.pass(992);
    assert_eq!(rare.drain(), 0);
    rare.pass(16);
    assert_eq!(rare.drain(), 1);
}

#[test]
fn g05_time_brings_nothing_twice_where_two_clocks_differ() {
    let mut stand = Stand::new(percent(0), 1_000, 60_000);
    stand.drain();
    let granted: u64 = (0..1_000)
        .map(|_| {
            stand.pass(TICK_MS);
            let ahead = stand.drain();
            stand.now = stand.now.since(Nanos::from_ms(TICK_MS));
            ahead + stand.drain()
        })
        .sum();
    assert_eq!(granted, 16, "one tick passed, a thousand times back and forth");
}

#[test]
fn g05_a_clock_that_is_set_back_locks_nobody_out_for_long_and_grants_nothing() {
    let mut stand = Stand::new(percent(0), 10, 10_000);
    stand.drain();
    stand.now = Nanos::from_ms(1_000);
    assert_eq!(stand.drain(), 0);
    stand.pass(1_008);
    assert_eq!(stand.drain(), 10);
}

#[test]
fn ticks_wrap() {
    let mut stand = Stand::new(percent(0), 10, 10_000);
    stand.now = Nanos::from_ms((1 << 28) * TICK_MS - 500);
    stand.drain();
    stand.pass(1_008);
    assert_eq!(stand.drain(), 10);
}

/// What somebody does to a balance, after so many ticks.
#[derive(Clone, Copy, Debug)]
enum Step {
    Deposits(u16),
    Withdrawals(u16),
    GiveBack,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let pause = prop_oneof![4 => 0..3_u64, 2 => 0..400_u64, 1 => 0..100_000_u64];
    let step = prop_oneof![
        3 => (1..200_u16).prop_map(Step::Deposits),
        1 => (1..6_000_u16).prop_map(Step::Deposits),
        3 => (1..200_u16).prop_map(Step::Withdrawals),
        1 => Just(Step::GiveBack),
    ];
    prop::collection::vec((pause, step), 1..60)
}

fn in_floating_point(n: u64) -> f64 {
    f64::from(u32::try_from(n).expect("no more than some weeks"))
}

/// The same in floating point, in the order in which one would say it.
struct Model {
    ratio: f64,
    per_ms: f64,
    reserve: f64,
    half: f64,
    balance: f64,
    /// In milliseconds: since when time counts.
    since: Option<f64>,
}

impl Model {
    fn new(ratio: Ratio, min_per_sec: u32, ttl_ms: u64) -> Self {
        let (per_ms, ttl) = (f64::from(min_per_sec) / 1e3, in_floating_point(ttl_ms / 2 * 2));
        let reserve =
            if min_per_sec == 0 { 0.0 } else { (per_ms * in_floating_point(ttl_ms)).max(1.0) };
        let ratio = f64::from(ratio.millionths()) / 1e6;
        Self { ratio, per_ms, reserve, half: ttl / 2.0, balance: reserve, since: None }
    }

    fn full(&self) -> f64 {
        self.reserve + in_floating_point(REMEMBERED)
    }

    fn time(&mut self, now: f64) {
        let passed = now - *self.since.get_or_insert(now);
        if self.balance < self.reserve {
            self.balance = (self.balance + passed * self.per_ms).min(self.reserve);
            self.since = Some(now);
        } else if passed >= self.half {
            let excess = self.balance - self.reserve;
            self.balance = self.reserve + excess * self.half / (self.half + passed);
            self.since = Some(now);
        }
    }

    fn add(&mut self, retries: f64, now: f64) {
        if self.balance + 1e-7 >= self.full() {
            return;
        }
        self.balance = (self.balance + retries).min(self.full());
        self.since.get_or_insert(now);
        if self.balance + 1e-7 >= self.full() {
            self.time(now);
        }
    }

    fn withdraw(&mut self, now: f64) -> bool {
        if self.balance + 1e-7 >= self.full() {
            self.since = Some(now);
        } else {
            self.time(now);
        }
        if self.balance + 1e-4 < 1.0 {
            return false;
        }
        let above = self.balance >= self.reserve;
        self.balance -= 1.0;
        if above && self.balance < self.reserve {
            self.since = Some(now);
        }
        true
    }
}

proptest! {
    /// G2: in any span are granted at most what was there, what was put in, and the floor for its length.
    #[test]
    fn g02_no_span_grants_more_than_was_there_and_what_came(
        steps in steps(),
        ratio in 0..=1_000_000_u32,
        min_per_sec in prop_oneof![Just(0_u32), 1..50_u32, 1..6_000_u32],
        ttl_ms in 100..10_000_u64,
    ) {
        let ratio = Ratio::from_millionths(ratio);
        let mut stand = Stand::new(ratio, min_per_sec, ttl_ms);
        // Before each step: what may still be granted of what was there then, in parts.
        let mut allowed: Vec<i128> = Vec::new();
        for (ticks, step) in steps {
            stand.pass(ticks * TICK_MS);
            let brought = i128::from(ticks * TICK_MS * u64::from(min_per_sec) * (RETRY / 1_000));
            let (mut put_in, mut granted) = (0, 0);
            allowed.push(i128::from(stand.balance()));
            match step {
                Step::Deposits(n) => {
                    (0..n).for_each(|_| stand.deposit());
                    put_in = i128::from(n) * i128::from(ratio.millionths());
                }
                Step::Withdrawals(n) => {
                    let taken = (0..n).take_while(|_| stand.withdraw()).count();
                    granted = taken as i128 * i128::from(RETRY);
                }
                Step::GiveBack => {
                    stand.give_back();
                    put_in = i128::from(RETRY);
                }
            }
            prop_assert!(stand.balance() <= stand.terms.full());
            let newest = allowed.len() - 1;
            for (begin, left) in allowed.iter_mut().enumerate() {
                *left += put_in - granted + if begin < newest { brought } else { 0 };
                prop_assert!(*left >= 0, "since step {begin}: {left}");
            }
        }
    }

    /// G1: however somebody looks, of a deposit of some age there is left half a ttl by its age at most.
    #[test]
    fn g01_a_deposit_fades_with_its_age(
        steps in steps(),
        min_per_sec in prop_oneof![Just(0_u32), 1..50_u32],
        ttl_ms in 100..10_000_u64,
    ) {
        let mut stand = Stand::new(percent(1), min_per_sec, ttl_ms);
        let half = u128::from(ttl_ms / 2);
        let mut deposits: Vec<(Nanos, u128)> = Vec::new();
        for (ticks, step) in steps {
            stand.pass(ticks * TICK_MS);
            match step {
                Step::Deposits(n) => {
                    (0..n).for_each(|_| stand.deposit());
                    deposits.push((stand.now, u128::from(n) * u128::from(RETRY / 100)));
                }
                Step::Withdrawals(n) => drop((0..n).take_while(|_| stand.withdraw()).count()),
                Step::GiveBack => stand.bucket.settle(&stand.terms, stand.now),
            }
            if stand.bucket.is_full(stand.terms.brim()) {
                return Ok(()); // what is full is kept
            }
            let left = |&(at, parts): &(Nanos, u128)| {
                let age = u128::from(stand.now.since(at).0 / 1_000_000);
                if age <= half { parts } else { parts * half / age }
            };
            let most: u128 = deposits.iter().map(left).sum();
            let excess = u128::from(stand.balance().saturating_sub(stand.terms.reserve));
            prop_assert!(excess <= most + 1, "{excess} of {most}");
        }
    }

    #[test]
    fn g01_it_agrees_with_a_plain_model(
        steps in steps(),
        ratio in 1..=100_u32,
        min_per_sec in prop_oneof![Just(0_u32), 1..50_u32, 1..6_000_u32],
        ttl_ms in 100..10_000_u64,
    ) {
        let mut stand = Stand::new(percent(ratio), min_per_sec, ttl_ms);
        let mut model = Model::new(percent(ratio), min_per_sec, ttl_ms);
        let begin = stand.now;
        for (ticks, step) in steps {
            stand.pass(ticks * TICK_MS);
            let now = in_floating_point(stand.now.since(begin).0 / 1_000_000);
            match step {
                Step::Deposits(n) => (0..n).for_each(|_| {
                    stand.deposit();
                    model.add(model.ratio, now);
                }),
                Step::Withdrawals(n) => {
                    for _ in 0..n {
                        let before = stand.balance();
                        let (granted, expected) = (stand.withdraw(), model.withdraw(now));
                        prop_assert_eq!(granted, expected, "of {}, {}", before, model.balance);
                        if !granted {
                            break;
                        }
                    }
                }
                Step::GiveBack => {
                    stand.give_back();
                    model.add(1.0, now);
                }
            }
        }
    }
}
