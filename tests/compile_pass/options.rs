//! Options of the attribute, each in a function that shows what it does.

use super::{Fault, counter, ready};
use resil::{Cause, Kind, Reason, Rejected, resilient};
use std::time::Duration;

#[resilient(circuit_breaker(window = 1, min_calls = 1, open_for = "1h"), name = "whole", fallback = |cause| match cause {
    Cause::Error(error) => Err(error),
    Cause::Rejected(rejected) => Ok(rejected.policy().len()),
})]
fn whole(fails: bool) -> Result<usize, Fault> {
    if fails { Err(Fault::Down) } else { Ok(0) }
}

const fn last_resort(cause: Cause<Fault>) -> Result<usize, Fault> {
    match cause {
        Cause::Error(error) => Err(error),
        Cause::Rejected(_) => Ok(1),
    }
}

#[resilient(circuit_breaker(window = 1, min_calls = 1, open_for = "1h"), name = "by_path", fallback = last_resort)]
async fn by_path(fails: bool) -> Result<usize, Fault> {
    std::future::ready(if fails { Err(Fault::Down) } else { Ok(0) }).await
}

#[resilient(
    circuit_breaker(window = 1, min_calls = 1, open_for = "1h"),
    name = "by_cause",
    fallback(rejected = |rejected: Rejected| Ok(rejected.policy().len())),
)]
fn by_cause(fails: bool) -> Result<usize, Fault> {
    if fails { Err(Fault::Down) } else { Ok(0) }
}

#[resilient(
    circuit_breaker(window = 1, min_calls = 1, open_for = "1h"),
    name = "by_error",
    fallback(error = |error| {
        assert_eq!(error, Fault::Down);
        Ok(3)
    }),
)]
fn by_error(fails: bool) -> Result<usize, Fault> {
    if fails { Err(Fault::Down) } else { Ok(0) }
}

#[resilient(
    circuit_breaker(window = 1, min_calls = 1, open_for = "1h"),
    retry(max = 2, backoff = constant("0ms")),
    name = "all_causes",
    fallback(rejected = value(Ok(1)), timeout = value(Ok(2)), error = value(Ok(3))),
)]
fn all_causes(fails: bool) -> Result<usize, Fault> {
    if fails { Err(Fault::Down) } else { Ok(0) }
}

#[test]
fn a_fallback_answers_as_a_whole_or_by_cause() {
    assert_eq!((whole(true), whole(false)), (Err(Fault::Down), Ok(5)));
    assert_eq!((ready(by_path(true)), ready(by_path(false))), (Err(Fault::Down), Ok(1)));
    assert_eq!((by_cause(true), by_cause(false)), (Err(Fault::Down), Ok(8)));
    assert_eq!(by_error(true), Ok(3));
    assert!(matches!(by_error(false), Err(Fault::Rejected(_))));
    // The refusal of the second attempt does not hide the error of the first.
    assert_eq!((all_causes(true), all_causes(false)), (Ok(3), Ok(1)));
    assert_eq!(counter(Kind::Fallback, "by_error", "error"), 1);
    assert_eq!(counter(Kind::Fallback, "by_cause", "rejected"), 1);
    assert_eq!(counter(Kind::Fallback, "by_cause", "error"), 0);
}

/// One admission for all attempts.
#[resilient(
    circuit_breaker(window = 2, min_calls = 2),
    retry(max = 3, backoff = constant("0ms")),
    order = [circuit_breaker, retry],
    name = "outside",
)]
fn outside(calls: &mut u32) -> Result<(), Fault> {
    *calls += 1;
    Err(Fault::Down)
}

#[resilient(
    order = [fallback, deadline, circuit_breaker, retry, timeout],
    circuit_breaker(window = 2, min_calls = 2, ignore = Err(Fault::Mine)),
    retry(max = 3, backoff = constant("0ms")),
    deadline = "1h",
    timeout = "1m",
    fallback = |_| Ok(()),
    name = "outside_async",
)]
async fn outside_async(calls: &mut u32) -> Result<(), Fault> {
    *calls += 1;
    std::future::ready(Err(Fault::Mine)).await
}

#[test]
fn a_breaker_around_all_attempts_hears_of_one_outcome() {
    let mut calls = 0;
    assert_eq!(outside(&mut calls), Err(Fault::Down));
    assert_eq!((calls, counter(Kind::CircuitBreaker, "outside", "failure")), (3, 1));
    assert_eq!(ready(outside_async(&mut calls)), Ok(()));
    assert_eq!((calls, counter(Kind::CircuitBreaker, "outside_async", "ignored")), (6, 1));
}

