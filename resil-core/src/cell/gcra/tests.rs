//! The arithmetic beside exact fractions.

use super::*;
use core::time::Duration;
use proptest::prelude::*;

const DAY: Duration = Duration::from_secs(86_400);
const SECOND: u64 = 1_000_000_000;

/// What a limiter knows, exactly: instants in `permits` parts of a nanosecond, so that a permit is `per` of them.
struct Exact {
    permits: u128,
    per: u128,
    burst: u128,
    tat: u128,
}

impl Exact {
    fn new(rate: Rate, burst: u32) -> Self {
        let per = rate.per_ns().into();
        Self { permits: rate.permits().into(), per, burst: u128::from(burst) * per, tat: 0 }
    }

    fn now(&self, at: Nanos) -> u128 {
        u128::from(at.0) * self.permits
    }

    /// How much there is too little.
    fn short(&self, at: Nanos, cost: u32) -> u128 {
        let (now, cost) = (self.now(at), u128::from(cost) * self.per);
        (self.tat.max(now) + cost).saturating_sub(now + self.burst)
    }

    fn take(&mut self, at: Nanos, cost: u32) {
        self.tat = self.tat.max(self.now(at)) + u128::from(cost) * self.per;
    }

    /// Whether `short` would be there in a nanosecond, or a sixtieth later.
    fn is_nearly_there(&self, short: u128) -> bool {
        short * 60 <= self.permits * 61
    }
}

/// The limiter of the crate, without its atomics.
#[derive(Clone, Copy)]
struct Ours {
    quota: Quota,
    tat: u64,
}

impl Ours {
    fn new(rate: Rate, burst: u32) -> Self {
        Self { quota: Quota::new(rate, 1, burst), tat: 0 }
    }

    fn take(&mut self, at: Nanos, cost: u32) -> Result<(), Nanos> {
        let (now, cost) = (self.quota.units(at), u64::from(cost) << self.quota.shift);
        match self.quota.short(self.tat, now, cost) {
            0 => {
                self.tat = Quota::taken(self.tat, now, cost) & !SPARE;
                Ok(())
            }
            units => Err(self.quota.span(units)),
        }
    }
}

/// Both are asked, and agree but for a nanosecond.
fn ask(ours: &mut Ours, exact: &mut Exact, at: Nanos, cost: u32) -> bool {
    let short = exact.short(at, cost);
    match ours.take(at, cost) {
        Ok(()) => {
            assert!(exact.is_nearly_there(short), "let in too early: {short} at {at:?}");
            exact.take(at, cost);
            true
        }
        Err(wait) => {
            assert!(short > 0, "refused what is due at {at:?}");
            // Of whole nanoseconds the first in which it is there, or one next to it.
            let exactly = short.div_ceil(exact.permits);
            let wait = u128::from(wait.0);
            assert!(wait + 1 >= exactly && wait <= exactly + 1, "{wait} for {exactly}");
            false
        }
    }
}

fn rates() -> impl Strategy<Value = Rate> {
    let per = prop_oneof![Just(1), Just(SECOND), 1..=SECOND, 1..=LONGEST.0 / 100];
    per.prop_flat_map(|per| {
        let permits = prop_oneof![Just(1), Just(per), 1..=per, 1..=per.min(1_000)];
        permits.prop_map(move |permits| Rate::new(permits, Duration::from_nanos(per)))
    })
}

/// As long as some permits take to come in.
fn time_of(rate: Rate, thousandths: u64) -> u64 {
    let ns = u128::from(rate.per_ns()) * u128::from(thousandths) / u128::from(rate.permits());
    u64::try_from(ns / 1_000).unwrap()
}

