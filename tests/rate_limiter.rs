//! The rate limiter by hand: what an operator does to it, what it counts, and what it makes of nonsense.

use resil::time::{self, Deadline};
use resil::{InvalidOption, Rate, RateLimiter, RateLimiterBuilder, Start};
use std::time::Duration;
use tests::{World, block_on, on_a_manual_clock, poll_once, run, without_a_runtime};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

fn builder(permits: u64, per: Duration) -> RateLimiterBuilder {
    RateLimiter::builder("by_hand").rate(Rate::new(permits, per))
}

/// How many of so many calls pass now.
fn passed(limiter: &RateLimiter, calls: u64) -> u64 {
    (0..calls).map(|_| u64::from(limiter.acquire().is_ok())).sum()
}

fn counted(limiter: &RateLimiter) -> Vec<(&'static str, u64)> {
    let mut counts = Vec::new();
    resil::Policy::counters(limiter, &mut |counter| counts.push((counter.name, counter.value)));
    counts
}

fn field<T>(refused: Result<T, InvalidOption>) -> &'static str {
    refused.err().expect("it makes no sense").field()
}

#[test]
fn rg19_nonsense_is_refused_by_the_name_of_its_field_and_changes_nothing() {
    let (clock, _) = on_a_manual_clock();
    assert_eq!(field(RateLimiter::builder("x").try_build()), "rate");
    assert_eq!(field(builder(0, SECOND).try_build()), "rate");
    assert_eq!(field(builder(1, Duration::ZERO).try_build()), "rate");
    assert_eq!(field(builder(1, Duration::MAX).try_build()), "rate");
    assert_eq!(field(builder(10, SECOND).burst(0).try_build()), "burst");
    assert_eq!(field(builder(1, 365 * 24 * HOUR).burst(11).try_build()), "burst");
    assert_eq!(field(builder(10, SECOND).shards(0).try_build()), "shards");
    assert_eq!(field(builder(10, SECOND).shards(9).try_build()), "shards");
    assert_eq!(field(builder(10, SECOND).burst(10).shards(4).try_build()), "burst");

    let limiter = builder(10, SECOND).burst(4).build();
    assert_eq!(passed(&limiter, 3), 3);
    let before = limiter.options();
    assert_eq!(field(limiter.set_rate(Rate::per_second(0))), "rate");
    assert_eq!(field(limiter.set_rate(Rate::new(2, Duration::from_nanos(1)))), "rate");
    assert_eq!(field(limiter.set_rate(Rate::new(1, Duration::MAX))), "rate");
    // Four of them would take forty years.
    assert_eq!(field(limiter.set_rate(Rate::new(1, 10 * 365 * 24 * HOUR))), "burst");
    assert_eq!(field(limiter.set_burst(0)), "burst");
    assert_eq!((limiter.options(), limiter.available()), (before, 1), "nothing was changed");
    clock.advance("100ms");
    assert_eq!(passed(&limiter, 9), 2);
}

#[test]
fn l09_the_longest_wait_is_a_wait() {
    let (clock, _) = on_a_manual_clock();
    let limiter = builder(1, 24 * HOUR).burst(1).wait(Duration::MAX).build();
    limiter.acquire_blocking().expect("it is full");
    let begin = clock.now();
    limiter.acquire_blocking().expect("a day is less");
    assert_eq!(clock.now().since(begin).to_duration(), 24 * HOUR);
    assert_eq!(limiter.set_wait(Duration::ZERO), Ok(()));
    assert!(limiter.acquire_blocking().is_err());
}

#[test]
fn a_call_that_costs_nothing_passes_and_one_that_costs_too_much_never_does() {
    let (_clock, _) = on_a_manual_clock();
    let limiter = builder(1, HOUR).burst(2).build();
    assert!(limiter.acquire_many(3).unwrap_err().is_never());
    assert!(limiter.acquire_many(u32::MAX).unwrap_err().is_never());
    assert_eq!(limiter.available(), 2);
    assert!(limiter.acquire_many(2).is_ok());
    let refused = limiter.acquire_many(1).unwrap_err();
    let hint = refused.retry_after().expect("when to come back");
    // Eight digits, rounded up.
    assert!(hint >= HOUR && hint < HOUR + Duration::from_millis(1), "{hint:?}");
    assert!(limiter.acquire_many(0).is_ok());
    assert!(limiter.enter(0, Deadline::NEVER).is_ok());
}

