//! What an operator does with a bulkhead while calls are under way. Rows K3, K6 and faults from the field (RG…).

use resil::{Bulkhead, Entering, Kind, Policy, Reason, Rejected, Slot, catalog};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tests::{block_on, heard, listen, on_a_manual_clock, poll_once, setting};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

fn pool(name: &'static str, max_concurrent: u32) -> Bulkhead {
    Bulkhead::builder(name).max_concurrent(max_concurrent).wait(HOUR).queue(100).build()
}

fn inside(pool: &Bulkhead, calls: usize) -> Vec<Slot<'_>> {
    (0..calls).map(|_| pool.acquire().expect("a place is free")).collect()
}

type Task<'a> = Pin<Box<Entering<'a>>>;

fn waiting(pool: &Bulkhead, tasks: usize) -> Vec<Task<'_>> {
    let wait = |_| {
        let mut task = Box::pin(pool.acquire_async());
        assert!(poll_once(task.as_mut()).is_pending());
        task
    };
    (0..tasks).map(wait).collect()
}

/// Polls all; those that came in, in their order. Who still waits is left.
fn came_in<'a>(tasks: &mut Vec<Task<'a>>) -> Vec<Slot<'a>> {
    let mut slots = Vec::new();
    tasks.retain_mut(|task| match poll_once(task.as_mut()) {
        Poll::Ready(slot) => {
            slots.push(slot.expect("not refused"));
            false
        }
        Poll::Pending => true,
    });
    slots
}

#[test]
fn k03_rg05_fewer_places_are_a_debt_and_nobody_is_waited_for() {
    let pool = Bulkhead::builder("k03").max_concurrent(5).build();
    let mut five = inside(&pool, 5);
    pool.set_max_concurrent(2).unwrap();
    assert_eq!((pool.in_flight(), pool.available(), pool.max_concurrent()), (5, 0, 2));
    for left in [4, 3, 2] {
        five.pop();
        assert_eq!((pool.in_flight(), pool.available()), (left, 0));
        assert!(pool.acquire().is_err(), "{left} are still inside");
    }
    five.pop();
    let sixth = pool.acquire().expect("one place is free");
    assert!(pool.acquire().is_err());
    drop((sixth, five));
    assert_eq!((pool.in_flight(), pool.available()), (0, 2), "two, never seven");
    let calls: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
    assert_eq!(calls.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn k03_more_places_go_to_those_who_wait_in_their_order() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = pool("k03_grows", 1);
    let _one = inside(&pool, 1);
    let mut tasks = waiting(&pool, 50);
    pool.set_max_concurrent(3).unwrap();
    assert_eq!((pool.in_flight(), pool.waiting()), (3, 48));
    assert!(poll_once(tasks[2].as_mut()).is_pending(), "the first two");
    let two = came_in(&mut tasks);
    assert_eq!((two.len(), tasks.len()), (2, 48));
    pool.set_max_concurrent(100).unwrap();
    assert_eq!((pool.in_flight(), pool.waiting()), (51, 0), "all of them at once");
    assert!(pool.acquire().is_ok());
    assert_eq!(came_in(&mut tasks).len(), 48);
}

#[test]
fn k03_shrinking_below_what_is_inside_lets_waiters_wait_until_enough_have_left() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = pool("k03_shrinks", 3);
    let mut three = inside(&pool, 3);
    let mut tasks = waiting(&pool, 2);
    pool.set_max_concurrent(1).unwrap();
    three.truncate(1);
    assert!(came_in(&mut tasks).is_empty(), "one is inside, and one is the limit");
    three.clear();
    let first = came_in(&mut tasks);
    assert_eq!((first.len(), pool.in_flight()), (1, 1));
    drop(first);
    assert_eq!(came_in(&mut tasks).len(), 1);
}

