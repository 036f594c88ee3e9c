//! Options that change back and forth while threads hammer the policy (RG5, B35, L6, L7, K3, G2): nothing is lost that still has
//! a meaning, nothing is made up, and no policy is stuck afterwards.

use resil::testing::{ManualClock, pause};
use resil::{
    Budget, Bulkhead, CircuitBreaker, Deadline, Event, Kind, Policy, Rate, RateLimiter, Ratio,
    RetryBudget, State, Window, Withdrawal, catalog, resilient,
};
use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;
use tests::breaker::{fail, succeed, transitions};
use tests::{Fault, count, heard, listen};

const WORKERS: u64 = 4;
/// At least so many rounds of changes.
const ROUNDS: u64 = 64;
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Workers call while somebody else changes things, round by round, until there were enough rounds and what should meet has
/// `met`. Returns how many calls there were.
fn hammered(met: impl Fn() -> bool, call: impl Fn(u64) + Sync, change: impl Fn(u64)) -> u64 {
    let together = Barrier::new(usize::try_from(WORKERS).expect("a few") + 1);
    let (enough, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (call, together, enough, calls) = (&call, &together, &enough, &calls);
            scope.spawn(move || {
                together.wait();
                let mut number = worker;
                while !enough.load(SeqCst) {
                    call(number);
                    number += WORKERS;
                    calls.fetch_add(1, SeqCst);
                }
            });
        }
        together.wait();
        for round in 0..ROUNDS * 1_000 {
            if round >= ROUNDS && met() {
                break;
            }
            change(round);
            thread::yield_now();
        }
        enough.store(true, SeqCst);
    });
    assert!(met(), "the threads never met");
    calls.load(SeqCst)
}

/// One of so many, in turn.
fn at(round: u64, choices: usize) -> usize {
    usize::try_from(round).expect("not that many rounds") % choices
}

/// One of its counters.
fn value(policy: &dyn Policy, name: &str) -> u64 {
    let mut value = None;
    policy.counters(&mut |one| value = value.or((one.name == name).then_some(one.value)));
    value.expect("a counter of that name")
}

/// All of its counters together.
fn counted(policy: &dyn Policy) -> u64 {
    let mut sum = 0;
    policy.counters(&mut |counter| sum += counter.value);
    sum
}

// ---- bulkhead -------------------------------------------------------------------------------------------------------------

#[test]
fn rg05_after_a_smaller_bulkhead_has_drained_as_many_places_are_free_as_it_has() {
    let pool = Bulkhead::builder("rg05").max_concurrent(5).build();
    let five: Vec<_> = (0..5).map(|_| pool.acquire().unwrap()).collect();
    pool.set_max_concurrent(2).unwrap();
    drop(five);
    assert_eq!((pool.in_flight(), pool.available()), (0, 2), "never seven");
    let three: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
    assert_eq!(three.iter().filter(|one| one.is_ok()).count(), 2);
}

/// At most so many are ever inside, and nobody is lost, whoever waited and whatever changed; `also` changes more than the options.
fn bulkhead_under_load(name: &'static str, most: u64, also: impl Fn(&Bulkhead, u64)) {
    let pool = Bulkhead::builder(name).max_concurrent(3).wait(MS).queue(2).build();
    let (inside, record) = (AtomicU64::new(0), AtomicU64::new(0));
    let call = |number: u64| {
        let slot = match number / WORKERS % 3 {
            0 => pool.acquire(),
            1 => pool.acquire_blocking(),
            _ => tests::block_on(pool.acquire_async()),
        };
        if let Ok(slot) = slot {
            record.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
            thread::yield_now();
            inside.fetch_sub(1, SeqCst);
            drop(slot);
        }
    };
    let met = || value(&pool, "waited") > 0 && value(&pool, "refused") > 0;
    let calls = hammered(met, call, |round| {
        pool.set_max_concurrent([1, 3, 2, 0][at(round, 4)]).unwrap();
        pool.set_queue([2, 0, 4][at(round, 3)]).unwrap();
        pool.set_wait([MS, Duration::ZERO, 9 * MS][at(round / 2, 3)]).unwrap();
        pool.set_max_concurrent(u32::MAX).unwrap_err();
        also(&pool, round);
    });
    assert!(record.load(SeqCst) <= most, "{} were inside", record.load(SeqCst));
    assert_eq!((pool.in_flight(), pool.waiting()), (0, 0));
    assert_eq!(counted(&pool), calls, "each call is in one counter");

    pool.enable();
    pool.set_max_concurrent(2).unwrap();
    pool.set_wait(Duration::ZERO).unwrap();
    let two = [pool.acquire().unwrap(), pool.acquire().unwrap()];
    assert!(pool.acquire().is_err());
    drop(two);
    assert_eq!(pool.available(), 2);
}

