//! Models of hooks: none runs after its scope, none runs twice, no expiry is lost.
//!
//! What is real: `Watch`, `Seats`, `Ended`, `Plan`, and the order in which the daemon and the threads use them. What is
//! modelled: time stands still, so a daemon that plans to sleep until a later instant sleeps for ever unless it is
//! unparked, and loom reports the deadlock. What a hook touches is a cell that its owner touches again after the scope:
//! loom reports an access that is not ordered, whatever its value.
//!
//! Mutants that were tried, each of which four models or more catch: `fire` claims by a store, or without `Acquire`; `disarm`
//! does not wait for a claim, loads and stores in place of its exchange, or has no ordering.

use super::seats::Seats;
use super::watch::{Ended, Hook, Watch};
use crate::sync::{Arc, AtomicU64, Condvar, Mutex, Ordering, UnsafeCell, thread};
use crate::time::Nanos;
use crate::time::timer::plan::{Daemon, Plan};

/// The time, all the time.
const NOW: Nanos = Nanos(1_000);
/// Due already.
const PAST: Nanos = Nanos(900);
/// Not due within the model.
const LATER: Nanos = Nanos(9_000);

/// How often a hook ran: borrowed by it, and its owner's again after the scope.
struct Runs(UnsafeCell<u32>);

// SAFETY: what the models are about; loom looks at every access.
#[allow(unsafe_code)]
unsafe impl Sync for Runs {}

impl Runs {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    #[allow(unsafe_code)]
    fn add(&self) -> u32 {
        self.0.with_mut(|runs| {
            // SAFETY: loom has checked that nobody else is here.
            unsafe {
                *runs += 1;
                *runs
            }
        })
    }
}

/// As `with_expiry`, in this watch; how often the hook has run.
#[allow(unsafe_code)]
fn scope(
    watch: &Watch,
    ended: &Ended,
    at: Nanos,
    hook: impl FnOnce() + Send,
    body: impl FnOnce(),
) -> u32 {
    let runs = Runs::new();
    let watched = &runs;
    let mut hook = Some(move || {
        watched.add();
        hook();
    });
    // SAFETY: disarmed below; nothing unwinds.
    unsafe { watch.arm(at, Hook::at(&raw mut hook)) };
    body();
    watch.disarm(ended);
    // The owner's own, so that it is no use to anybody who comes late.
    runs.add() - 1
}

/// A watch that one thread owns, and how its hooks are waited for.
struct One {
    watch: Watch,
    ended: Ended,
}

impl One {
    fn new() -> Arc<Self> {
        Arc::new(Self { watch: Watch::new(), ended: Ended::new() })
    }

    fn scope(&self, at: Nanos) -> u32 {
        scope(&self.watch, &self.ended, at, || {}, || {})
    }

    fn fire(&self) -> Nanos {
        self.watch.fire(NOW, &self.ended)
    }
}

fn model(preemptions: Option<usize>, check: impl Fn() + Send + Sync + 'static) {
    let mut bounded = loom::model::Builder::new();
    bounded.preemption_bound = preemptions;
    bounded.check(check);
}

#[test]
fn a_hook_runs_once_or_not_at_all_and_not_after_its_scope() {
    model(None, || {
        let one = One::new();
        let daemon = thread::spawn({
            let one = one.clone();
            move || {
                one.fire();
                one.fire();
            }
        });
        assert!(one.scope(PAST) <= 1);
        daemon.join().unwrap();
        assert_eq!(one.watch.look(), Nanos::MAX);
    });
}

/// The second scope has the same deadline, as those of one function have.
#[test]
fn to09_a_claim_of_one_scope_does_not_run_the_hook_of_the_next() {
    model(None, || {
        let one = One::new();
        let daemon = thread::spawn({
            let one = one.clone();
            move || {
                one.fire();
                one.fire();
            }
        });
        assert!(one.scope(PAST) <= 1);
        assert!(one.scope(PAST) <= 1);
        daemon.join().unwrap();
    });
}

#[test]
fn a_hook_that_is_not_due_does_not_run() {
    model(None, || {
        let one = One::new();
        let daemon = thread::spawn({
            let one = one.clone();
            move || one.fire()
        });
        assert_eq!(one.scope(LATER), 0);
        assert!([LATER, Nanos::MAX].contains(&daemon.join().unwrap()));
    });
}

