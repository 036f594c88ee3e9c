//! Models of the timer: no wake-up is lost, and a waker is woken once or never.
//!
//! What is real: `Plan`, `Shard`, and the order in which the daemon and the other threads use them, each shard under a
//! lock of its own. What is modelled: time stands still, so a daemon that plans to sleep until a later instant sleeps for
//! ever unless it is unparked, and loom reports the deadlock; a daemon that plans for an instant that is past goes on.
//!
//! Bounds: two shards and two threads, every execution; with a third thread every execution of up to four preemptions (all
//! of them were explored once, which takes half a minute).
//!
//! Mutants that were tried, and what caught them:
//!
//! | mutant | caught by |
//! |---|---|
//! | the daemon does not look again after publishing | deadlock in both of the first two |
//! | the daemon looks again before it publishes | deadlock in both of the first two |
//! | the daemon never publishes | deadlock in both of the first two |
//! | the daemon parks until what it planned at first, not the lowered instant | deadlock in both of the first two |
//! | who arms reads the plan before it inserts | deadlock in both of the first two |
//! | who arms never unparks | deadlock in both of the first two |
//! | the second look overlooks the lists | deadlock in `a_sooner_timer_wakes_…` |
//! | `expire` leaves the entry armed and wakes a clone | `a_cancelled_timer_…`, `a_renewed_timer_…` |
//! | a freed entry keeps its generation | `a_renewed_timer_…` |
//! | `exchange` ignores the generation | `a_renewed_timer_…` |
//!
//! (A daemon that does not say `AWAKE` passes here: it only costs wake-ups, and `plan.rs`'s own test catches it.)

use super::plan::{Daemon, Plan};
use super::shard::{Shard, Ticket};
use crate::sync::{Arc, Mutex, thread};
use crate::time::Nanos;
use core::task::Waker;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

/// The time, all the time.
const NOW: Nanos = Nanos(1_000);
/// Due already.
const PAST: Nanos = Nanos(900);
/// Not due within the model.
const LATER: Nanos = Nanos(9_000);

struct World {
    plan: Plan,
    shards: [Mutex<Shard>; 2],
    /// How many timers the daemon is to fire before it ends.
    awaited: usize,
}

impl World {
    fn new(awaited: usize) -> Arc<Self> {
        let shards = [Mutex::new(Shard::new()), Mutex::new(Shard::new())];
        Arc::new(Self { plan: Plan::new(), shards, awaited })
    }

    fn with<R>(&self, shard: usize, act: impl FnOnce(&mut Shard) -> R) -> R {
        act(&mut self.shards[shard].lock().unwrap())
    }

    /// As `daemon::arm`, with the daemon's thread at hand.
    fn arm(
        &self,
        shard: usize,
        at: Nanos,
        span: Option<Nanos>,
        waker: Waker,
        daemon: &thread::Thread,
    ) -> Ticket {
        let ticket = self.with(shard, |shard| shard.insert(at, span, waker)).ok().unwrap();
        if self.plan.misses(at) {
            daemon.unpark();
        }
        ticket
    }
}

/// As `daemon::Rounds`.
struct Rounds {
    world: Arc<World>,
    fired: usize,
}

impl Daemon for Rounds {
    fn fire(&mut self) -> Nanos {
        let mut next = Nanos::MAX;
        for shard in 0..2 {
            let mut due = Vec::new();
            let planned = self.world.with(shard, |shard| {
                assert!(!shard.expire(NOW, 64, &mut due));
                shard.survey(NOW)
            });
            next = next.min(planned);
            self.fired += due.len();
            due.into_iter().for_each(Waker::wake);
        }
        next
    }

    fn earliest(&mut self) -> Nanos {
        (0..2).fold(Nanos::MAX, |least, shard| {
            least.min(self.world.with(shard, |shard| shard.earliest()))
        })
    }

    fn park(&mut self, until: Nanos) {
        if self.fired < self.world.awaited && until > NOW {
            thread::park();
        }
    }
}

