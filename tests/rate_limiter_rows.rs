//! Rate limiters: the rows of the semantics, by hand and through the attribute.

use resil::time::Nanos;
use resil::{Kind, Rate, RateLimiter, Reason, Start, resilient};
use std::thread;
use std::time::Duration;
use tests::{
    Calls, Fault, World, count, on_a_manual_clock, poll_once, run, without_a_runtime, worlds,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn limiter(name: &'static str, rate: Rate, burst: u32, wait: Duration) -> RateLimiter {
    RateLimiter::builder(name).rate(rate).burst(burst).wait(wait).build()
}

/// How many calls pass now, if so many try.
fn passed(limiter: &RateLimiter, calls: u32) -> u32 {
    (0..calls).map(|_| u32::from(limiter.acquire().is_ok())).sum()
}

worlds! {
    l01_what_cannot_succeed_in_time_is_refused_at_once:
    [rate_limiter(rate = "2/s", burst = 1, wait = "700ms")] (calls: &Calls) -> Result<u32, Fault> {
        Ok(calls.begin())
    } |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(1));
        assert_eq!(call(&calls).await, Ok(2), "after half a second");
        world.sleep("100ms").await;
        assert_eq!(call(&calls).await, Ok(3), "after 400 ms more");
        assert_eq!(calls.begun(), [0, 500, 1_000]);
        assert_eq!(count(Kind::RateLimiter, NAME, "waited"), 2);
    }
}

worlds! {
    l02_l10_calls_are_spaced_and_refused_ones_cost_nothing:
    [rate_limiter(rate = "10/s", burst = 1)] (calls: &Calls) -> Result<u32, Fault> {
        Ok(calls.begin())
    } |world| {
        let calls = Calls::new(&world);
        for _ in 0..20 {
            // Ten times as often as allowed: that many are refused, and none of them puts the others off.
            for _ in 0..10 {
                let _ = call(&calls).await;
                world.sleep("10ms").await;
            }
        }
        let expected: Vec<u64> = (0..20).map(|n| n * 100).collect();
        assert_eq!(calls.begun(), expected);
        assert_eq!(count(Kind::RateLimiter, NAME, "refused"), 180);
    }
}

#[test]
fn l03_a_debt_and_a_long_idle_time_leave_no_more_than_the_burst() {
    let (clock, _) = on_a_manual_clock();
    let limiter = limiter("l03", Rate::per_second(10), 4, SECOND);
    assert_eq!(passed(&limiter, 10), 4);
    for _ in 0..5 {
        limiter.acquire_blocking().expect("a tenth of a second");
    }
    clock.advance(DAY);
    assert_eq!((limiter.available(), passed(&limiter, 10)), (4, 4));
}

#[test]
fn l04_a_waiter_who_leaves_gives_back_what_nobody_else_has_had() {
    let (clock, _) = without_a_runtime();
    let limiter = limiter("l04", Rate::per_second(1), 1, 10 * SECOND);
    run(&clock, async {
        limiter.acquire().unwrap();
        let mut first = Box::pin(limiter.acquire_async());
        let mut second = Box::pin(limiter.acquire_async());
        let mut third = Box::pin(limiter.acquire_async());
        for waiting in [&mut first, &mut second, &mut third] {
            assert!(poll_once(waiting.as_mut()).is_pending());
        }
        // The last one leaves: as if it had never come.
        drop(third);
        let mut third = Box::pin(limiter.acquire_async());
        assert!(poll_once(third.as_mut()).is_pending());
        // The one in the middle leaves: its second is not lost, whoever has it.
        drop(second);
        let begin = clock.now();
        first.await.unwrap();
        third.await.unwrap();
        limiter.acquire_async().await.unwrap();
        let took = clock.now().since(begin).to_duration();
        assert!(took <= 3 * SECOND, "three permits in {took:?}");
        assert!(took > 2 * SECOND, "and not before they were there: {took:?}");
    });
}

