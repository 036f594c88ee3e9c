//! The bulkhead under real threads and in real time: what must hold whatever happens, and that it did happen.

use resil::{Bulkhead, Kind, Slot};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::Duration;
use tests::{block_on, counts, poll_once};

const US: Duration = Duration::from_micros(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Runs both at the same time, round after round.
fn rounds(rounds: u32, one: impl Fn(u32) + Sync, other: impl Fn(u32) + Sync) {
    let together = Barrier::new(2);
    let run = |side: &(dyn Fn(u32) + Sync)| {
        for round in 0..rounds {
            together.wait();
            side(round);
            together.wait();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run(&one));
        run(&other);
    });
}

/// With a high limit callers enter without a look, which could be taken for somebody inside.
#[test]
fn k09_of_callers_that_meet_with_nobody_inside_as_many_are_admitted_as_fit() {
    for limit in [1, 2, 64] {
        let pool = Bulkhead::builder("k09").max_concurrent(limit).build();
        let (admitted, all_have_asked) = (AtomicU32::new(0), Barrier::new(2));
        let meet = |round: u32| {
            let slots: Vec<_> = (0..limit).filter_map(|_| pool.acquire().ok()).collect();
            admitted.fetch_add(u32::try_from(slots.len()).unwrap(), SeqCst);
            all_have_asked.wait();
            assert_eq!(admitted.load(SeqCst), limit * (round + 1));
        };
        rounds(2_000, meet, meet);
        assert_eq!(pool.in_flight(), 0);
    }
}

#[test]
fn k09_a_caller_that_comes_alone_is_admitted_whatever_went_before() {
    let pool = Bulkhead::builder("k09_alone").max_concurrent(1).build();
    let (refused, both_have_left) = (AtomicU32::new(0), Barrier::new(2));
    let enter_and_leave = || {
        let slot = pool.acquire();
        refused.fetch_add(u32::from(slot.is_err()), SeqCst);
        (0..100).for_each(|_| std::hint::spin_loop());
        drop(slot);
        both_have_left.wait();
    };
    let comes_again = |_| {
        enter_and_leave();
        // There is a place, and nobody to blame for a refusal.
        assert!(pool.acquire().is_ok());
    };
    rounds(10_000, comes_again, |_| enter_and_leave());
    assert_eq!(pool.in_flight(), 0);
    assert!(refused.load(SeqCst) > 0, "they never met");
}

#[test]
fn k04_bh01_a_release_that_meets_a_departure_loses_no_place() {
    let pool = Bulkhead::builder("bh01").max_concurrent(1).wait(HOUR).build();
    let (handed, gone) = (AtomicU32::new(0), AtomicU32::new(0));
    let slot = std::sync::Mutex::new(None);
    let task = std::sync::Mutex::new(None);
    let round = |number: u32| {
        // Both orders, and everything in between.
        for _ in 0..number % 64 {
            std::hint::spin_loop();
        }
    };
    let together = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..10_000 {
                *slot.lock().unwrap() = Some(pool.acquire().expect("free at the start of a round"));
                let mut waits = Box::pin(pool.acquire_async());
                assert!(poll_once(waits.as_mut()).is_pending());
                *task.lock().unwrap() = Some(waits);
                together.wait();
                let leaves = slot.lock().unwrap().take();
                round(number);
                drop(leaves);
                together.wait();
                assert_eq!((pool.available(), pool.waiting()), (1, 0), "round {number}");
            }
        });
        for number in 0..10_000 {
            together.wait();
            let mut departs = task.lock().unwrap().take().expect("it waits");
            round(number / 64);
            // Half of them look once more before they go.
            if number & 1 == 0 && poll_once(departs.as_mut()).is_ready() {
                handed.fetch_add(1, SeqCst);
            } else {
                gone.fetch_add(1, SeqCst);
            }
            drop(departs);
            together.wait();
        }
    });
    assert!(handed.load(SeqCst) > 0 && gone.load(SeqCst) > 0, "both came first at times");
}

/// Waits that end at about the time of a hand-over: each is decided one way, and no place is lost or doubled.
#[test]
fn bh01_k08_a_release_that_meets_the_end_of_a_wait_loses_no_place() {
    static POOL: Bulkhead =
        Bulkhead::builder("bh01_timed").max_concurrent(1).wait(Duration::from_micros(30)).build();
    resil::register!(POOL);
    let inside = AtomicU32::new(0);
    let work = |number: u32| {
        let slot =
            if number & 1 == 0 { POOL.acquire_blocking() } else { block_on(POOL.acquire_async()) };
        if let Ok(slot) = slot {
            assert_eq!(inside.fetch_add(1, SeqCst), 0, "alone");
            for _ in 0..number % 4_000 {
                std::hint::spin_loop();
            }
            inside.fetch_sub(1, SeqCst);
            drop(slot);
        }
    };
    let happened = || {
        let counted = counts(Kind::Bulkhead, "bh01_timed");
        ["waited", "expired"].iter().all(|name| counted.iter().any(|(counter, _)| counter == name))
    };
    let mut calls = 0;
    for _ in 0..200 {
        thread::scope(|scope| {
            for first in 0..4 {
                scope.spawn(move || (0..500).for_each(|number| work(first + number)));
            }
        });
        calls += 2_000;
        if happened() {
            break;
        }
    }
    assert!(happened(), "waits ended either way: {:?}", counts(Kind::Bulkhead, "bh01_timed"));
    assert_eq!((POOL.available(), POOL.waiting()), (1, 0));
    let total: u64 = counts(Kind::Bulkhead, "bh01_timed").iter().map(|(_, value)| value).sum();
    assert_eq!(total, calls, "each call in one counter");
}