/// What a note on the door says is what is worked out without one.
#[test]
fn rl17_every_refusal_of_one_wait_counts_down_to_the_same_instant() {
    let (clock, _) = on_a_manual_clock();
    for gap in [Duration::from_micros(50), Duration::from_millis(3), SECOND, HOUR] {
        let limiter = builder(1, gap).burst(1).build();
        assert_eq!(passed(&limiter, 1), 1);
        let step = gap / 16;
        for passed in 0..16 {
            let left = gap.saturating_sub(step * passed);
            let hint = limiter.acquire().unwrap_err().retry_after().expect("when to come back");
            let rounded = left.as_nanos() >> 26;
            assert!(
                hint >= left && hint.as_nanos() <= left.as_nanos() + rounded,
                "{hint:?}, not {left:?}"
            );
            clock.advance(step);
        }
        clock.advance(gap.saturating_sub(step * 16));
        assert_eq!(passed(&limiter, 2), 1, "one in {gap:?}");
    }
}

#[test]
fn what_is_given_back_opens_the_door_at_once() {
    let (clock, _) = on_a_manual_clock();
    let limiter = builder(1, HOUR).burst(1).build();
    let cells = limiter.enter(1, Deadline::NEVER).expect("it is full");
    assert!(limiter.acquire().is_err(), "there is a note on the door");
    drop(cells);
    assert_eq!(passed(&limiter, 2), 1);
    clock.advance(HOUR);
    let mut spent = limiter.enter(1, Deadline::NEVER).expect("an hour is over");
    assert_eq!((spent.spend(), spent.spend()), (time::now(), time::now()));
    drop(spent);
    assert!(limiter.acquire().is_err(), "what was spent does not come back");
    // Nor does a change leave the note of another rate.
    limiter.set_rate(Rate::new(1, SECOND)).unwrap();
    clock.advance(SECOND);
    assert_eq!(passed(&limiter, 2), 1);
}

/// What has come in again by itself is not given back on top.
#[test]
fn l12_giving_back_late_gives_no_more_than_was_lost() {
    let (clock, _) = on_a_manual_clock();
    let limiter = builder(10, SECOND).burst(5).build();
    let cells = limiter.enter(3, Deadline::NEVER).expect("it is full");
    clock.advance("10s");
    assert_eq!(passed(&limiter, 9), 5);
    drop(cells);
    assert_eq!(passed(&limiter, 9), 0);
}

#[test]
fn disabled_it_lets_everybody_pass_and_takes_nothing() {
    let (clock, _) = on_a_manual_clock();
    let limiter = builder(1, SECOND).burst(2).build();
    assert_eq!(passed(&limiter, 1), 1);
    limiter.disable();
    assert_eq!((passed(&limiter, 9), limiter.available(), limiter.is_enabled()), (9, 1, false));
    drop(limiter.enter(2, Deadline::NEVER).expect("disabled"));
    assert_eq!(resil::Policy::state(&limiter), "disabled");
    limiter.enable();
    assert_eq!((passed(&limiter, 9), limiter.is_enabled()), (1, true));
    assert_eq!(resil::Policy::state(&limiter), "exhausted");
    clock.advance("1s");
    assert_eq!((resil::Policy::state(&limiter), passed(&limiter, 9)), ("ready", 1));
}

#[test]
fn a_reset_is_as_new() {
    let (clock, _) = on_a_manual_clock();
    for (start, at_first) in [(Start::Full, 4), (Start::Empty, 0)] {
        let limiter = builder(10, SECOND).burst(4).start(start).build();
        assert_eq!(passed(&limiter, 9), at_first);
        clock.advance("200ms");
        limiter.reset();
        assert_eq!(passed(&limiter, 9), at_first);
        clock.advance("100ms");
        assert_eq!(passed(&limiter, 9), 1);
    }
}

/// Three wait, due in 10, 20 and 30 s. Who was first in the queue is let in first.
#[test]
fn a_reset_serves_those_who_wait_before_anybody_else() {
    let (clock, world) = without_a_runtime();
    let limiter = builder(1, 10 * SECOND).burst(2).wait(60 * SECOND).build();
    assert_eq!(passed(&limiter, 9), 2);
    let mut waiting = [(); 3].map(|()| Box::pin(limiter.acquire_async()));
    assert!(waiting.iter_mut().all(|waits| poll_once(waits.as_mut()).is_pending()));
    limiter.reset();
    assert_eq!((passed(&limiter, 9), limiter.waiting()), (0, 3), "two permits for three");
    assert!(poll_once(waiting[0].as_mut()).is_ready());
    assert!(poll_once(waiting[1].as_mut()).is_ready());
    run(&clock, waiting[2].as_mut()).expect("the next permit");
    assert_eq!(world.ms(), 10_000);
}