#[test]
fn l04_leaving_never_fills_the_bucket_above_what_has_come_in() {
    let (clock, _) = without_a_runtime();
    let limiter = limiter("l04_bound", Rate::per_second(1), 3, 10 * SECOND);
    assert_eq!(passed(&limiter, 5), 3);
    let mut waiting = Box::pin(limiter.acquire_async());
    assert!(poll_once(waiting.as_mut()).is_pending());
    // It was let in long ago, and nobody has looked.
    clock.advance("1h");
    drop(waiting);
    assert_eq!(passed(&limiter, 10), 3);
}

#[test]
fn l04_what_has_come_back_by_itself_is_not_given_back_once_more() {
    let (clock, _) = on_a_manual_clock();
    let limiter = limiter("l04_twice", Rate::per_second(1), 1, Duration::ZERO);
    let cells = limiter.enter(1, resil::Deadline::NEVER).unwrap();
    clock.advance("1s");
    assert_eq!(passed(&limiter, 1), 1);
    drop(cells);
    assert_eq!(passed(&limiter, 1), 0);
}

worlds! {
    l05_a_cost_above_the_burst_is_refused_for_ever:
    [rate_limiter(rate = "10/s", burst = 5, wait = "1m", cost = *cost)] (calls: &Calls, cost: &u32) -> Result<u32, Fault> {
        Ok(calls.begin())
    } |world| {
        let calls = Calls::new(&world);
        let refused = call(&calls, &6).await.unwrap_err().refusal().expect("a refusal");
        assert!(refused.is_never() && refused.retry_after().is_none());
        assert_eq!((refused.reason(), world.ms()), (Reason::RateLimited, 0));
        assert_eq!(call(&calls, &5).await, Ok(1), "it has cost nothing");
        assert_eq!(call(&calls, &5).await, Ok(2));
        assert_eq!(calls.begun(), [0, 500]);
    }
}

#[test]
fn l06_draining_takes_away_and_keeps_debts() {
    let (clock, _) = without_a_runtime();
    let limiter = limiter("l06", Rate::per_second(10), 5, SECOND);
    limiter.drain();
    assert_eq!(passed(&limiter, 1), 0);
    clock.advance("100ms");
    assert_eq!(passed(&limiter, 2), 1);
    // Somebody waits: draining does not let anybody in earlier, nor throw anybody out.
    let mut waiting = Box::pin(limiter.acquire_async());
    assert!(poll_once(waiting.as_mut()).is_pending());
    limiter.drain();
    clock.advance("99ms");
    assert!(poll_once(waiting.as_mut()).is_pending());
    run(&clock, waiting).expect("in the end");
    assert_eq!(passed(&limiter, 1), 0, "what was owed is owed");
}

#[tokio::test(start_paused = true)]
async fn l07_a_change_of_the_rate_reaches_those_who_wait() {
    static LIMITER: RateLimiter = RateLimiter::builder("l07")
        .rate(Rate::new(1, Duration::from_secs(10)))
        .burst(1)
        .wait(Duration::from_secs(60))
        .build();
    LIMITER.acquire().unwrap();
    let begin = Instant::now();
    let mut waiting = JoinSet::new();
    for _ in 0..3 {
        waiting.spawn(async move {
            LIMITER.acquire_async().await.unwrap();
            begin.elapsed().as_secs()
        });
    }
    tokio::time::sleep(5 * SECOND).await;
    // Half of the first wait is over: of ten times the rate, half of it is left.
    LIMITER.set_rate(Rate::per_second(1)).unwrap();
    assert_eq!(LIMITER.available(), 0, "no free burst");
    let mut ended = waiting.join_all().await;
    ended.sort_unstable();
    assert_eq!(ended, [5, 6, 7]);
}