/// Who is inside during the stress, and the most that ever were.
static INSIDE: AtomicU32 = AtomicU32::new(0);
static MOST_INSIDE: AtomicU32 = AtomicU32::new(0);
static STOP: AtomicU32 = AtomicU32::new(0);

static STRESSED: Bulkhead = Bulkhead::builder("stress")
    .max_concurrent(MOST)
    .wait(Duration::from_millis(1))
    .queue(1_000)
    .build();
resil::register!(STRESSED);
const MOST: u32 = 40;

fn comes_in() {
    MOST_INSIDE.fetch_max(INSIDE.fetch_add(1, SeqCst) + 1, SeqCst);
}

fn goes_out(slot: Slot<'_>) {
    INSIDE.fetch_sub(1, SeqCst);
    drop(slot);
}

/// Enters and waits as a thread; how often it asked.
fn thread_under_stress() -> u64 {
    let mut asked = 0;
    while STOP.load(SeqCst) == 0 {
        asked += 1;
        let slot = if asked & 1 == 0 { STRESSED.acquire() } else { STRESSED.acquire_blocking() };
        if let Ok(slot) = slot {
            comes_in();
            thread::yield_now();
            goes_out(slot);
        }
    }
    asked
}

/// Enters, yields inside, and is dropped while it waits every other time; how often it asked.
async fn task_under_stress() -> u64 {
    let mut asked = 0;
    while STOP.load(SeqCst) == 0 {
        asked += 1;
        let mut entering = pin!(STRESSED.acquire_async());
        let slot = if asked & 1 == 0 {
            let polled = poll_fn(|cx| Poll::Ready(entering.as_mut().poll(cx))).await;
            let Poll::Ready(slot) = polled else { continue };
            slot
        } else {
            entering.await
        };
        if let Ok(slot) = slot {
            comes_in();
            tokio::task::yield_now().await;
            goes_out(slot);
        }
    }
    asked
}

/// Threads and tasks enter, wait, give up and are dropped, while somebody changes the limit, closes and opens it.
#[test]
fn k01_k03_nobody_is_lost_and_no_limit_is_broken_under_stress() {
    let happened = || {
        let all = ["admitted", "waited", "refused", "expired", "abandoned"];
        let counted = counts(Kind::Bulkhead, "stress");
        all.iter().all(|name| counted.iter().any(|(counter, _)| counter == name))
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_time().build().unwrap();
    let asked = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(thread_under_stress)).collect();
        let tasks: Vec<_> = (0..64).map(|_| runtime.spawn(task_under_stress())).collect();
        for round in 0..20_000_u32 {
            let limit = match round % 16 {
                0 => 0,
                1..=4 => 1,
                5..=8 => 2,
                n => MOST - n,
            };
            STRESSED.set_max_concurrent(limit).unwrap();
            thread::yield_now();
            if round > 2_000 && happened() {
                break;
            }
        }
        STRESSED.set_max_concurrent(MOST).unwrap();
        STOP.store(1, SeqCst);
        let threads: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        let tasks = tasks.into_iter().map(|task| runtime.block_on(task).unwrap());
        threads + tasks.sum::<u64>()
    });
    assert!(happened(), "too little happened: {:?}", counts(Kind::Bulkhead, "stress"));
    assert!(MOST_INSIDE.load(SeqCst) <= MOST);
    assert_eq!((STRESSED.in_flight(), STRESSED.waiting(), STRESSED.available()), (0, 0, MOST));
    let counted: u64 = counts(Kind::Bulkhead, "stress").iter().map(|(_, value)| value).sum();
    assert_eq!(counted, asked, "each call in one counter");
}

/// The same limit for all at the same time, and no changes: never are more inside than that.
#[test]
fn never_are_more_inside_than_the_limit_says() {
    for limit in [1_u32, 3, 40] {
        let pool = Bulkhead::builder("limit").max_concurrent(limit).wait(HOUR).queue(64).build();
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for thread in 0..8 {
                let (pool, inside, most) = (&pool, &inside, &most);
                scope.spawn(move || {
                    let enter = |held: u32| {
                        let slot = match (thread + held) % 3 {
                            0 => pool.acquire(),
                            1 => pool.enter(resil::Deadline::after(50 * US)),
                            _ => block_on(
                                pool.enter_async(resil::Deadline::after(Duration::from_millis(1))),
                            ),
                        };
                        slot.ok().inspect(|_| {
                            most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                        })
                    };
                    for _ in 0..300 {
                        let slots: Vec<_> = (0..8).filter_map(enter).collect();
                        thread::yield_now();
                        for slot in slots {
                            inside.fetch_sub(1, SeqCst);
                            drop(slot);
                        }
                    }
                });
            }
        });
        assert_eq!(most.load(SeqCst), limit, "as many, and no more");
        assert_eq!((pool.in_flight(), pool.waiting()), (0, 0));
    }
}
