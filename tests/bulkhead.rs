//! The bulkhead by hand and through the attribute: who gets a place, who waits, who is refused. Rows K… and faults from the field.

use resil::testing::ManualClock;
use resil::time::{self, Deadline};
use resil::{Bulkhead, Entering, Event, Kind, Policy, Reason, Rejected, Slot, resilient};
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;
use tests::trial::caught;
use tests::{
    Calls, Fault, Wakes, block_on, bulkhead_of, counts, heard, later, listen, on_a_manual_clock,
    poll_once, worlds,
};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// One place, and a wait of an hour for it.
const fn one_place(name: &'static str) -> Bulkhead {
    Bulkhead::builder(name).max_concurrent(1).wait(HOUR).queue(100).build()
}

/// So many tasks that wait for a place, in this order.
fn waiting(pool: &Bulkhead, tasks: usize) -> Vec<Pin<Box<Entering<'_>>>> {
    let wait = |_| {
        let mut task = Box::pin(pool.acquire_async());
        assert!(poll_once(task.as_mut()).is_pending());
        task
    };
    (0..tasks).map(wait).collect()
}

fn is_full<T: std::fmt::Debug>(outcome: Result<T, Rejected>, policy: &str) -> bool {
    let rejected = outcome.expect_err("refused");
    (rejected.reason(), rejected.policy()) == (Reason::BulkheadFull, policy)
}

/// `admitted`, `waited`, `refused`, `expired`, `abandoned`.
fn counts_of(pool: &Bulkhead) -> [u64; 5] {
    let (mut counted, mut next) = ([0; 5], 0);
    pool.counters(&mut |counter| {
        counted[next] = counter.value;
        next += 1;
    });
    counted
}

// ---- at once --------------------------------------------------------------------------------------------------------------

#[test]
fn so_many_are_inside_and_the_next_is_refused() {
    let (clock, _world) = on_a_manual_clock();
    let pool = Bulkhead::builder("at_once").max_concurrent(2).build();
    let (one, two) = (pool.acquire().unwrap(), pool.acquire_blocking().unwrap());
    assert_eq!((pool.in_flight(), pool.available(), pool.waiting()), (2, 0, 0));
    let refused = pool.acquire().unwrap_err();
    assert_eq!(refused, Rejected::new(Reason::BulkheadFull, "at_once"));
    assert_eq!(refused.retry_after(), None, "nobody knows when a place will be free");
    assert!(is_full(pool.acquire_blocking(), "at_once"));
    assert!(is_full(block_on(pool.acquire_async()), "at_once"));
    drop(one);
    let three = block_on(pool.acquire_async()).unwrap();
    assert!(pool.acquire().is_err());
    drop((two, three));
    assert_eq!((pool.in_flight(), pool.available()), (0, 2));
    assert_eq!(clock.readings(), 0, "none of it asks for the time");
}

#[test]
fn a_low_limit_and_a_high_one_are_kept_alike() {
    for limit in [1, 2, 31, 32, 33, 34, 64, 1_000] {
        let pool = Bulkhead::builder("exact").max_concurrent(limit).build();
        for _ in 0..3 {
            let inside: Vec<Slot<'_>> = std::iter::from_fn(|| pool.acquire().ok()).collect();
            assert_eq!(inside.len(), limit as usize);
            assert!(pool.acquire().is_err() && pool.acquire_blocking().is_err());
            assert_eq!(
                (pool.in_flight(), pool.available()),
                (limit, 0),
                "a refusal leaves nothing"
            );
        }
        assert_eq!(pool.available(), limit);
    }
}

worlds! {
    bh08_a_refused_call_has_not_begun:
    [bulkhead(max_concurrent = 1)]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        let calls = Calls::new(&world);
        let inside = bulkhead_of(NAME).acquire().unwrap();
        let refused = call(&calls).await.unwrap_err().refusal().expect("a refusal");
        assert_eq!((refused.reason(), refused.policy()), (Reason::BulkheadFull, NAME));
        assert_eq!(calls.count(), 0, "no statement of it was run");
        drop(inside);
        assert_eq!(call(&calls).await, Ok(1));
    }
}

