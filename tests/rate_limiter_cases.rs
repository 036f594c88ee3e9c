//! Rate limiters: the cases from the field.

use proptest::prelude::*;
use resil::testing::pause;
use resil::time::{Deadline, sleep};
use resil::{Rate, RateLimiter, Reason, Reserving, resilient};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;
use tests::{Fault, on_a_manual_clock, poll_once};
use tokio::task::JoinSet;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const MS: Duration = Duration::from_millis(1);

/// How many of so many calls pass at once.
fn passed(limiter: &RateLimiter, calls: u32) -> u32 {
    (0..calls).map(|_| u32::from(limiter.acquire().is_ok())).sum()
}

#[test]
fn rl01_after_idling_no_more_than_the_burst_passes() {
    let limiter = RateLimiter::builder("rl01").rate(Rate::per_second(5)).build();
    let clock = pause();
    assert_eq!(passed(&limiter, 6), 5);
    clock.advance("2s");
    assert_eq!(passed(&limiter, 7), 5);
    clock.advance("200ms");
    assert_eq!(passed(&limiter, 2), 1);

    let single = RateLimiter::builder("rl01_single").rate(Rate::per_second(5)).burst(1).build();
    assert_eq!(passed(&single, 3), 1);
    clock.advance("10s");
    assert_eq!(passed(&single, 3), 1);
}

#[resilient(rate_limiter(rate = "1/10s", wait = "3s"))]
fn slow_sync() -> Result<(), Fault> {
    Ok(())
}

#[resilient(rate_limiter(rate = "1/10s", wait = "3s"))]
async fn slow_async() -> Result<(), Fault> {
    Ok(())
}