#[test]
fn l07_a_change_keeps_the_part_of_the_burst_that_is_left() {
    let (clock, _) = on_a_manual_clock();
    let limiter = limiter("l07_burst", Rate::per_second(10), 10, Duration::ZERO);
    assert_eq!(passed(&limiter, 4), 4);
    limiter.set_rate(Rate::per_second(1_000)).unwrap();
    assert_eq!(passed(&limiter, 20), 6, "neither refilled nor emptied");
    limiter.set_rate(Rate::per_second(1)).unwrap();
    clock.advance("1s");
    assert_eq!(passed(&limiter, 5), 1);
    limiter.set_burst(2).unwrap();
    clock.advance("1h");
    assert_eq!(passed(&limiter, 5), 2);
}

worlds! {
    l08_one_that_starts_empty_counts_from_its_first_call:
    [rate_limiter(rate = "4/s", burst = 2, start = empty)] (calls: &Calls) -> Result<u32, Fault> {
        Ok(calls.begin())
    } |world| {
        let calls = Calls::new(&world);
        world.sleep("20s").await;
        let begin = world.ms();
        assert!(call(&calls).await.is_err(), "the time before the first call does not count");
        world.sleep("249ms").await;
        assert!(call(&calls).await.is_err());
        world.sleep("1ms").await;
        assert_eq!(call(&calls).await, Ok(1));
        world.sleep("1s").await;
        assert_eq!((call(&calls).await, call(&calls).await), (Ok(2), Ok(3)));
        assert!(call(&calls).await.is_err());
        assert_eq!(calls.begun(), [begin + 250, begin + 1_250, begin + 1_250]);
    }
}

#[test]
fn l08_one_that_starts_full_is_full_at_its_first_call() {
    let (_clock, _) = on_a_manual_clock();
    let limiter = RateLimiter::builder("l08").rate(Rate::per_second(3)).start(Start::Full).build();
    assert_eq!(passed(&limiter, 9), 3);
}

#[test]
fn l09_one_a_day_for_a_year_and_a_billion_a_second_do_not_drift() {
    let (clock, _) = on_a_manual_clock();
    let daily = limiter("l09_daily", Rate::new(1, DAY), 1, Duration::ZERO);
    for day in 0..366 {
        assert_eq!(passed(&daily, 1), 1, "day {day}");
        clock.advance(DAY.saturating_sub(Duration::from_nanos(1)));
        assert_eq!(passed(&daily, 1), 0, "day {day}");
        clock.advance(Duration::from_nanos(1));
    }
    let fastest = limiter("l09_fastest", Rate::per_second(1_000_000_000), 1, Duration::ZERO);
    for _ in 0..100_000 {
        assert_eq!(passed(&fastest, 2), 1);
        clock.advance(Duration::from_nanos(1));
    }
    let faster =
        RateLimiter::builder("l09_faster").rate(Rate::per_second(1_000_000_001)).try_build();
    assert_eq!(faster.unwrap_err().field(), "rate");
}

#[tokio::test(start_paused = true)]
async fn l11_reservations_are_served_in_their_order() {
    static LIMITER: RateLimiter = RateLimiter::builder("l11")
        .rate(Rate::per_second(10))
        .burst(1)
        .wait(Duration::from_secs(60))
        .build();
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..20_u64 {
        // The costs differ, and small ones do not overtake.
        let cost = 1 + u32::from(number % 3 == 0);
        LIMITER.set_burst(2).unwrap();
        tasks.spawn(async move {
            let cells = LIMITER.enter_async(cost, resil::Deadline::NEVER).await;
            cells.unwrap().spend();
            (number, begin.elapsed())
        });
    }
    let mut ended = tasks.join_all().await;
    ended.sort_by_key(|(number, _)| *number);
    assert!(ended.is_sorted_by_key(|(_, at)| *at), "{ended:?}");
}

#[test]
fn l15_there_is_no_rate_by_default() {
    assert_eq!(RateLimiter::builder("l15").try_build().unwrap_err().field(), "rate");
    assert_eq!(RateLimiter::builder("l15").burst(5).try_build().unwrap_err().field(), "rate");
}