proptest! {
    /// Whatever the rate: calls at any times, of any cost, fare as by exact fractions.
    #[test]
    fn it_agrees_with_fractions(
        rate in rates(),
        burst in 1..50_u32,
        start in 0..20 * 365 * 86_400 * SECOND,
        calls in prop::collection::vec((0..3_000_u64, 1..4_u32, 0..3_u64), 1..200),
    ) {
        let (mut ours, mut exact) = (Ours::new(rate, burst), Exact::new(rate, burst));
        let mut at = start;
        for (thousandths, cost, more) in calls {
            at = at.saturating_add(time_of(rate, thousandths) + more);
            if at > 40 * 365 * 86_400 * SECOND {
                break;
            }
            ask(&mut ours, &mut exact, Nanos(at), cost.min(burst));
        }
    }

    /// RL17: without reservations nobody is told to wait for longer than his permits take to come in.
    #[test]
    fn rl17_no_hint_is_longer_than_what_it_is_for_takes(
        rate in rates(),
        burst in 1..50_u32,
        start in 0..20 * 365 * 86_400 * SECOND,
        calls in prop::collection::vec((0..3_000_u64, 1..4_u32), 1..200),
    ) {
        let mut ours = Ours::new(rate, burst);
        let mut at = start;
        for (thousandths, cost) in calls {
            at = at.saturating_add(time_of(rate, thousandths)).min(1 << 60);
            let cost = cost.min(burst);
            if let Err(wait) = ours.take(Nanos(at), cost) {
                let comes_in = u128::from(cost) * u128::from(rate.per_ns());
                prop_assert!(u128::from(wait.0) <= comes_in.div_ceil(rate.permits().into()));
                // And it is no empty promise.
                let later = at + wait.0;
                let at_last = |at| { ours }.take(Nanos(at), cost).is_ok();
                prop_assert!(at_last(later));
                prop_assert!(wait.0 < 2 || !at_last(later - 2));
            }
        }
    }

    #[test]
    fn a_span_is_the_shortest_that_is_enough(rate in rates(), units in 0..(1_u64 << 62)) {
        let quota = Quota::new(rate, 1, 1);
        let (Nanos(span), wanted) = (quota.span(units), u128::from(units) << SCALE_BITS);
        prop_assert!(u128::from(span) * u128::from(quota.scale) >= wanted);
        prop_assert!(span == 0 || u128::from(span - 1) * u128::from(quota.scale) < wanted);
    }

    #[test]
    fn the_scale_is_rounded_up_in_its_last_bit(rate in rates(), parts in 1..=8_u32) {
        let quota = Quota::new(rate, parts, 1);
        let per = u128::from(rate.per_ns()) * u128::from(parts);
        let places = quota.shift + SCALE_BITS;
        let exact = u128::from(rate.permits());
        // Where both sides fit; the slowest rates have more places.
        prop_assume!(exact.leading_zeros() >= places);
        prop_assert!(quota.scale >= 1 << 63, "no bit is idle");
        prop_assert_eq!(u128::from(quota.scale), (exact << places).div_ceil(per));
    }

    /// What a change of the quota leaves is what was there, at most the new burst; and as much is owed as before.
    #[test]
    fn l07_a_change_keeps_permits_and_debts(
        (old, new) in (rates(), rates()),
        (burst, new_burst) in (1..50_u32, 1..50_u32),
        at in 1..20 * 365 * 86_400 * SECOND,
        owed in -60..60_i64,
    ) {
        let (old, new) = (Quota::new(old, 1, burst), Quota::new(new, 1, new_burst));
        let (now, new_now) = (old.units(Nanos(at)), new.units(Nanos(at)));
        let whole = i128::from(now) + i128::from(old.burst) + (i128::from(owed) << old.shift);
        prop_assume!(whole >= i128::from(now) && whole < 1 << 63);
        let tat = old.carried(u64::try_from(whole).unwrap(), now, &new, new_now);
        let carried = i128::from(tat) - i128::from(new_now) - i128::from(new.burst);
        let wanted = i128::from(owed.max(-i64::from(new_burst))) << new.shift;
        let fits = (wanted..=wanted + i128::from(SPARE)).contains(&carried);
        prop_assert!(tat == NOT_BEGUN || fits, "{carried} for {wanted}");
    }

    /// What was taken and given back leaves no more than if it had never been taken, whatever was taken between.
    #[test]
    fn l12_giving_back_never_mints(
        burst in 1..8_u32,
        before in prop::collection::vec(0..2_000_u64, 0..6),
        (held, cost) in (0..2_000_u64, 1..4_u32),
        between in prop::collection::vec((0..2_000_u64, 1..3_u32), 0..12),
        last in 0..2_000_u64,
    ) {
        let rate = Rate::new(1, Duration::from_micros(1));
        let (mut with, mut at) = (Ours::new(rate, burst), SECOND);
        for gap in before {
            at += gap;
            let _ = with.take(Nanos(at), 1);
        }
        at += held;
        let mut without = with;
        let cost = cost.min(burst);
        prop_assume!(with.take(Nanos(at), cost).is_ok());
        let ticket = with.tat;
        for (gap, cost) in between {
            at += gap;
            // Only what also passed while the permits were held.
            if with.take(Nanos(at), cost.min(burst)).is_ok() {
                prop_assert!(without.take(Nanos(at), cost.min(burst)).is_ok());
            }
        }
        at += last;
        let (now, cost) = (with.quota.units(Nanos(at)), u64::from(cost) << with.quota.shift);
        let tat = Quota::given_back(with.tat, ticket, now, cost).max(now);
        let never = without.tat.max(now);
        prop_assert!(tat >= never, "minted");
        // If nobody came between, it is as if it had never been taken.
        prop_assert!(with.tat != ticket || tat <= never + SPARE, "lost");
    }
}