#[test]
fn k06_without_a_place_it_is_closed() {
    static CLOSED: Bulkhead = Bulkhead::builder("k06").max_concurrent(0).wait(HOUR).build();
    let (clock, _world) = on_a_manual_clock();
    let refused = Err(Rejected::new(Reason::BulkheadFull, "k06"));
    let outcomes =
        || [CLOSED.acquire(), CLOSED.acquire_blocking(), block_on(CLOSED.acquire_async())];
    for outcome in outcomes() {
        assert_eq!(outcome.map(drop), refused);
    }
    assert_eq!(CLOSED.state(), "closed");
    assert_eq!(clock.timers(), 0);

    CLOSED.set_max_concurrent(1).unwrap();
    let one = CLOSED.acquire().expect("it is open");
    let mut task = waiting(&CLOSED, 1).remove(0);
    CLOSED.set_max_concurrent(0).unwrap();
    let Poll::Ready(sent_away) = poll_once(task.as_mut()) else { panic!("nobody waits any more") };
    assert_eq!(sent_away.map(drop), refused);
    assert_eq!((CLOSED.waiting(), CLOSED.in_flight()), (0, 1), "who is inside stays");
    drop(one);
    assert!(CLOSED.acquire().is_err());
}

#[test]
fn k06_closing_sends_all_away_and_opening_lets_new_ones_in() {
    let (_clock, _world) = on_a_manual_clock();
    listen();
    let pool = pool("k06_many", 1);
    let one = inside(&pool, 1);
    let tasks = waiting(&pool, 50);
    pool.set_max_concurrent(0).unwrap();
    for mut task in tasks {
        assert!(matches!(poll_once(task.as_mut()), Poll::Ready(Err(_))));
    }
    assert_eq!(heard("k06_many").len(), 50, "each is one event");
    pool.set_max_concurrent(1).unwrap();
    assert!(pool.acquire().is_err(), "the one from before is still inside");
    drop(one);
    assert!(pool.acquire().is_ok());
}

#[test]
fn a_change_of_the_wait_or_the_queue_is_for_the_next_call() {
    let (clock, world) = on_a_manual_clock();
    let pool = pool("live", 1);
    let one = inside(&pool, 1);
    let mut tasks = waiting(&pool, 2);
    pool.set_queue(1).unwrap();
    assert_eq!(pool.waiting(), 2, "nobody is sent away");
    assert!(pool.acquire_blocking().is_err(), "but nobody joins them");
    pool.set_queue(3).unwrap();
    pool.set_wait(5 * MS).unwrap();
    let due = world.now() + 5 * MS;
    assert!(pool.acquire_blocking().is_err());
    assert_eq!(world.now(), due);
    clock.advance("59m");
    assert!(poll_once(tasks[0].as_mut()).is_pending(), "as long as held when it came");
    pool.set_wait(Duration::ZERO).unwrap();
    assert!(pool.acquire_blocking().is_err());
    assert_eq!(pool.waiting(), 2);
    drop(one);
    assert_eq!(came_in(&mut tasks).len(), 1);
}

#[test]
fn a_queue_that_is_not_written_is_as_long_as_there_are_places() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = Bulkhead::builder("follows").max_concurrent(0).wait(HOUR).build();
    pool.set_max_concurrent(2).unwrap();
    let _two = inside(&pool, 2);
    let _tasks = waiting(&pool, 2);
    assert!(block_on(pool.acquire_async()).is_err());
    assert_eq!((pool.options().queue, pool.options().longest_queue()), (None, 2));
}