#[test]
fn rg05_k03_a_bulkhead_keeps_its_limits_and_its_places_while_they_change() {
    bulkhead_under_load("limits", 3, |_, _| {});
}

#[test]
fn rg05_a_bulkhead_that_is_disabled_and_enabled_under_load_still_knows_who_is_inside() {
    bulkhead_under_load("switched", WORKERS, |pool, round| match round % 8 {
        0 => pool.disable(),
        1 => pool.enable(),
        _ => {}
    });
}

// ---- rate limiter ---------------------------------------------------------------------------------------------------------

/// Rates and bursts that are changed to in turn. None fills its burst in a millisecond.
const QUOTAS: [(u64, u32); 5] = [(100, 10), (1_000, 20), (10, 5), (250, 40), (4_000, 20)];

#[test]
fn l07_rg05_a_limiter_lets_pass_what_comes_in_whatever_changes_and_not_one_more() {
    let clock = pause();
    let handed: &ManualClock = &clock;
    let limiter = RateLimiter::builder("l07").rate(Rate::per_second(100)).burst(10).build();
    let (passed, taken) = (AtomicU64::new(0), Cell::new(0));
    // In millionths of a permit.
    let (rate, came_in) = (Cell::new(100), Cell::new(10_000_000));
    let call = |_| {
        let _clock = handed.install();
        passed.fetch_add(limiter.acquire().is_ok().into(), SeqCst);
    };
    hammered(
        || passed.load(SeqCst) > 100,
        call,
        |round| {
            // So that it is empty, and nothing runs over while the clock goes on.
            thread::yield_now();
            while limiter.acquire().is_ok() {
                taken.set(taken.get() + 1);
            }
            clock.advance(MS);
            came_in.set(came_in.get() + rate.get() * 1_000);
            let (per_second, burst) = QUOTAS[at(round, QUOTAS.len())];
            limiter.set_rate(Rate::per_second(per_second)).unwrap();
            limiter.set_burst(burst).unwrap();
            limiter.set_rate(Rate::per_second(0)).unwrap_err();
            rate.set(per_second);
        },
    );
    let admitted = passed.load(SeqCst) + taken.get();
    assert_eq!(value(&limiter, "admitted"), admitted);
    let (all, came_in) = (admitted + limiter.available(), came_in.get());
    assert!(all.abs_diff(came_in / 1_000_000) <= 1, "{all} of {came_in} millionths");
}

#[test]
fn l06_rg05_draining_and_disabling_a_limiter_under_load_make_nothing_up() {
    let clock = pause();
    let handed: &ManualClock = &clock;
    let limiter = RateLimiter::builder("l06").rate(Rate::per_second(1_000)).burst(50).build();
    let ms = Cell::new(0);
    let call = |number: u64| {
        let _clock = handed.install();
        if (number / WORKERS).is_multiple_of(3) {
            drop(limiter.enter(1, Deadline::NEVER));
        } else {
            _ = limiter.acquire();
        }
    };
    hammered(
        || value(&limiter, "given_back") > 0 && value(&limiter, "refused") > 0,
        call,
        |round| {
            clock.advance(MS);
            ms.set(ms.get() + 1);
            match round % 4 {
                0 => limiter.drain(),
                1 => limiter.disable(),
                2 => limiter.enable(),
                _ => {}
            }
        },
    );
    limiter.enable();
    let used = value(&limiter, "admitted") - value(&limiter, "given_back");
    let came_in = 50 + ms.get();
    assert!(used + limiter.available() <= came_in + 1, "{used} of {came_in}");
    limiter.drain();
    assert!(limiter.acquire().is_err());
    clock.advance(20 * MS);
    assert_eq!((0..30).filter(|_| limiter.acquire().is_ok()).count(), 20, "no debt, and no gift");
}

// ---- circuit breaker ------------------------------------------------------------------------------------------------------

/// A breaker, and a change of what it goes by.
type Changing = (CircuitBreaker, fn(&CircuitBreaker, u64));

