//! What tests share: an observer that remembers, worlds with virtual time, an error.

pub mod breaker;
pub mod budget;
mod catalogue;
mod fault;
mod later;
pub mod trial;
mod worlds;

pub use catalogue::{breaker_of, bulkhead_of, count, counts, limiter_of, setting};
pub use fault::Fault;
pub use later::later;
pub use worlds::{
    Calls, Wakes, World, at_once, block_on, on_a_manual_clock, poll_once, run, without_a_runtime,
};

use resil::{Event, Observer, Stop};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

static HEARD: Mutex<Vec<Event>> = Mutex::new(Vec::new());

struct Memory;

impl Observer for Memory {
    fn event(&self, event: &Event) {
        HEARD.lock().unwrap_or_else(PoisonError::into_inner).push(*event);
    }
}

/// Starts to remember events, unless it was begun before.
///
/// # Panics
/// If another observer was set in this process.
pub fn listen() {
    static BEGIN: Once = Once::new();
    BEGIN.call_once(|| resil::set_observer(&Memory).expect("the only observer"));
}

/// What was heard so far of the policy of this name.
pub fn heard(policy: &str) -> Vec<Event> {
    let of = |event: &&Event| policy_of(event) == policy;
    HEARD.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(of).copied().collect()
}

/// The waits that a retry scheduled, each with the number of the attempt it comes before.
pub fn scheduled(policy: &str) -> Vec<(u32, Duration)> {
    let wait = |event| match event {
        Event::RetryScheduled { attempt, wait, .. } => Some((attempt, wait)),
        _ => None,
    };
    heard(policy).into_iter().filter_map(wait).collect()
}

/// After how many attempts a retry gave up, and why, each time.
pub fn stops(policy: &str) -> Vec<(u32, Stop)> {
    let stop = |event| match event {
        Event::RetriesExhausted { attempts, stop, .. } => Some((attempts, stop)),
        _ => None,
    };
    heard(policy).into_iter().filter_map(stop).collect()
}

fn policy_of(event: &Event) -> &'static str {
    match *event {
        Event::Transition { policy, .. }
        | Event::WouldOpen { policy, .. }
        | Event::RetryScheduled { policy, .. }
        | Event::RetriesExhausted { policy, .. }
        | Event::FallbackRan { policy, .. } => policy,
        Event::Refused(rejected)
        | Event::TimedOut(rejected)
        | Event::DeadlineExceeded(rejected)
        | Event::Late(rejected) => rejected.policy(),
        _ => "",
    }
}