/// What `before` does is seen by the next attempt.
#[resilient(retry(max = 3, backoff = constant("0ms"), before = token.push('!')))]
fn refreshed(token: &mut String) -> Result<usize, Fault> {
    if token.len() < 2 { Err(Fault::Down) } else { Ok(token.len()) }
}

#[resilient(
    deadline = "1h",
    retry(max = 3, backoff = table("0ms", "0ms"), before = refresh(token).await),
    circuit_breaker = "calm",
)]
async fn refreshed_async(token: &mut String) -> Result<usize, Fault> {
    std::future::ready(if token.len() < 2 { Err(Fault::Down) } else { Ok(token.len()) }).await
}

async fn refresh(token: &mut String) {
    std::future::ready(()).await;
    token.push('!');
}

#[tokio::test(start_paused = true)]
async fn before_runs_before_each_retry() {
    assert_eq!(refreshed(&mut String::new()), Ok(2));
    assert_eq!(refreshed_async(&mut String::new()).await, Ok(2));
}

#[resilient(retry(max = 3, attempt = n, backoff = by(Duration::from_millis(u64::from(n) * scale))))]
async fn by_expression(scale: u64) -> Result<u32, Fault> {
    std::future::ready(if n < 3 { Err(Fault::Down) } else { Ok(n) }).await
}

#[resilient(timeout(after = limit), retry(max = 2, backoff = constant("1ms"), jitter = none))]
async fn limited(limit: Duration) -> Result<(), Fault> {
    std::future::pending::<()>().await;
    Ok(())
}

#[resilient(deadline = "50ms", retry(max = unlimited, backoff = constant("20ms"), jitter = none))]
async fn unlimited(calls: &mut u32) -> Result<(), Fault> {
    *calls += 1;
    std::future::ready(Err(Fault::Down)).await
}

#[tokio::test(start_paused = true)]
async fn waits_and_limits_are_what_was_written() {
    let start = tokio::time::Instant::now();
    assert_eq!(by_expression(10).await, Ok(3));
    assert_eq!(start.elapsed(), Duration::from_millis(30));

    let start = tokio::time::Instant::now();
    let ended = limited(Duration::from_millis(100)).await;
    assert!(
        matches!(ended, Err(Fault::Rejected(rejected)) if rejected.reason() == Reason::TimedOut)
    );
    assert_eq!(start.elapsed(), Duration::from_millis(201));

    let (start, mut calls) = (tokio::time::Instant::now(), 0);
    assert_eq!(unlimited(&mut calls).await, Err(Fault::Down));
    assert_eq!((calls, start.elapsed()), (3, Duration::from_millis(40)));
}

/// By path, by bare name, and with everything a breaker can have.
#[resilient(circuit_breaker = super::policies::circuit_breaker::calm)]
fn by_long_path() -> Result<u8, Fault> {
    Ok(1)
}

#[resilient(circuit_breaker = calm, allow(slow_call_reaches_timeout, max_one), retry(max = 1))]
fn by_bare_name() -> Result<u8, Fault> {
    Ok(1)
}

#[resilient(idempotent, circuit_breaker)]
fn with_defaults() -> Result<u8, Fault> {
    Ok(1)
}

#[test]
fn a_breaker_is_found_however_it_is_named() {
    assert_eq!([by_long_path(), by_bare_name(), with_defaults()], [Ok(1), Ok(1), Ok(1)]);
    let own = format!("{}::with_defaults", module_path!());
    assert_eq!(counter(Kind::CircuitBreaker, &own, "success"), 1);
}

#[resilient(
    deadline = "50ms",
    retry(max = 3, backoff = constant("10ms"), jitter = none, before = std::future::pending::<()>().await),
)]
async fn stuck_hook(calls: &mut u32) -> Result<(), Fault> {
    *calls += 1;
    std::future::ready(Err(Fault::Down)).await
}

#[resilient(
    order = [circuit_breaker, retry],
    circuit_breaker(min_calls = 5),
    retry(max = 3, backoff = constant("10ms"), jitter = none, attempt = n, before = log.push(n)),
)]
fn numbered(log: &mut Vec<u32>) -> Result<(), Fault> {
    log.push(n * 10);
    Err(Fault::Down)
}

#[tokio::test(start_paused = true)]
async fn a_hook_ends_with_the_deadline_and_knows_the_attempt_to_come() {
    let (start, mut calls) = (tokio::time::Instant::now(), 0);
    assert_eq!(stuck_hook(&mut calls).await, Err(Fault::Down));
    assert_eq!((calls, start.elapsed()), (1, Duration::from_millis(50)));

    let mut log = vec![];
    assert_eq!(numbered(&mut log), Err(Fault::Down));
    assert_eq!(log, [10, 2, 20, 3, 30]);
}