#[test]
fn one_a_day_for_a_year_does_not_drift() {
    let rate = Rate::new(1, DAY);
    let (mut ours, mut exact) = (Ours::new(rate, 1), Exact::new(rate, 1));
    let start = 3_600 * SECOND;
    let mut admitted = 0;
    // Every 17 minutes, and at the very nanosecond that the day is over.
    for minute in 0..=365 * 24 * 60 {
        let at = Nanos(start + minute * 60 * SECOND);
        if minute % 17 == 0 || minute % 1_440 == 0 {
            admitted += u64::from(ask(&mut ours, &mut exact, at, 1));
        }
        if minute % 1_440 == 1_439 {
            let just_before = Nanos(start + (minute + 1) * 60 * SECOND - 2);
            assert!(!ask(&mut ours, &mut exact, just_before, 1), "two nanoseconds too early");
        }
    }
    assert_eq!(admitted, 366);
}

#[test]
fn one_a_nanosecond_does_not_drift() {
    let rate = Rate::per_second(SECOND);
    // After 30 years, so that the instants are large.
    let start = 30 * 365 * 86_400 * SECOND;
    let (mut ours, mut exact) = (Ours::new(rate, 1), Exact::new(rate, 1));
    for ns in 0..100_000 {
        assert!(ask(&mut ours, &mut exact, Nanos(start + ns), 1));
        assert!(!ask(&mut ours, &mut exact, Nanos(start + ns), 1));
    }
    // A day of it, in the steps of a burst.
    let (mut ours, mut exact) = (Ours::new(rate, 1_000_000_000), Exact::new(rate, 1_000_000_000));
    let mut admitted = 0_u64;
    for second in 0..86_400 {
        for _ in 0..2 {
            if ask(&mut ours, &mut exact, Nanos(start + second * SECOND), 1_000_000_000) {
                admitted += 1_000_000_000;
            }
        }
    }
    assert_eq!(admitted, 86_400 * SECOND);
}

#[test]
fn a_days_idle_fills_the_bucket_and_no_more() {
    for rate in [Rate::per_second(SECOND), Rate::per_second(7), Rate::new(1, DAY)] {
        let mut ours = Ours::new(rate, 3);
        let start = 20 * 365 * 86_400 * SECOND;
        assert_eq!((0..9).filter(|_| ours.take(Nanos(start), 1).is_ok()).count(), 3);
        let later = Nanos(start + 3 * 86_400 * SECOND);
        assert_eq!((0..9).filter(|_| ours.take(later, 1).is_ok()).count(), 3, "{rate}");
    }
}

#[test]
fn l17_what_is_a_little_ahead_is_no_reason_to_think_that_the_clock_went_back() {
    let quota = Quota::new(Rate::per_second(1), 1, 2);
    let seconds = |s: u64| Nanos((100 + s) * SECOND);
    let (tat, wait) = (quota.units(seconds(9)), Nanos(3 * SECOND));
    let astray = |s: u64, longest| quota.is_astray(tat, quota.units(seconds(s)), longest);
    assert!(!astray(5, Nanos::ZERO), "two bursts ahead");
    assert!(astray(4, Nanos::ZERO));
    assert!(!astray(2, wait), "and a wait");
    assert!(astray(1, wait));
    assert!(!astray(1, Nanos::MAX));
    assert!(quota.is_astray(NOT_BEGUN, quota.units(seconds(0)), Nanos::MAX), "begun at last");
}