#[test]
fn rl06_a_wait_that_cannot_succeed_ends_at_once_in_sync_functions() {
    let clock = pause();
    slow_sync().unwrap();
    clock.advance("1s");
    let before = clock.now();
    let refused = slow_sync().unwrap_err().refusal().expect("a refusal");
    assert_eq!(refused.reason(), Reason::RateLimited);
    // A hint keeps eight digits, rounded up.
    let wait = refused.retry_after().expect("when to come back");
    assert!(wait >= 9 * SECOND && wait < 9 * SECOND + MS, "{wait:?}");
    assert_eq!(clock.now(), before, "nothing was waited for");
    clock.advance("6s");
    let before = clock.now();
    slow_sync().expect("after three seconds");
    assert_eq!(clock.now().since(before).to_duration(), 3 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn rl06_a_wait_that_cannot_succeed_ends_at_once_in_async_functions() {
    slow_async().await.unwrap();
    tokio::time::advance(SECOND).await;
    let before = Instant::now();
    let refused = slow_async().await.unwrap_err().refusal().expect("a refusal");
    assert_eq!(refused.reason(), Reason::RateLimited);
    // A hint keeps eight digits, rounded up.
    let wait = refused.retry_after().expect("when to come back");
    assert!(wait >= 9 * SECOND && wait < 9 * SECOND + MS, "{wait:?}");
    assert_eq!(before.elapsed(), Duration::ZERO);
    tokio::time::advance(6 * SECOND).await;
    slow_async().await.expect("after three seconds");
    assert_eq!(before.elapsed(), 9 * SECOND);
}

#[test]
fn rl08_readings_that_go_back_and_forth_grant_nothing() {
    let clock = pause();
    let origin = clock.now();
    let at = |seconds: u64| clock.set(origin.plus(resil::time::Nanos::from_ms(seconds * 1_000)));
    let limiter = RateLimiter::builder("rl08").rate(Rate::per_second(1)).burst(1).build();
    at(9);
    let mut granted = 0;
    for call in 0..1_000 {
        at(if call % 2 == 0 { 10 } else { 9 });
        granted += passed(&limiter, 1);
    }
    assert_eq!(granted, 1);
    at(11);
    assert_eq!(passed(&limiter, 2), 1);
}

#[test]
fn rl08_a_clock_that_goes_back_an_hour_neither_floods_nor_locks_out() {
    let clock = pause();
    clock.advance("2h");
    let limiter = RateLimiter::builder("rl08_hour").rate(Rate::per_second(1)).burst(1).build();
    assert_eq!(passed(&limiter, 2), 1);
    let before = clock.now();
    clock.set(before.since(resil::time::Nanos::from_ms(3_600_000)));
    assert_eq!(passed(&limiter, 5), 0, "an empty bucket, not a full one");
    clock.advance("1s");
    assert_eq!(passed(&limiter, 5), 1, "and no lock-out");
    clock.set(before.plus(resil::time::Nanos::from_ms(500)));
    assert_eq!(passed(&limiter, 5), 1, "a step forward is idle time");
}

#[test]
fn rl09_threads_neither_lose_nor_double_what_comes_in() {
    static LIMITER: RateLimiter =
        RateLimiter::builder("rl09").rate(Rate::per_second(1_000)).burst(100).build();
    let clock = pause();
    let (granted, over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let _installed = clock.install();
                while !over.load(Ordering::Relaxed) {
                    if LIMITER.acquire().is_ok() {
                        granted.fetch_add(1, Ordering::Relaxed);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
        for _ in 0..1_000 {
            clock.advance("1ms");
            // Somebody takes what has come in before the clock moves on.
            while LIMITER.available() > 0 {
                thread::yield_now();
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    let granted = granted.into_inner();
    assert!((1_090..=1_100).contains(&granted), "{granted}");
    clock.advance("10s");
    assert_eq!(passed(&LIMITER, 200), 100);
}

/// Starts so many calls at once; when each ended, in seconds, or how it was refused.
async fn at_once<F>(calls: u32, call: fn(u32) -> F) -> Vec<(u32, Result<f64, Fault>)>
where
    F: Future<Output = Result<(), Fault>> + Send + 'static,
{
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..calls {
        let call = call(number);
        tasks.spawn(async move {
            let outcome = call.await;
            (number, outcome.map(|()| begin.elapsed().as_secs_f64()))
        });
    }
    let mut ended = tasks.join_all().await;
    ended.sort_by_key(|(number, _)| *number);
    ended
}

#[resilient(rate_limiter(rate = "1/s", burst = 1, wait = "20s"))]
async fn one_a_second(_number: u32) -> Result<(), Fault> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn rl10_each_wait_ends_with_one_admission() {
    for (number, ended) in at_once(10, one_a_second).await {
        let at = ended.expect("nobody waits longer than 20 s");
        assert!((at - f64::from(number)).abs() < 2e-3, "call {number} at {at}");
    }
    let calls =
        tests::count(resil::Kind::RateLimiter, concat!(module_path!(), "::one_a_second"), "waited");
    assert_eq!(calls, 9);
}

#[resilient(rate_limiter(rate = "3/10s", wait = "12s"))]
async fn three_in_ten(_number: u32) -> Result<(), Fault> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn rl11_as_many_may_wait_as_come_to_it_in_time() {
    let ended = at_once(200, three_in_ten).await;
    let at: Vec<_> = ended.iter().filter_map(|(_, ended)| ended.ok()).collect();
    let expected = [0.0, 0.0, 0.0, 10.0 / 3.0, 20.0 / 3.0, 10.0];
    assert_eq!(at.len(), expected.len(), "{at:?}");
    for (at, expected) in at.iter().zip(expected) {
        assert!((at - expected).abs() < 2e-3, "{at} instead of {expected}");
    }
    let (_, seventh) = ended[6];
    let wait = seventh.unwrap_err().refusal().and_then(|refused| refused.retry_after());
    let wait = wait.expect("when to come back").as_secs_f64();
    assert!((wait - 40.0 / 3.0).abs() < 1e-3, "{wait}");
}

#[test]
fn rl13_the_first_period_begins_with_the_first_call() {
    let clock = pause();
    let limiter = |name| RateLimiter::builder(name).rate(Rate::new(3, 10 * SECOND)).build();
    let earlier = limiter("rl13_a");
    assert_eq!(passed(&earlier, 1), 1);
    clock.advance("123.456s");
    let later = limiter("rl13_b");
    assert_eq!(passed(&later, 3), 3);
    clock.advance("1ms");
    assert_eq!(passed(&later, 1), 0);
    clock.advance("9.999s");
    assert_eq!(passed(&later, 1), 1);
}

#[test]
fn rl14_there_is_no_border_for_two_bursts_to_meet_at() {
    let clock = pause();
    let limiter = RateLimiter::builder("rl14").rate(Rate::per_second(100)).build();
    clock.advance("900ms");
    assert_eq!(passed(&limiter, 100), 100);
    clock.advance("200ms");
    assert_eq!(passed(&limiter, 100), 20);
}

#[resilient(rate_limiter(rate = "1/s", burst = 1, wait = "1m"))]
async fn shared_by_tasks(_number: u32) -> Result<(), Fault> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn rl15_every_task_that_waits_is_woken() {
    for (number, ended) in at_once(6, shared_by_tasks).await {
        let at = ended.expect("all of them");
        assert!((at - f64::from(number)).abs() < 2e-3, "task {number} at {at}");
    }
}

#[resilient(rate_limiter(rate = "1/s", burst = 1, wait = "2s"))]
async fn two_may_wait(_number: u32) -> Result<(), Fault> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn rl16_whoever_finds_no_room_to_wait_is_refused_and_not_let_through() {
    let ended = at_once(10, two_may_wait).await;
    let in_time = ended.iter().filter(|(_, ended)| ended.is_ok()).count();
    assert_eq!(in_time, 3, "one at once, two that waited");
    for (_, refused) in ended.iter().filter(|(_, ended)| ended.is_err()) {
        let refused = refused.unwrap_err().refusal().expect("a refusal");
        assert_eq!(refused.reason(), Reason::RateLimited);
    }
}

#[resilient(rate_limiter(rate = "5/s", burst = 1, wait = "1m"))]
async fn a_long_queue(_number: u32) -> Result<(), Fault> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn rl18_nobody_who_comes_later_is_served_earlier() {
    let late = tokio::spawn(async {
        sleep(resil::time::Nanos::from_ms(3_050)).await;
        a_long_queue(100).await.map(|()| Instant::now())
    });
    let ended = at_once(100, a_long_queue).await;
    let at: Vec<_> = ended.iter().map(|(_, ended)| ended.expect("all of them")).collect();
    assert!(at.is_sorted(), "{at:?}");
    let last = Instant::now();
    let late = late.await.unwrap().expect("it waits as well");
    assert!(late >= last - MS, "who came later was let in before the others");
}

proptest! {
    #[test]
    fn rl17_no_hint_is_longer_than_the_largest_possible_debt(
        (permits, per_ms, burst) in (1_u64..5_000, 1_u64..600_000, 1_u32..500),
        steps in proptest::collection::vec((0_u64..50_000, 1_u32..500), 1..60),
    ) {
        let clock = pause();
        let rate = Rate::new(permits, Duration::from_millis(per_ms));
        let limiter = RateLimiter::builder("rl17").rate(rate).burst(burst).try_build();
        prop_assume!(limiter.is_ok());
        let limiter = limiter.unwrap();
        for (pause, cost) in steps {
            clock.advance(Duration::from_millis(pause));
            match limiter.acquire_many(cost) {
                Ok(()) => prop_assert!(cost <= burst),
                Err(refused) if cost > burst => prop_assert!(refused.is_never()),
                Err(refused) => {
                    let wait = refused.retry_after().expect("when to come back").as_nanos();
                    let most = (u128::from(cost) * u128::from(per_ms) * 1_000_000).div_ceil(u128::from(permits));
                    // The hint keeps eight digits, rounded up.
                    prop_assert!(wait <= most + 1 + most / (1 << 26), "{wait} of {most}");
                    prop_assert!(!refused.is_never());
                    clock.advance(refused.retry_after().expect("as above"));
                    prop_assert!(limiter.acquire_many(cost).is_ok(), "the hint was too short");
                }
            }
        }
    }
}

/// So many calls that wait, each polled once, and what is done after each.
fn waiting(limiter: &RateLimiter, calls: u32, then: impl Fn()) -> Vec<Pin<Box<Reserving<'_>>>> {
    let wait = |_| {
        let mut call = Box::pin(limiter.enter_async(1, Deadline::NEVER));
        assert!(poll_once(call.as_mut()).is_pending());
        then();
        call
    };
    (0..calls).map(wait).collect()
}

#[test]
fn l07_a_shorter_wait_refuses_who_comes_and_strands_nobody_who_waits() {
    let (clock, _world) = on_a_manual_clock();
    let quota =
        RateLimiter::builder("l07").rate(Rate::per_second(1)).burst(1).wait(100 * SECOND).build();
    quota.acquire().unwrap();
    let mut calls = waiting(&quota, 50, || ());
    quota.set_wait(Duration::ZERO).unwrap();
    let refused = quota.acquire().unwrap_err();
    assert_eq!(refused.retry_after().map(|wait| wait.as_secs()), Some(51));
    for call in &mut calls {
        assert!(poll_once(call.as_mut()).is_pending());
        clock.advance("1s");
        assert!(matches!(poll_once(call.as_mut()), Poll::Ready(Ok(_))));
    }
}

#[test]
fn l17_rl08_a_clock_that_goes_back_finds_an_end_however_many_have_waited_for_long() {
    let (clock, _world) = on_a_manual_clock();
    let quota =
        RateLimiter::builder("l17").rate(Rate::per_second(10)).burst(1).wait(SECOND).build();
    quota.acquire().unwrap();
    let calls = waiting(&quota, 100, || clock.advance("100ms"));
    clock.set(clock.now().to_duration().saturating_sub(100 * SECOND));
    for _ in 0..3 {
        let refused = quota.acquire().unwrap_err();
        let wait = refused.retry_after().expect("not never");
        assert!(wait <= 11 * SECOND, "behind a hundred who wait: {wait:?}");
    }
    drop(calls);
    clock.advance("101ms");
    assert_eq!(
        passed(&quota, 3),
        1,
        "what they did not take is there again, and no more than a burst"
    );
}