/// Two who fire: a watch that is apart may be woken from two threads that advance one clock.
#[test]
fn of_two_who_fire_one_runs_it() {
    model(Some(3), || {
        let one = One::new();
        let others = [(); 2].map(|()| {
            let one = one.clone();
            thread::spawn(move || drop(one.fire()))
        });
        assert!(one.scope(PAST) <= 1);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// Where one thread sleeps until it is woken. As `park` and `unpark`, which in loom are lost on who waits for a lock.
struct Bed {
    woken: Mutex<bool>,
    told: Condvar,
}

impl Bed {
    fn new() -> Self {
        Self { woken: Mutex::new(false), told: Condvar::new() }
    }

    fn sleep(&self) {
        let mut woken = self.woken.lock().unwrap();
        while !*woken {
            woken = self.told.wait(woken).unwrap();
        }
        *woken = false;
    }

    fn wake(&self) {
        *self.woken.lock().unwrap() = true;
        self.told.notify_all();
    }
}

/// Seats, the daemon's plan and bed.
struct World<const N: usize> {
    seats: Seats<N>,
    plan: Plan,
    daemon: Bed,
    fired: AtomicU64,
}

impl<const N: usize> World<N> {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            seats: Seats::new(),
            plan: Plan::new(),
            daemon: Bed::new(),
            fired: AtomicU64::new(0),
        })
    }

    /// A body that ends only by its hook: if the expiry is lost, it waits for ever.
    fn blocked(&self) {
        let seat = self.seats.lease().expect("one each");
        let watch = self.seats.seat(seat).slot(0).expect("a place");
        let bed = Bed::new();
        let hook = || {
            self.fired.fetch_add(1, Ordering::Relaxed);
            bed.wake();
        };
        let body = || {
            if self.plan.misses(PAST) {
                self.daemon.wake();
            }
            bed.sleep();
        };
        assert_eq!(scope(watch, &self.seats.ended, PAST, hook, body), 1);
        self.seats.vacate(seat);
    }
}

struct Rounds<const N: usize> {
    world: Arc<World<N>>,
    awaited: u64,
}

impl<const N: usize> Rounds<N> {
    /// As the daemon's thread, until so many hooks have run.
    fn run(world: &Arc<World<N>>, awaited: u64) {
        let mut rounds = Self { world: world.clone(), awaited };
        while !rounds.over() {
            world.plan.round(&mut rounds);
        }
    }

    fn over(&self) -> bool {
        self.world.fired.load(Ordering::Relaxed) >= self.awaited
    }
}

impl<const N: usize> Daemon for Rounds<N> {
    fn fire(&mut self) -> Nanos {
        self.world.seats.fire(|| NOW)
    }

    fn earliest(&mut self) -> Nanos {
        self.world.seats.earliest()
    }

    fn park(&mut self, until: Nanos) {
        if until > NOW && !self.over() {
            self.world.daemon.sleep();
        }
    }
}

/// The daemon may be anywhere in its round when a thread takes its first seat and arms.
#[test]
fn no_expiry_is_lost() {
    model(Some(5), || {
        let world = World::<1>::new();
        let daemon = thread::spawn({
            let world = world.clone();
            move || Rounds::run(&world, 1)
        });
        world.blocked();
        daemon.join().unwrap();
    });
}

/// One after the other in one seat: what the daemon saw of the first must not hide the second.
#[test]
fn no_expiry_is_lost_in_a_seat_that_was_used_before() {
    model(Some(3), || {
        let world = World::<1>::new();
        let daemon = thread::spawn({
            let world = world.clone();
            move || Rounds::run(&world, 2)
        });
        world.blocked();
        world.blocked();
        daemon.join().unwrap();
    });
}

#[test]
fn no_expiry_of_two_threads_is_lost() {
    model(Some(2), || {
        let world = World::<2>::new();
        let daemon = thread::spawn({
            let world = world.clone();
            move || Rounds::run(&world, 2)
        });
        let other = thread::spawn({
            let world = world.clone();
            move || world.blocked()
        });
        world.blocked();
        other.join().unwrap();
        daemon.join().unwrap();
    });
}

/// A seat goes from one thread to another, while the daemon looks at it.
#[test]
fn a_seat_changes_hands_with_nothing_left_in_it() {
    model(Some(4), || {
        let world = World::<1>::new();
        let use_it = |world: &World<1>| {
            let Some(seat) = world.seats.lease() else { return };
            let watch = world.seats.seat(seat).slot(0).expect("a place");
            assert!(scope(watch, &world.seats.ended, PAST, || {}, || {}) <= 1);
            world.seats.vacate(seat);
        };
        let daemon = thread::spawn({
            let world = world.clone();
            move || world.seats.fire(|| NOW)
        });
        let other = thread::spawn({
            let world = world.clone();
            move || use_it(&world)
        });
        use_it(&world);
        other.join().unwrap();
        daemon.join().unwrap();
    });
}
