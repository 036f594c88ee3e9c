//! The hand-shake between who arms a timer and the daemon that may be asleep.
//!
//! Invariant: when the daemon is parked until `p`, every timer that is armed for before `p` has been, or is about to be,
//! followed by an `unpark`.
//!
//! # Synchronisation
//! The plan is one word: the instant until which the daemon means to sleep, or [`AWAKE`] while it looks around, or
//! [`ABSENT`] when there is no daemon. The daemon alone writes it, and [`Plan::reset`]; who arms reads it. All accesses
//! are Relaxed: the locks of the shards order them.
//!
//! | daemon | who arms |
//! |---|---|
//! | 1. `AWAKE` | |
//! | 2. fires what is due, each shard under its lock, and plans `p` | a. inserts `(t, waker)` under the shard's lock |
//! | 3. publishes `p` | b. reads the plan |
//! | 4. looks at the shards again, each under its lock, and lowers `p` | c. unparks the daemon if `t` is before it |
//! | 5. parks until `p`, or until unparked | |
//!
//! Take a daemon that reaches 5, and an entry for `t < p` (after 4). If (a) comes before the daemon's second look at that
//! shard, the look finds the entry, and `p <= t`: a contradiction, unless it was cancelled. So (a) comes after it, and by
//! the shard's lock 3 happens before (b): (b) reads the `p` of 3 or something written later. If the former, which is
//! no less than the lowered one, `t` is before it and (c) follows: `park` finds the token or is ended. If something later, the
//! daemon has been woken since and goes through the steps again, where the same holds.
//!
//! While the daemon is `AWAKE` nobody unparks it, nor need they: step 4 is still to come. That also keeps the token out of
//! the hands of wakers, which run in step 2 on this thread and may park themselves.
//!
//! Proved by `loom.rs`, with three threads.

use crate::sync::{AtomicU64, Ordering};
use crate::time::Nanos;

/// Earlier than any timer: whoever arms one leaves the daemon alone.
const AWAKE: u64 = 0;
/// Later than any timer: whoever arms one calls the daemon.
const ABSENT: u64 = u64::MAX;

/// Until when the daemon means to sleep.
pub(super) struct Plan(AtomicU64);

/// What a daemon does in a round.
pub(super) trait Daemon {
    /// Fires what is due, and says when to look again.
    fn fire(&mut self) -> Nanos;
    /// The instant of the first timer.
    fn earliest(&mut self) -> Nanos;
    /// Sleeps until `until` or until it is unparked; without end if that is [`Nanos::MAX`]. May end early.
    fn park(&mut self, until: Nanos);
}

impl Plan {
    #[cfg(not(resil_loom))]
    pub(super) const fn new() -> Self {
        Self(AtomicU64::new(ABSENT))
    }

    #[cfg(resil_loom)]
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(ABSENT))
    }

    /// One round of the daemon: steps 1 to 5.
    pub(super) fn round(&self, daemon: &mut impl Daemon) {
        // ORDERING: Relaxed, by the argument above.
        self.0.store(AWAKE, Ordering::Relaxed);
        let until = daemon.fire();
        self.0.store(until.0, Ordering::Relaxed);
        let until = until.min(daemon.earliest());
        daemon.park(until);
    }

    /// Whether the daemon has to be woken, or started, for a timer at `at`. Asked after it is inserted.
    #[inline]
    pub(super) fn misses(&self, at: Nanos) -> bool {
        // ORDERING: Relaxed, by the argument above.
        at.0 < self.0.load(Ordering::Relaxed)
    }

    /// There is no daemon any more.
    #[cfg(not(resil_loom))]
    #[allow(dead_code)] // where processes cannot fork
    pub(super) fn reset(&self) {
        // ORDERING: Relaxed, the process has one thread at that moment.
        self.0.store(ABSENT, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(resil_loom)))]
mod tests {
    use super::*;

    /// Answers as told, and writes down what it is asked and what the plan says meanwhile.
    struct Script<'a> {
        plan: &'a Plan,
        planned: Nanos,
        found: Nanos,
        parked: Option<Nanos>,
    }

    impl Daemon for Script<'_> {
        fn fire(&mut self) -> Nanos {
            assert!(!self.plan.misses(Nanos::ZERO), "nobody need wake a daemon that is awake");
            self.planned
        }

        fn earliest(&mut self) -> Nanos {
            assert!(!self.plan.misses(self.planned), "published before the second look");
            assert!(self.plan.misses(Nanos(self.planned.0 - 1)));
            self.found
        }

        fn park(&mut self, until: Nanos) {
            self.parked = Some(until);
        }
    }

    fn parked(planned: Nanos, found: Nanos) -> Option<Nanos> {
        let plan = Plan::new();
        assert!(plan.misses(Nanos(u64::MAX - 1)), "there is no daemon at first");
        let mut script = Script { plan: &plan, planned, found, parked: None };
        plan.round(&mut script);
        script.parked
    }

    #[test]
    fn the_daemon_sleeps_until_the_sooner_of_both_looks() {
        assert_eq!(parked(Nanos(50), Nanos(90)), Some(Nanos(50)));
        assert_eq!(parked(Nanos(50), Nanos(40)), Some(Nanos(40)));
    }

    #[test]
    fn with_nothing_to_do_it_sleeps_without_end() {
        assert_eq!(parked(Nanos::MAX, Nanos::MAX), Some(Nanos::MAX));
    }

    #[test]
    fn in_a_child_process_the_next_timer_calls_for_a_daemon() {
        let plan = Plan::new();
        plan.round(&mut Script { plan: &plan, planned: Nanos(50), found: Nanos(50), parked: None });
        assert!(!plan.misses(Nanos(60)));
        plan.reset();
        assert!(plan.misses(Nanos(60)));
    }
}