#[tokio::test(start_paused = true)]
async fn ls02_a_task_without_budget_left_is_admitted_all_the_same() {
    #[resilient(bulkhead(max_concurrent = 100), name = "ls02")]
    async fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    let (letters, mut box_of_letters) = tokio::sync::mpsc::unbounded_channel();
    for letter in 0..200 {
        letters.send(letter).unwrap();
    }
    let (mut taken, mut call) = (0, pin!(call()));
    let outcome = poll_fn(|cx| {
        while box_of_letters.poll_recv(cx).is_ready() {
            taken += 1;
        }
        Poll::Ready(call.as_mut().poll(cx))
    })
    .await;
    assert!(taken < 200, "the budget was used up");
    assert_eq!(outcome, Poll::Ready(Ok(1)));
}

// ---- every way out --------------------------------------------------------------------------------------------------------

worlds! {
    k01_bh04_every_way_out_gives_the_place_back:
    [bulkhead(max_concurrent = 2)]
    (how: u32) -> Result<u32, Fault> {
        match how {
            0 => return Ok(0),
            1 => Err(Fault::Mine)?,
            2 => panic!("in the body"),
            _ => {}
        }
        Ok(how)
    }
    |_world| {
        for round in 0..10 {
            for how in [0, 1, 2, 3] {
                let outcome = caught(async { call(how).await }).await;
                assert_eq!(outcome.is_err(), how == 2);
                assert_eq!(bulkhead_of(NAME).available(), 2, "after {how} in round {round}");
            }
        }
        let both = (bulkhead_of(NAME).acquire(), bulkhead_of(NAME).acquire());
        assert!(both.0.is_ok() && both.1.is_ok());
    }
}

#[test]
fn k01_a_slot_by_hand_survives_a_panic() {
    let pool = Bulkhead::builder("unwound").max_concurrent(1).build();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _slot = pool.acquire().unwrap();
        panic!("inside");
    }));
    assert!(unwound.is_err());
    assert_eq!(pool.available(), 1);
}

#[test]
fn k01_k02_a_dropped_future_ends_the_work_and_gives_its_place_back() {
    #[resilient(bulkhead(max_concurrent = 1), name = "k02_dropped")]
    async fn call() -> Result<u32, Fault> {
        pending().await
    }
    let pool = bulkhead_of("k02_dropped");
    let unpolled = call();
    assert_eq!(pool.in_flight(), 0, "it has not begun");
    drop(unpolled);
    for _ in 0..10 {
        let mut call = Box::pin(call());
        assert!(poll_once(call.as_mut()).is_pending());
        assert_eq!(pool.in_flight(), 1);
        drop(call);
        assert_eq!(pool.in_flight(), 0);
    }
}

#[test]
fn k02_a_place_is_the_works_and_not_the_callers() {
    #[resilient(bulkhead(max_concurrent = 1), timeout = "10ms", name = "k02_async")]
    async fn asynchronous() -> Result<u32, Fault> {
        pending().await
    }
    #[resilient(bulkhead(max_concurrent = 1), timeout("10ms", late = timeout), name = "k02_sync")]
    fn blocking() -> Result<u32, Fault> {
        time::sleep_blocking(time::Nanos::from_ms(11));
        // The caller's time is over, the work is not.
        assert!(bulkhead_of("k02_sync").acquire().is_err());
        Ok(1)
    }
    let (clock, _world) = on_a_manual_clock();
    let pool = bulkhead_of("k02_async");
    let mut call = pin!(asynchronous());
    assert!(poll_once(call.as_mut()).is_pending());
    clock.advance("11ms");
    assert_eq!(pool.in_flight(), 1, "the body is there until it is dropped");
    let Poll::Ready(Err(Fault::Refused(ended))) = poll_once(call) else { panic!("it is over") };
    assert_eq!((ended.reason(), pool.in_flight()), (Reason::TimedOut, 0));

    let late = blocking().unwrap_err().refusal().expect("it was late");
    assert_eq!((late.reason(), bulkhead_of("k02_sync").in_flight()), (Reason::TimedOut, 0));
}