fn breakers([by_calls, by_time, by_row]: [&'static str; 3]) -> [Changing; 3] {
    let builder = CircuitBreaker::builder;
    [
        (builder(by_calls).window(100).min_calls(10).build(), |breaker, round| {
            breaker.set_window([100, 10, 1_024][at(round, 3)]).unwrap();
            breaker.set_window(0).unwrap_err();
        }),
        (builder(by_time).window_for(SECOND).min_calls(10).build(), |breaker, round| {
            breaker.set_window_for([SECOND, 100 * MS, 60 * SECOND][at(round, 3)]).unwrap();
            breaker.set_window(10).unwrap_err();
        }),
        (builder(by_row).consecutive(10).build(), |breaker, round| {
            breaker.set_consecutive([10, 3, 1_024][at(round, 3)]).unwrap();
            breaker.set_consecutive(0).unwrap_err();
        }),
    ]
}

/// A change of what every breaker has.
fn change(breaker: &CircuitBreaker, round: u64) {
    breaker.set_slow_call([None, Some(SECOND), Some(Duration::MAX)][at(round, 3)]).unwrap();
    breaker.set_open_for([SECOND, MS][at(round, 2)]).unwrap();
    breaker.set_probes([3, 511, 1][at(round, 3)]).unwrap();
    breaker.set_probe_timeout([SECOND, MS][at(round, 2)]).unwrap();
    breaker.set_probes(0).unwrap_err();
}

/// It is as one that nobody ever touched: forgets nothing, and opens when it should.
fn works(breaker: &CircuitBreaker) {
    breaker.reset();
    assert_eq!((breaker.state(), breaker.window()), (State::Closed, Window::default()));
    let by_window = breaker.set_window(20).is_ok() || breaker.set_window_for(60 * SECOND).is_ok();
    let failures = if by_window {
        breaker.set_min_calls(20).unwrap();
        succeed(breaker, 10);
        10
    } else {
        breaker.set_consecutive(7).unwrap();
        7
    };
    fail(breaker, failures - 1);
    assert_eq!(breaker.state(), State::Closed);
    fail(breaker, 1);
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn b35_rg05_a_healthy_breaker_stays_closed_whatever_changes() {
    listen();
    let clock = pause();
    let handed: &ManualClock = &clock;
    for (breaker, change_criterion) in breakers(["healthy", "healthy_time", "healthy_row"]) {
        let call = |_| {
            let _clock = handed.install();
            breaker.acquire().expect("closed").success();
        };
        let calls = hammered(
            || value(&breaker, "success") > 1_000,
            call,
            |round| {
                change_criterion(&breaker, round);
                change(&breaker, round);
                clock.advance("10us");
            },
        );
        assert_eq!((breaker.state(), breaker.generation()), (State::Closed, 1));
        assert_eq!((value(&breaker, "success"), counted(&breaker)), (calls, calls));
        assert_eq!((breaker.window().failures, breaker.window().slow), (0, 0));
        assert_eq!(heard(breaker.name()), []);
        works(&breaker);
    }
}

#[test]
fn b35_rg05_a_breaker_counts_each_call_once_and_tells_each_transition_whatever_changes() {
    listen();
    let clock = pause();
    let handed: &ManualClock = &clock;
    for (breaker, change_criterion) in breakers(["sick", "sick_time", "sick_row"]) {
        let call = |number: u64| {
            let _clock = handed.install();
            // It does not come back at once, lest refusals are all there is.
            let Ok(permit) = breaker.acquire() else { return thread::yield_now() };
            match number / WORKERS % 8 {
                0..4 => permit.failure(),
                4 => permit.ignore(),
                5 => drop(permit),
                _ => permit.success(),
            }
        };
        let met = ["refused", "failure", "success", "ignored", "abandoned", "lost"];
        let calls = hammered(
            || met.iter().all(|counter| value(&breaker, counter) > 0),
            call,
            |round| {
                change_criterion(&breaker, round);
                change(&breaker, round);
                clock.advance(MS);
                match round % 16 {
                    0 => breaker.force_open(),
                    2 | 8 => breaker.disable(),
                    4 | 7 | 11 => breaker.enable(),
                    6 => breaker.observe_only(),
                    10 => breaker.close(),
                    13 => breaker.reset(),
                    _ => {}
                }
            },
        );
        assert_eq!(counted(&breaker), calls, "each call is in one counter");
        let told = transitions(breaker.name());
        let would = |event: &Event| matches!(event, Event::WouldOpen { .. });
        let would = heard(breaker.name()).into_iter().filter(would).count();
        assert!(told.windows(2).all(|two| two[0].1 == two[1].0), "each begins where one ended");
        assert_eq!(told.last().map(|last| last.1), Some(breaker.state()));
        assert_eq!(told.len() + would, breaker.generation() as usize - 1, "none is missing");
        works(&breaker);
    }
}

// ---- retry budget ---------------------------------------------------------------------------------------------------------

#[test]
fn g02_rg05_a_budget_grants_what_was_paid_in_whatever_changes_and_not_one_more() {
    let clock = pause();
    let handed: &ManualClock = &clock;
    let budget =
        RetryBudget::builder("rg05_budget").ratio(Ratio::percent(20)).min_per_sec(0).build();
    let (paid_in, granted) = (AtomicU64::new(0), AtomicU64::new(0));
    let call = |number: u64| {
        let _clock = handed.install();
        match number / WORKERS % 4 {
            0 | 1 => {
                paid_in.fetch_add(1, SeqCst);
                budget.deposit();
            }
            2 => {
                granted.fetch_add((budget.withdraw() == Withdrawal::Taken).into(), SeqCst);
            }
            _ => {
                if budget.withdraw() == Withdrawal::Taken {
                    budget.give_back();
                }
            }
        }
    };
    let met = ["withdrawn", "refused", "given_back"];
    hammered(
        || met.iter().all(|counter| value(&budget, counter) > 0),
        call,
        |round| {
            budget.set_ratio(Ratio::percent([20, 50, 0, 10][at(round, 4)])).unwrap();
            budget.set_ttl([10 * SECOND, SECOND][at(round, 2)]).unwrap();
            budget.set_ttl(Duration::ZERO).unwrap_err();
            match round % 8 {
                3 => budget.disable(),
                4 => budget.enable(),
                _ => {}
            }
        },
    );
    budget.enable();
    let (granted, paid_in) = (granted.load(SeqCst), paid_in.load(SeqCst));
    assert_eq!(value(&budget, "withdrawn") - value(&budget, "given_back"), granted);
    assert!(granted + budget.balance() <= paid_in / 2, "{granted} of {paid_in} calls");

    while budget.withdraw() == Withdrawal::Taken {}
    budget.set_ratio(Ratio::ONE).unwrap();
    (0..5).for_each(|_| budget.deposit());
    assert_eq!(budget.balance(), 5);
}

// ---- all of them ----------------------------------------------------------------------------------------------------------

mod policies {
    resil::registry! {
        circuit_breaker gateway { window = 64, min_calls = 16, open_for = "1ms" }
        rate_limiter quota { rate = "20000/s", burst = 20 }
        bulkhead pool { max_concurrent = 2, wait = "1ms", queue = 1 }
        retry_budget budget { ratio = "50%", min_per_sec = 1000 }
    }
}

/// Every kind of policy, in one order or another, around a body that fails now and then.
macro_rules! guarded {
    ($($fn:tt)*) => {
        #[resilient(
            fallback = |_| Ok(0),
            deadline = "1m",
            retry(max = 3, backoff = constant("10us"), budget = "budget", on = Err(Fault::Down(_))),
            circuit_breaker = "gateway",
            rate_limiter = "quota",
            bulkhead = "pool",
            timeout = "50ms",
            ignore = Err(Fault::Mine),
        )]
        $($fn)*
    };
}

