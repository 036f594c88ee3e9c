//! Calls as an expansion makes them, on the manual clock.

use super::*;
use crate::cell::backoff::Backoff;
use crate::contract::{Event, Judgement, Reason, Rejected, Stop, recorded};
use crate::rng;
use crate::testing::{Paused, pause};
use crate::time::{Ambient, Deadline, Owner, sleep_blocking};
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};

mod limits;
mod outcomes;
mod waits;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

const fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Without jitter: 100, 200, 400 ms, … up to 10 s.
fn plain() -> RetryBuilder {
    Retry::builder("f").backoff(Backoff::exponential(ms(100), s(10))).jitter(Jitter::None)
}

/// Runs one call: `body` is told the number of its attempt. Returns the newest outcome's judgement and when each
/// attempt began, counted from the call's own start.
fn call(
    retry: &Retry,
    clock: &Paused,
    deadline: Deadline,
    mut body: impl FnMut(u32) -> Judgement,
) -> (Judgement, Vec<Duration>) {
    let before = clock.now();
    let mut starts = Vec::new();
    let mut attempts = retry.start();
    loop {
        assert!(starts.len() < 10_000, "it goes on for ever");
        starts.push(clock.now().since(before).to_duration());
        let judgement = body(attempts.number());
        match attempts.next(judgement, deadline) {
            Some(wait) => sleep_blocking(wait),
            None => return (judgement, starts),
        }
    }
}

/// A body that never succeeds.
fn fail(_: u32) -> Judgement {
    Judgement::TRANSIENT
}

/// The six outcomes, in their order.
fn counted(retry: &Retry) -> [u64; 6] {
    core::array::from_fn(|index| retry.counters.get(index))
}

/// How many attempts there were, and why no more, as the observer heard it.
fn stops(events: &[Event]) -> Vec<(u32, Stop)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::RetriesExhausted { attempts, stop, .. } => Some((*attempts, *stop)),
            _ => None,
        })
        .collect()
}

/// Which attempts were announced, and after which waits.
fn scheduled(events: &[Event]) -> Vec<(u32, Duration)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::RetryScheduled { policy: "f", attempt, wait } => Some((*attempt, *wait)),
            _ => None,
        })
        .collect()
}