#[test]
fn bh05_a_finished_future_holds_no_place() {
    #[resilient(bulkhead(max_concurrent = 1), name = "bh05")]
    async fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    let (mut first, mut second) = (pin!(call()), pin!(call()));
    assert_eq!(poll_once(first.as_mut()), Poll::Ready(Ok(1)));
    assert_eq!(poll_once(second.as_mut()), Poll::Ready(Ok(1)), "while the first is still there");

    let pool = Bulkhead::builder("bh05_by_hand").max_concurrent(1).build();
    let mut entering = pin!(pool.acquire_async());
    let Poll::Ready(Ok(slot)) = poll_once(entering.as_mut()) else { panic!("a place is free") };
    drop(slot);
    assert_eq!(pool.available(), 1, "the future that led to the slot holds none");
}

// ---- waiting --------------------------------------------------------------------------------------------------------------

#[test]
fn k07_who_waits_is_served_in_the_order_of_coming_and_nobody_passes() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = one_place("k07");
    let mut inside = pool.acquire().unwrap();
    let mut tasks = waiting(&pool, 5);
    for served in 0..5 {
        drop(inside);
        assert_eq!((pool.in_flight(), pool.waiting()), (1, 4 - served), "handed over at once");
        assert!(is_full(pool.acquire(), "k07"), "not past the queue");
        let mut late = pin!(pool.acquire_async());
        assert!(poll_once(late.as_mut()).is_pending(), "behind the others");
        for task in tasks.iter_mut().skip(1) {
            assert!(poll_once(task.as_mut()).is_pending());
        }
        let Poll::Ready(Ok(slot)) = poll_once(tasks.remove(0).as_mut()) else { panic!("{served}") };
        inside = slot;
    }
    drop(inside);
    assert_eq!(counts_of(&pool), [1, 5, 5, 0, 5]);
}

#[test]
fn threads_and_tasks_wait_in_one_queue() {
    const EACH: u32 = 4;
    let pool = one_place("one_queue");
    let order = Mutex::new(Vec::new());
    let inside = pool.acquire().unwrap();
    thread::scope(|scope| {
        for number in 0..2 * EACH {
            let (pool, order) = (&pool, &order);
            scope.spawn(move || {
                let slot = if number & 1 == 0 {
                    pool.acquire_blocking()
                } else {
                    block_on(pool.acquire_async())
                };
                order.lock().unwrap().push(number);
                drop(slot.unwrap());
            });
            while pool.waiting() <= number {
                thread::yield_now();
            }
        }
        drop(inside);
    });
    assert_eq!(*order.lock().unwrap(), (0..2 * EACH).collect::<Vec<_>>());
    assert_eq!((pool.in_flight(), pool.waiting()), (0, 0));
}

#[test]
fn a_sync_wait_on_a_manual_clock_moves_it_as_far_as_to_the_place() {
    static POOL: Bulkhead =
        Bulkhead::builder("sync_wait").max_concurrent(1).wait(Duration::from_millis(10)).build();
    let (_clock, world) = on_a_manual_clock();
    let inside = POOL.acquire().unwrap();
    assert!(is_full(POOL.acquire_blocking(), "sync_wait"));
    assert_eq!(world.now(), 10 * MS, "all of it");

    let _leaves = later("4ms", move || drop(inside));
    let slot = POOL.acquire_blocking().expect("it was left");
    assert_eq!(world.now(), 14 * MS, "no longer than until it was free");

    let _leaves = later("10ms", move || drop(slot));
    let slot = POOL.acquire_blocking().expect("a place of the last instant is one");
    assert_eq!(world.now(), 24 * MS);
    drop(slot);
    assert_eq!(counts_of(&POOL), [1, 2, 0, 1, 0]);
}