#[test]
fn l07_a_slower_rate_sends_away_whom_it_would_keep_too_long() {
    let (clock, world) = without_a_runtime();
    let limiter = builder(1, SECOND).burst(1).wait(5 * SECOND).build();
    limiter.acquire().unwrap();
    let [mut first, mut second] = [(); 2].map(|()| Box::pin(limiter.acquire_async()));
    assert!(poll_once(first.as_mut()).is_pending() && poll_once(second.as_mut()).is_pending());
    limiter.set_rate(Rate::new(1, 4 * SECOND)).unwrap();
    let refused = match poll_once(second.as_mut()) {
        std::task::Poll::Ready(Err(refused)) => refused,
        other => panic!("eight seconds are too long, but {other:?}"),
    };
    assert_eq!(refused.retry_after(), Some(8 * SECOND));
    run(&clock, first).expect("four are not");
    assert_eq!(world.ms(), 4_000);
    let expected =
        [("admitted", 1), ("waited", 1), ("refused", 1), ("abandoned", 0), ("given_back", 0)];
    assert_eq!(counted(&limiter), expected);
}

#[test]
fn l07_an_unwritten_burst_follows_the_rate() {
    let (clock, _) = on_a_manual_clock();
    let limiter = builder(10, SECOND).build();
    assert_eq!(passed(&limiter, 7), 7);
    limiter.set_rate(Rate::per_second(40)).unwrap();
    assert_eq!(limiter.options().burst, 40);
    assert_eq!(passed(&limiter, 99), 3, "no permit comes of the change itself");
    clock.advance("1s");
    assert_eq!(passed(&limiter, 99), 40);
    limiter.set_burst(5).unwrap();
    limiter.set_rate(Rate::per_second(100)).unwrap();
    assert_eq!(limiter.options().burst, 5, "now it is written");
}

#[test]
fn l17_those_who_wait_when_the_clock_goes_back_keep_their_order_and_are_let_in() {
    let (clock, _) = without_a_runtime();
    clock.advance(10 * HOUR);
    let limiter = builder(1, SECOND).burst(1).wait(10 * SECOND).build();
    limiter.acquire().unwrap();
    let mut waiting = [(); 2].map(|()| Box::pin(limiter.acquire_async()));
    assert!(waiting.iter_mut().all(|waits| poll_once(waits.as_mut()).is_pending()));
    clock.set(clock.now().since(time::Nanos::from_duration(5 * HOUR)));
    let begin = clock.now();
    let third = limiter.acquire_blocking();
    assert!(third.is_ok(), "{third:?}: behind the other two");
    assert_eq!(clock.now().since(begin).to_duration(), 3 * SECOND);
    assert!(waiting.iter_mut().all(|waits| poll_once(waits.as_mut()).is_ready()));
}

/// Each call is in one count, and nothing is given back but what was taken.
#[test]
fn rg12_the_counts_add_up() {
    let (clock, _) = without_a_runtime();
    let limiter = builder(1, SECOND).burst(2).wait(SECOND).build();
    drop(limiter.enter(1, Deadline::NEVER).expect("it is full"));
    assert_eq!(passed(&limiter, 4), 2);
    let mut waits = Box::pin(limiter.acquire_async());
    assert!(poll_once(waits.as_mut()).is_pending());
    assert!(limiter.acquire_blocking().is_err(), "two seconds are too long");
    drop(waits);
    run(&clock, limiter.acquire_async()).expect("a second");
    let expected =
        [("admitted", 3), ("waited", 1), ("refused", 3), ("abandoned", 1), ("given_back", 1)];
    assert_eq!(counted(&limiter), expected);
}

/// X2: one limiter for a thread that waits and a task that waits, in one order.
#[test]
fn x02_threads_and_tasks_wait_in_one_order() {
    let (clock, _) = without_a_runtime();
    let limiter = builder(1, SECOND).burst(1).wait(10 * SECOND).build();
    let world = World::manual(&clock);
    limiter.acquire().unwrap();
    let mut task = Box::pin(limiter.acquire_async());
    assert!(poll_once(task.as_mut()).is_pending());
    limiter.acquire_blocking().expect("behind the task");
    assert_eq!(world.ms(), 2_000);
    assert!(poll_once(task.as_mut()).is_ready());
}

#[test]
fn l14_a_wait_is_clipped_by_the_deadline_that_is_given() {
    let (clock, _) = on_a_manual_clock();
    let limiter = builder(1, SECOND).burst(1).wait(HOUR).build();
    limiter.acquire().unwrap();
    let begin = clock.now();
    let soon = Deadline::after(Duration::from_millis(999));
    assert!(limiter.enter(1, soon).is_err());
    assert!(block_on(limiter.enter_async(1, soon)).is_err());
    assert_eq!(clock.now(), begin, "nobody waits for what comes too late");
    let mut cells = limiter.enter(1, Deadline::after(SECOND)).expect("just in time");
    assert_eq!(
        cells.spend().since(begin).to_duration(),
        SECOND,
        "the reading is that of the wake-up"
    );
}