worlds! {
    l16_waits_below_a_millisecond_are_waited_for:
    [rate_limiter(rate = "10000/s", burst = 1, wait = "1ms")] (world: &World) -> Result<Duration, Fault> {
        Ok(world.now())
    } |world| {
        // Timers may be coarser: what was waited too long is made up for as far as the burst allows, and never more than that.
        for earlier in 0..30 {
            let at = call(&world).await.expect("a tenth of a millisecond each");
            let due = earlier * Duration::from_micros(100);
            assert!(at >= due, "{at:?} instead of {due:?}");
            assert!(at <= due.max(Duration::from_millis(1)) * 6, "{at:?} instead of {due:?}");
        }
    }
}

#[test]
fn l16_waits_of_threads_keep_to_the_rate_in_real_time() {
    static LIMITER: RateLimiter = RateLimiter::builder("l16_real")
        .rate(Rate::per_second(20_000))
        .burst(1)
        .wait(Duration::from_secs(10))
        .build();
    let begin = std::time::Instant::now();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..200).for_each(|_| LIMITER.acquire_blocking().unwrap()));
        }
    });
    // Never faster than the rate, whatever else this machine does.
    assert!(begin.elapsed() >= 399 * Duration::from_micros(50));
}

#[test]
fn l17_after_a_clock_that_went_back_the_bucket_is_empty_and_fills() {
    let (clock, _) = on_a_manual_clock();
    clock.advance("3h");
    let limiter = limiter("l17", Rate::per_second(10), 5, Duration::ZERO);
    assert_eq!(passed(&limiter, 9), 5);
    // A small step back is ridden out: nothing is lost and nothing is gained.
    let before = clock.now();
    clock.set(before.since(Nanos::from_ms(300)));
    assert_eq!(passed(&limiter, 1), 0);
    clock.set(before.plus(Nanos::from_ms(100)));
    assert_eq!(passed(&limiter, 2), 1);
    // A large one makes it empty.
    clock.set(clock.now().since(Nanos::from_ms(2 * 3_600_000)));
    assert_eq!(passed(&limiter, 5), 0);
    clock.advance("200ms");
    assert_eq!(passed(&limiter, 5), 2);
}

#[resilient(rate_limiter(rate = "100/s", burst = 8, shards = 4))]
fn sharded() -> Result<(), Fault> {
    Ok(())
}

#[test]
fn shards_together_let_in_what_one_would() {
    let (clock, _) = on_a_manual_clock();
    let passed = || (0..50).filter(|_| sharded().is_ok()).count();
    assert_eq!(passed(), 8);
    clock.advance("40ms");
    assert_eq!(passed(), 4);
    clock.advance("1h");
    assert_eq!(passed(), 8);
}

#[test]
fn l07_those_who_are_owed_more_than_ten_years_of_permits_hold_nobody_else_up() {
    let (_clock, _world) = on_a_manual_clock();
    let quota = limiter("owed", Rate::per_second(100), 1, SECOND * 60);
    quota.acquire().expect("the burst");
    let waiters = (0..1_000).map(|_| Box::pin(quota.acquire_async()));
    let mut waiters: Vec<_> =
        waiters.filter_map(|mut w| poll_once(w.as_mut()).is_pending().then_some(w)).collect();
    assert_eq!(waiters.len(), 1_000);
    quota.set_rate(Rate::new(1, DAY * 30)).unwrap();
    // They have not heard of it yet.
    let refused = quota.acquire().unwrap_err();
    assert_eq!(refused.reason(), Reason::RateLimited);
    quota.reset();
    assert!(quota.acquire().is_err(), "they have a right to the first");
    for waiter in &mut waiters {
        let _ = poll_once(waiter.as_mut());
    }
    assert_eq!(quota.waiting(), 0, "none of them waits so long");
    assert!(quota.acquire().is_ok() || quota.acquire().unwrap_err().retry_after().is_some());
}