#[test]
fn k08_a_wait_is_kept_to_the_nanosecond() {
    let (clock, world) = on_a_manual_clock();
    let wait = Duration::from_nanos(1_500);
    let pool = Bulkhead::builder("k08").max_concurrent(1).wait(wait).build();
    let _inside = pool.acquire().unwrap();
    let due = world.now() + wait;
    assert!(is_full(pool.acquire_blocking(), "k08"));
    assert_eq!(world.now(), due);

    let (woken, waker) = Wakes::pair();
    let mut task = pin!(pool.acquire_async());
    assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    clock.advance("1499ns");
    assert_eq!((poll_once(task.as_mut()).is_pending(), woken.times()), (true, 0));
    clock.advance("1ns");
    assert!(matches!(poll_once(task.as_mut()), Poll::Ready(Err(_))));
    assert_eq!(pool.waiting(), 0);
}

#[test]
fn a_wait_without_an_end_has_none() {
    let (clock, _world) = on_a_manual_clock();
    let pool = Bulkhead::builder("endless").max_concurrent(1).wait(Duration::MAX).build();
    let inside = pool.acquire().unwrap();
    let mut task = pin!(pool.acquire_async());
    assert!(poll_once(task.as_mut()).is_pending());
    assert_eq!(clock.timers(), 0, "there is nothing to wake it for");
    clock.advance(HOUR * 24 * 365);
    assert!(poll_once(task.as_mut()).is_pending());
    drop(inside);
    assert!(matches!(poll_once(task.as_mut()), Poll::Ready(Ok(_))));
}

#[test]
fn the_queue_is_bounded() {
    let (_clock, _world) = on_a_manual_clock();
    for (written, long) in [(None, 3), (Some(2), 2), (Some(0), 0)] {
        let builder = Bulkhead::builder("bounded").max_concurrent(3).wait(HOUR);
        let pool = written.map_or(builder, |queue| builder.queue(queue)).build();
        let _inside: Vec<_> = std::iter::from_fn(|| pool.acquire().ok()).collect();
        let tasks = waiting(&pool, long);
        assert_eq!(pool.waiting() as usize, long);
        assert!(is_full(block_on(pool.acquire_async()), "bounded"), "at once: {written:?}");
        assert!(is_full(pool.acquire_blocking(), "bounded"), "at once: {written:?}");
        drop(tasks);
    }
}

/// It waits for 30 ms and no longer.
fn ends_in_time(clock: &ManualClock, task: impl Future) {
    let mut task = pin!(task);
    assert!(poll_once(task.as_mut()).is_pending());
    clock.advance("29ms");
    assert!(poll_once(task.as_mut()).is_pending());
    clock.advance("1ms");
    assert!(poll_once(task).is_ready());
}

#[test]
fn t08_l14_a_wait_ends_with_the_calls_deadline() {
    let (clock, world) = on_a_manual_clock();
    let pool = one_place("t08");
    let inside = pool.acquire().unwrap();
    let deadline = || Deadline::after(30 * MS);
    assert!(is_full(pool.enter(deadline()), "t08"));
    assert_eq!(world.now(), 30 * MS);

    // The one that is given, and the one of whoever is above.
    ends_in_time(&clock, pool.enter_async(deadline()));
    ends_in_time(&clock, deadline().attach(pool.acquire_async()));
    assert_eq!(counts_of(&pool), [1, 0, 0, 3, 0]);

    let passed = Deadline::after(Duration::ZERO);
    assert!(is_full(pool.enter(passed), "t08"));
    assert!(is_full(block_on(pool.enter_async(passed)), "t08"));
    assert_eq!(world.now(), 90 * MS, "with no time left nobody waits");
    drop(inside);
    assert!(pool.enter(passed).is_ok(), "and who need not wait is not asked");
}