fn callee(number: u64, bodies: &AtomicU64) -> Result<u64, Fault> {
    bodies.fetch_add(1, SeqCst);
    thread::yield_now();
    match number / WORKERS % 8 {
        0..3 => Err(Fault::Down(1)),
        3 => Err(Fault::Mine),
        _ => Ok(number),
    }
}

guarded! {
    fn blocking(number: u64, bodies: &AtomicU64) -> Result<u64, Fault> {
        callee(number, bodies)
    }
}

guarded! {
    async fn asynchronous(number: u64, bodies: &AtomicU64) -> Result<u64, Fault> {
        callee(number, bodies)
    }
}

#[test]
fn rg12_every_policy_is_disabled_and_enabled_under_load_and_each_attempt_is_still_counted_once() {
    let bodies = AtomicU64::new(0);
    let (gateway, pool) = (&policies::circuit_breaker::gateway, &policies::bulkhead::pool);
    let quota = &policies::rate_limiter::quota;
    let call = |number: u64| {
        let outcome = if number.is_multiple_of(2) {
            blocking(number, &bodies)
        } else {
            tests::block_on(asynchronous(number, &bodies))
        };
        if let Ok(answer) = outcome {
            assert!(answer == 0 || answer == number, "the body's or the fallback's, not {answer}");
        }
    };
    let met = || {
        let both = |name| value(gateway, name) > 0 && value(pool, "refused") > 0;
        both("refused") && both("failure") && both("success") && value(quota, "admitted") > 0
    };
    let calls = hammered(met, call, |round| match round % 4 {
        0 => catalog().disable_all(),
        1 => catalog().enable_all(),
        2 => catalog().iter().nth(at(round / 4, catalog().iter().len())).expect("one").disable(),
        _ => catalog().iter().for_each(|entry| entry.enable()),
    });
    catalog().enable_all();
    assert_eq!((pool.in_flight(), pool.waiting()), (0, 0));
    assert_eq!(
        value(pool, "admitted") + value(pool, "waited"),
        bodies.load(SeqCst),
        "enabled or not, the innermost gate knows each body"
    );
    let retried: u64 = ["blocking", "asynchronous"]
        .map(|name| count(Kind::Retry, &format!("{}::{name}", module_path!()), "calls"))
        .iter()
        .sum();
    assert_eq!(retried, calls, "each call is in one counter of its retry");
    let admitted = counted(gateway) - value(gateway, "refused");
    let refused_inside = value(quota, "refused") + value(pool, "refused") + value(pool, "expired");
    assert_eq!(admitted, bodies.load(SeqCst) + refused_inside, "so does the outermost");
    works(gateway);
}