#[test]
fn while_it_is_disabled_everybody_comes_in_and_is_counted() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = pool("disabled", 1);
    assert!(pool.is_enabled());
    let mut slots = inside(&pool, 1);
    let mut tasks = waiting(&pool, 3);
    pool.disable();
    assert_eq!((pool.is_enabled(), pool.state()), (false, "disabled"));
    slots.extend(came_in(&mut tasks));
    assert_eq!(slots.len(), 4, "and so do those who waited");
    slots.extend(inside(&pool, 96));
    assert_eq!((pool.in_flight(), pool.max_concurrent()), (100, 1));

    pool.set_max_concurrent(2).unwrap();
    assert!(pool.acquire().is_ok(), "that is not in force yet");
    pool.enable();
    assert_eq!((pool.in_flight(), pool.max_concurrent()), (100, 2), "nobody is sent away");
    assert!(pool.acquire().is_err());
    slots.truncate(2);
    assert!(pool.acquire().is_err());
    slots.pop();
    assert!(pool.acquire().is_ok());
}

#[test]
fn a_closed_one_that_is_disabled_lets_everybody_in() {
    let pool = pool("closed_disabled", 0);
    pool.disable();
    assert!(pool.acquire().is_ok());
    pool.enable();
    assert!(pool.acquire().is_err());
}

#[test]
fn rg19_a_bulkhead_names_the_field_that_makes_no_sense() {
    let builder = || Bulkhead::builder("rg19");
    let refused = [
        (builder(), "max_concurrent"),
        (builder().wait(MS).queue(3), "max_concurrent"),
        (builder().max_concurrent((1 << 30) + 1), "max_concurrent"),
        (builder().max_concurrent(u32::MAX), "max_concurrent"),
        (builder().max_concurrent(1).queue((1 << 30) + 1), "queue"),
        (builder().max_concurrent(1).queue(u32::MAX), "queue"),
    ];
    for (builder, field) in refused {
        let error = builder.try_build().expect_err(field);
        assert_eq!(error.field(), field);
        assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
    }
    let edges = builder().max_concurrent(1 << 30).queue(1 << 30).wait(Duration::MAX);
    assert!(edges.try_build().is_ok(), "the ends of the ranges make sense");
    assert!(builder().max_concurrent(0).queue(0).try_build().is_ok());
}

#[test]
fn rg05_rg19_a_bad_change_keeps_the_last_good_one_and_loses_nobody() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = pool("rg05", 1);
    let one = inside(&pool, 1);
    let mut tasks = waiting(&pool, 1);
    let before = pool.options();
    assert_eq!(pool.set_max_concurrent(u32::MAX).unwrap_err().field(), "max_concurrent");
    assert_eq!(pool.set_queue(u32::MAX).unwrap_err().field(), "queue");
    assert_eq!((pool.options(), pool.in_flight(), pool.waiting()), (before, 1, 1));
    pool.set_wait(Duration::MAX).unwrap();
    drop(one);
    assert_eq!(came_in(&mut tasks).len(), 1);
}

#[test]
fn the_catalogue_shows_it() {
    static SHOWN: Bulkhead =
        Bulkhead::builder("shown").max_concurrent(2).wait(Duration::from_millis(10)).build();
    resil::register!(SHOWN);
    let entry = catalog().find(Kind::Bulkhead, "shown").expect("it is listed");
    assert_eq!(entry.state(), "free");
    let two = inside(&SHOWN, 2);
    assert_eq!(entry.state(), "full");
    let shown = |option| setting(Kind::Bulkhead, "shown", option).to_string();
    let settings = || ["max_concurrent", "wait", "queue"].map(shown).join(" ");
    assert_eq!(settings(), "2 10ms 2");
    let handle = entry.bulkhead().expect("it is one");
    handle.set_wait(Duration::ZERO).unwrap();
    handle.set_queue(7).unwrap();
    assert_eq!(settings(), "2 off 7");
    handle.set_wait(Duration::MAX).unwrap();
    assert_eq!(settings(), "2 unbounded 7");
    let names: Vec<_> = entry.counters().iter().map(|counter| counter.name).collect();
    assert_eq!(names, ["admitted", "waited", "refused", "expired", "abandoned"]);
    assert!(format!("{SHOWN:?} {two:?}").contains("in_flight: 2"));
}