#[test]
fn k05_a_place_is_not_given_to_who_has_no_time_left() {
    let (clock, _world) = on_a_manual_clock();
    let pool = one_place("k05");
    let mut inside = pool.acquire().unwrap();
    for (after, served) in [("10ms", 0), ("11ms", 1)] {
        let mut first = pin!(pool.enter_async(Deadline::after(10 * MS)));
        let (woken, waker) = Wakes::pair();
        assert!(first.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let mut second = pin!(pool.acquire_async());
        assert!(poll_once(second.as_mut()).is_pending());
        // Nobody polls meanwhile.
        clock.advance(after);
        drop(inside);
        assert!(woken.times() > 0);
        let (first, second) = (poll_once(first), poll_once(second));
        inside = match (first, second) {
            (Poll::Ready(Ok(slot)), Poll::Pending) if served == 0 => slot,
            (Poll::Ready(Err(_)), Poll::Ready(Ok(slot))) if served == 1 => slot,
            other => panic!("after {after}: {other:?}"),
        };
    }
}

#[test]
fn k04_bh01_a_place_handed_to_who_has_given_up_is_passed_on() {
    let (clock, _world) = on_a_manual_clock();
    let pool = one_place("k04");
    // Dropped between the hand-over and its poll: the next has it, or it is free.
    for waiters in [1, 2] {
        let inside = pool.acquire().unwrap();
        let mut tasks = waiting(&pool, waiters);
        drop(inside);
        drop(tasks.remove(0));
        match tasks.pop() {
            None => assert_eq!(pool.available(), 1),
            Some(mut next) => assert!(matches!(poll_once(next.as_mut()), Poll::Ready(Ok(_)))),
        }
    }
    // Polled only after its time: the place was handed over in time, and is taken.
    let inside = pool.acquire().unwrap();
    let mut late = waiting(&pool, 1).remove(0);
    drop(inside);
    clock.advance(2 * HOUR);
    assert!(matches!(poll_once(late.as_mut()), Poll::Ready(Ok(_))));
    assert_eq!((pool.available(), pool.waiting()), (1, 0));
}

#[test]
fn bh01_eight_who_gave_up_take_nothing_with_them() {
    let (clock, _world) = on_a_manual_clock();
    for dropped in [false, true] {
        let pool = Bulkhead::builder("bh01").max_concurrent(1).wait(10 * MS).queue(8).build();
        let inside = pool.acquire().unwrap();
        let mut tasks = waiting(&pool, 8);
        clock.advance("10ms");
        if dropped {
            tasks.clear();
        }
        for task in &mut tasks {
            assert!(matches!(poll_once(task.as_mut()), Poll::Ready(Err(_))));
        }
        assert_eq!(pool.waiting(), 0);
        clock.advance("40ms");
        drop(inside);
        clock.advance("1ms");
        assert_eq!(pool.available(), 1);
        assert!(pool.acquire().is_ok());
        let left = if dropped { [2, 0, 0, 0, 8] } else { [2, 0, 0, 8, 0] };
        assert_eq!(counts_of(&pool), left);
    }
}

#[test]
fn who_leaves_from_the_middle_of_the_queue_leaves_the_rest_in_order() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = one_place("middle");
    let mut inside = pool.acquire().unwrap();
    let mut tasks = waiting(&pool, 6);
    for gone in [5, 2, 0] {
        drop(tasks.remove(gone));
    }
    assert_eq!(pool.waiting(), 3);
    for mut task in tasks {
        drop(inside);
        let Poll::Ready(Ok(slot)) = poll_once(task.as_mut()) else { panic!("in order") };
        inside = slot;
    }
}

