//! Polls that block their thread, so that no timeout can fire (feature `test-util` only).
//!
//! Invariant: a span of blocking is reported once, by the innermost guarded function around it.

use super::{Event, emit};
use crate::time::Stopwatch;
use core::cell::Cell;
use core::time::Duration;

/// A poll that takes longer is reported. Far above what a poll should take, far below what a user would notice.
const LONGEST: Duration = Duration::from_millis(10);

thread_local! {
    /// What inner guarded functions on this thread have reported so far.
    static REPORTED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Measures one poll, in real time.
pub(super) struct PollWatch {
    begun: Stopwatch,
    reported_before: Duration,
}

impl PollWatch {
    pub(super) fn start() -> Self {
        Self { begun: Stopwatch::start(), reported_before: REPORTED.get() }
    }

    /// The poll is over.
    pub(super) fn stop(self) {
        if let Some(took) = self.blocked_for(self.begun.elapsed()) {
            emit(&Event::BlockingPoll { took });
        }
    }

    /// Books a poll of that length: how long it blocked beyond what was reported within it, if worth a report.
    fn blocked_for(&self, took: Duration) -> Option<Duration> {
        let within = REPORTED.get().saturating_sub(self.reported_before);
        let ours = took.saturating_sub(within);
        if ours <= LONGEST {
            return None;
        }
        REPORTED.set(REPORTED.get().saturating_add(ours));
        Some(ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn ten_milliseconds_are_let_pass() {
        assert_eq!(PollWatch::start().blocked_for(MS * 10), None);
        assert_eq!(PollWatch::start().blocked_for(MS * 11), Some(MS * 11));
    }

    #[test]
    fn blocking_is_reported_by_the_innermost_only() {
        let outer = PollWatch::start();
        let inner = PollWatch::start();
        assert_eq!(inner.blocked_for(MS * 40), Some(MS * 40));
        assert_eq!(outer.blocked_for(MS * 45), None, "5 ms of its own");
        let outer = PollWatch::start();
        let inner = PollWatch::start();
        assert_eq!(inner.blocked_for(MS * 40), Some(MS * 40));
        assert_eq!(outer.blocked_for(MS * 60), Some(MS * 20), "20 ms of its own");
    }
}
