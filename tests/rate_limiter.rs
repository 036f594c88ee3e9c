//! The rate limiter by hand.

use resil::time::Deadline;
use resil::{Rate, RateLimiter};
use std::time::Duration;
use tests::{on_a_manual_clock, run, without_a_runtime};

const SECOND: Duration = Duration::from_secs(1);

fn limiter(permits: u64, per: Duration, burst: u32) -> RateLimiter {
    RateLimiter::builder("test").rate(Rate::new(permits, per)).burst(burst).build()
}

/// How many of `calls` pass now.
fn passing(limiter: &RateLimiter, calls: usize) -> usize {
    (0..calls).filter(|_| limiter.acquire().is_ok()).count()
}

#[test]
fn rl01_after_idling_as_many_pass_as_the_burst() {
    let (clock, _world) = on_a_manual_clock();
    let quota = limiter(5, SECOND, 5);
    assert_eq!(passing(&quota, 6), 5);
    clock.advance("2s");
    assert_eq!(passing(&quota, 7), 5);
    clock.advance("200ms");
    assert_eq!(passing(&quota, 2), 1);
    let single = limiter(1, SECOND, 1);
    assert_eq!(passing(&single, 2), 1);
    clock.advance("1s");
    assert_eq!(passing(&single, 2), 1);
}

#[test]
fn waits() {
    let (clock, world) = without_a_runtime();
    let quota =
        RateLimiter::builder("test").rate(Rate::per_second(1)).burst(1).wait(SECOND * 5).build();
    run(&clock, async {
        for expected in 0..4 {
            let at = world.ms();
            let cells = quota.enter_async(1, Deadline::NEVER).await;
            let reading = cells.unwrap().spend();
            assert_eq!(world.ms(), expected * 1000, "{at} {reading:?}");
        }
    });
}