#[test]
fn the_waker_of_the_last_poll_is_woken_and_a_departed_one_is_not_kept() {
    let (_clock, _world) = on_a_manual_clock();
    let pool = one_place("wakers");
    let inside = pool.acquire().unwrap();
    let ((first, a_waker), (second, b_waker)) = (Wakes::pair(), Wakes::pair());
    let mut task = Box::pin(pool.acquire_async());
    for waker in [&a_waker, &b_waker, &b_waker] {
        assert!(task.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    }
    drop(a_waker);
    assert_eq!(Arc::strong_count(&first), 1, "the first is of no use any more");
    drop(inside);
    assert_eq!((first.times(), second.times()), (0, 1));
    drop(task);

    let _inside = pool.acquire().unwrap();
    let mut task = Box::pin(pool.acquire_async());
    assert!(task.as_mut().poll(&mut Context::from_waker(&b_waker)).is_pending());
    drop((task, b_waker));
    assert_eq!(Arc::strong_count(&second), 1);
}

/// Asks the bulkhead whenever it is woken or dropped: wherever that is, no lock is held.
struct Nosy(&'static Bulkhead, u32);

impl Nosy {
    fn ask(&self) {
        assert!(self.0.waiting() < 10);
        drop(self.0.acquire());
    }
}

impl Wake for Nosy {
    fn wake(self: Arc<Self>) {
        self.ask();
        assert!(self.1 == 0, "a waker that panics");
    }
}

impl Drop for Nosy {
    fn drop(&mut self) {
        self.ask();
    }
}

#[test]
fn rg08_a_waker_may_ask_the_bulkhead_and_may_panic() {
    static POOL: Bulkhead = one_place("rg08");
    let (_clock, _world) = on_a_manual_clock();
    let mut inside = POOL.acquire().unwrap();
    let nosy = |panics| Waker::from(Arc::new(Nosy(&POOL, panics)));
    let mut tasks: Vec<_> = (0..4).map(|_| Box::pin(POOL.acquire_async())).collect();
    for (panics, task) in [0, 0, 1, 0].into_iter().zip(&mut tasks) {
        assert!(task.as_mut().poll(&mut Context::from_waker(&nosy(panics))).is_pending());
    }
    assert!(tasks[0].as_mut().poll(&mut Context::from_waker(&nosy(0))).is_pending(), "another");
    drop(tasks.remove(0));
    for mut task in tasks {
        drop(inside);
        let Poll::Ready(Ok(slot)) = poll_once(task.as_mut()) else { panic!("served in any case") };
        inside = slot;
    }
}

#[test]
fn a_waiting_future_may_move_between_threads() {
    let pool = one_place("moved");
    let inside = pool.acquire().unwrap();
    let mut task = waiting(&pool, 1).remove(0);
    thread::scope(|scope| {
        let waits = scope.spawn(move || block_on(&mut task).is_ok());
        drop(inside);
        assert!(waits.join().unwrap());
    });
    assert_eq!(pool.available(), 1);
}

worlds! {
    rg12_a_refusal_after_a_wait_is_one_event_and_one_count:
    [bulkhead(max_concurrent = 1, wait = "10ms")]
    (calls: &Calls) -> Result<u32, Fault> { Ok(calls.begin()) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        let inside = bulkhead_of(NAME).acquire().unwrap();
        let refused = call(&calls).await.unwrap_err().refusal().expect("a refusal");
        assert!(world.now() >= 10 * MS && world.now() <= 12 * MS);
        assert_eq!(heard(NAME), [Event::Refused(refused)]);
        assert_eq!(counts(Kind::Bulkhead, NAME), [("admitted", 1), ("expired", 1)]);
        drop(inside);
        assert_eq!(call(&calls).await, Ok(1));
    }
}

/// The body that waits inside holds its place; the one that waits outside holds none.
#[tokio::test(start_paused = true)]
async fn calls_of_a_runtime_share_the_places() {
    #[resilient(bulkhead(max_concurrent = 3, wait = "1h", queue = 100), name = "shared")]
    async fn call(inside: &Cell<u32>) -> Result<u32, Fault> {
        inside.set(inside.get() + 1);
        let together = inside.get();
        tokio::time::sleep(5 * MS).await;
        inside.set(inside.get() - 1);
        Ok(together)
    }
    let inside = Cell::new(0);
    let begin = tokio::time::Instant::now();
    let mut calls: Vec<_> = (0..12).map(|_| Box::pin(call(&inside))).collect();
    let mut most = 0;
    poll_fn(|cx| {
        calls.retain_mut(|call| match call.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(together) => {
                most = most.max(together.expect("admitted"));
                false
            }
        });
        if calls.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    assert_eq!(most, 3);
    assert!(begin.elapsed() >= 20 * MS, "four rounds of three");
    assert_eq!(counts(Kind::Bulkhead, "shared"), [("admitted", 3), ("waited", 9)]);
}
