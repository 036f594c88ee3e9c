//! What errors mean: `derive(Classify)`, and the patterns of the attribute.

use super::{Fault, counter};
use resil::{Classify, Judgement, Kind, Reason, Rejected, Verdict, resilient};
use std::time::Duration;

#[derive(Debug, Classify, thiserror::Error)]
enum Db {
    #[error("deadlock")]
    #[resil(transient)]
    Deadlock,
    #[error("no row {0}")]
    #[resil(ignore)]
    NoRow(u32),
    #[error("busy")]
    #[resil(retry_after = "wait")]
    Busy { wait: Duration, shard: u8 },
    #[error("throttled")]
    #[resil(transient, retry_after = "1")]
    Throttled(u8, Option<Duration>),
    #[error("corrupt")]
    Corrupt,
    #[error("refused")]
    Refused(#[from] Rejected),
    #[error("inner")]
    Inner {
        #[source]
        source: std::io::Error,
        at: u32,
    },
    #[error("other")]
    Other(Box<dyn std::error::Error + Send + Sync>),
    #[error("several")]
    Several(u8, String),
}

const REFUSED: Rejected = Rejected::new(Reason::CircuitOpen, "inner");

#[test]
fn a_derived_classify_says_what_is_written() {
    let second = Duration::from_secs(1);
    for (error, judgement) in [
        (Db::Deadlock, Judgement::TRANSIENT),
        (Db::NoRow(1), Judgement::IGNORED),
        (Db::Busy { wait: second, shard: 1 }, Judgement::TRANSIENT.after(second)),
        (Db::Throttled(1, Some(second)), Judgement::TRANSIENT.after(second)),
        (Db::Throttled(1, None), Judgement::TRANSIENT),
        (Db::Corrupt, Judgement::FAILURE),
        (Db::Several(1, String::new()), Judgement::FAILURE),
        (Db::Other("other".into()), Judgement::FAILURE),
    ] {
        assert_eq!(error.classify(), judgement, "{error}");
    }
}

#[test]
fn b29_a_variant_that_carries_a_refusal_is_nobodys_failure() {
    for error in [
        Db::Refused(REFUSED),
        Db::Inner { source: std::io::Error::from(REFUSED), at: 1 },
        Db::Other(REFUSED.into()),
    ] {
        assert_eq!(error.classify(), Judgement::IGNORED, "{error}");
    }
    let plain = Db::Inner { source: std::io::Error::other("down"), at: 1 };
    assert_eq!(plain.classify(), Judgement::FAILURE);
}

#[derive(Debug, Classify)]
#[resil(transient)]
struct Lost;

#[derive(Debug, Classify)]
struct Wrapped<E: std::error::Error + 'static>(E);

#[derive(Debug, Classify)]
enum Impossible {}

#[test]
fn structs_generics_and_empty_enums_classify() {
    assert_eq!(Lost.classify(), Judgement::TRANSIENT);
    assert_eq!(Wrapped(REFUSED).classify(), Judgement::IGNORED);
    assert_eq!(Wrapped(std::fmt::Error).classify(), Judgement::FAILURE);
    let none: Option<Impossible> = None;
    assert!(none.is_none_or(|error| error.classify() == Judgement::FAILURE));
}

#[resilient(circuit_breaker(min_calls = 100), name = "classified", retry(max = 2, backoff = constant("0ms")))]
fn query(calls: &mut u32, fail: impl Fn() -> Db) -> Result<(), Db> {
    *calls += 1;
    Err(fail())
}

#[test]
fn the_attribute_finds_classify_by_itself() {
    let mut calls = 0;
    query(&mut calls, || Db::Deadlock).unwrap_err();
    assert_eq!(calls, 2);
    query(&mut calls, || Db::Corrupt).unwrap_err();
    query(&mut calls, || Db::NoRow(1)).unwrap_err();
    assert_eq!(calls, 4);
    let count = |what| counter(Kind::CircuitBreaker, "classified", what);
    assert_eq!((count("failure"), count("ignored")), (3, 1));
}

/// What an attempt comes to under all patterns together, by what it returns.
#[resilient(
    circuit_breaker(min_calls = 100, ignore = Err(Fault::Down) if code == 9, failure = Ok(8)),
    retry(max = 2, backoff = constant("0ms"), on = Err(Fault::Down) | Ok(5), abort = Ok(5) if code == 55),
    ignore = Err(Fault::Mine),
    failure = Ok(4..=7),
    name = "patterns",
)]
fn by_pattern(code: u32, calls: &mut u32) -> Result<u32, Fault> {
    *calls += 1;
    match code {
        0 | 9 => Err(Fault::Down),
        1 => Err(Fault::Mine),
        55 => Ok(5),
        other => Ok(other),
    }
}

#[test]
fn each_pattern_decides_only_what_it_matches_and_abort_comes_first() {
    let count = |what| counter(Kind::CircuitBreaker, "patterns", what);
    let mut before = (0, 0, 0);
    let mut run = |code| {
        let mut calls = 0;
        by_pattern(code, &mut calls).ok();
        let now = (count("success"), count("failure"), count("ignored"));
        let delta = (now.0 - before.0, now.1 - before.1, now.2 - before.2);
        before = now;
        (calls, delta)
    };
    // Calls of the body; successes, failures and ignored outcomes of the breaker.
    assert_eq!(run(0), (2, (0, 2, 0)), "`on` is retried and a failure");
    assert_eq!(run(1), (1, (0, 0, 1)), "`ignore` has no vote");
    assert_eq!(run(3), (1, (1, 0, 0)), "what no pattern matches stays a success");
    assert_eq!(run(4), (1, (0, 1, 0)), "`failure` beside `on` is not retried");
    assert_eq!(run(5), (2, (0, 2, 0)), "`on` matches a value too");
    assert_eq!(run(55), (1, (0, 1, 0)), "`abort` wins over `on`, and is a failure");
    assert_eq!(run(8), (1, (0, 1, 0)), "the breaker's own `failure` is its own affair");
    assert_eq!(run(9), (2, (0, 0, 2)), "the breaker's own `ignore` does not stop the retry");
}

#[test]
fn verdicts_are_what_the_counters_say() {
    assert_eq!(Judgement::TRANSIENT.verdict(), Verdict::Failure);
}
