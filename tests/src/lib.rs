//! What tests share: an observer that remembers.

pub mod breaker;

use resil::{Event, Observer};
use std::sync::{Mutex, Once, PoisonError};

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

fn policy_of(event: &Event) -> &'static str {
    match *event {
        Event::Transition { policy, .. }
        | Event::WouldOpen { policy, .. }
        | Event::RetryScheduled { policy, .. }
        | Event::RetriesExhausted { policy, .. }
        | Event::FallbackRan { policy, .. } => policy,
        Event::Refused(rejected)
        | Event::TimedOut(rejected)
        | Event::DeadlineExceeded(rejected) => rejected.policy(),
        _ => "",
    }
}