impl Rounds {
    /// Goes round until everything awaited was fired.
    fn run(world: Arc<World>) {
        let mut rounds = Self { world: world.clone(), fired: 0 };
        while rounds.fired < world.awaited {
            world.plan.round(&mut rounds);
        }
    }
}

/// Counts its wakes. Not one of loom's: nothing in the models depends on it.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn counted() -> (std::sync::Arc<Woken>, Waker) {
    let woken = std::sync::Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

fn model(preemptions: Option<usize>, check: impl Fn() + Send + Sync + 'static) {
    let mut bounded = loom::model::Builder::new();
    bounded.preemption_bound = preemptions;
    bounded.check(check);
}

/// Two threads arm, in two shards, what is due at once; the daemon may be anywhere in its round.
#[test]
fn no_wake_up_is_lost() {
    model(Some(4), || {
        let world = World::new(2);
        let daemon = thread::spawn({
            let world = world.clone();
            move || Rounds::run(world)
        });
        let other = thread::spawn({
            let (world, daemon) = (world.clone(), daemon.thread().clone());
            move || world.arm(1, PAST, None, Waker::noop().clone(), &daemon)
        });
        world.arm(0, PAST, None, Waker::noop().clone(), daemon.thread());
        other.join().unwrap();
        daemon.join().unwrap();
    });
}

/// The daemon sleeps, or is about to, until a later timer; a sooner one of a list must wake it.
#[test]
fn a_sooner_timer_wakes_a_daemon_that_waits_for_a_later_one() {
    model(None, || {
        let world = World::new(1);
        world.with(0, |shard| drop(shard.insert(LATER, None, Waker::noop().clone())));
        let daemon = thread::spawn({
            let world = world.clone();
            move || Rounds::run(world)
        });
        world.arm(0, PAST, Some(Nanos(50)), Waker::noop().clone(), daemon.thread());
        daemon.join().unwrap();
    });
}

/// A timer that is cancelled while the daemon fires it.
#[test]
fn a_cancelled_timer_is_never_woken_and_a_fired_one_once() {
    model(None, || {
        let world = World::new(1);
        let (woken, waker) = counted();
        let ticket = world.with(0, |shard| shard.insert(PAST, None, waker)).ok().unwrap();
        let daemon = thread::spawn({
            let world = world.clone();
            move || {
                let mut rounds = Rounds { world, fired: 0 };
                rounds.fire();
                rounds.fire();
            }
        });
        let cancelled = world.with(0, |shard| shard.remove(ticket)).is_some();
        let woken_before_join = woken.times();
        daemon.join().unwrap();
        assert_eq!(woken.times(), usize::from(!cancelled), "either, and once");
        assert!(!cancelled || woken_before_join == 0);
        assert_eq!(std::sync::Arc::strong_count(&woken), 1, "no waker is left behind");
    });
}

/// A timer whose waker is exchanged while the daemon fires it, and another that takes its slot.
#[test]
fn a_renewed_timer_wakes_the_new_waker_unless_it_went_off_before() {
    model(None, || {
        let world = World::new(1);
        let (old_woken, old) = counted();
        let (new_woken, new) = counted();
        let ticket = world.with(0, |shard| shard.insert(PAST, None, old)).ok().unwrap();
        let daemon = thread::spawn({
            let world = world.clone();
            move || {
                let mut rounds = Rounds { world: world.clone(), fired: 0 };
                rounds.fire();
                let tenant =
                    world.with(0, |shard| shard.insert(LATER, None, Waker::noop().clone()));
                assert_eq!(tenant.ok().unwrap().slot, ticket.slot, "the slot has a new tenant");
            }
        });
        let renewed = world.with(0, |shard| shard.exchange(ticket, new)).is_ok();
        daemon.join().unwrap();
        assert_eq!((old_woken.times(), new_woken.times()), if renewed { (0, 1) } else { (1, 0) });
    });
}
