//! What is counted of guarded calls (RG05, RG12, RG14, RG20): every call once, for ever, in few series.

use resil::testing::pause;
use resil::{Counter, Kind, Rejected, State, catalog, resilient};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use tests::{
    Fault, breaker_of, bulkhead_of, count, counts, limiter_of, on_a_manual_clock, poll_once, worlds,
};

/// A way for a body to end.
#[derive(Clone, Copy)]
enum Exit {
    Good,
    Bad,
    Neutral,
    Hangs,
    Panics,
    /// The caller goes away early, or late.
    Dropped(&'static str),
}

const EXITS: [Exit; 9] = [
    Exit::Good,
    Exit::Bad,
    Exit::Neutral,
    Exit::Good,
    Exit::Hangs,
    Exit::Panics,
    Exit::Dropped("1ms"),
    Exit::Dropped("100ms"),
    Exit::Bad,
];

/// Whether it has neither returned nor panicked.
fn is_pending<F: Future>(future: &mut Pin<Box<F>>) -> bool {
    matches!(catch_unwind(AssertUnwindSafe(|| poll_once(future.as_mut()))), Ok(Poll::Pending))
}

#[test]
fn rg12_every_exit_is_counted_once_whatever_happens_meanwhile() {
    static BODIES: AtomicU64 = AtomicU64::new(0);

    #[resilient(
        fallback = |_| Ok(0),
        deadline = "1h",
        retry(max = 3, backoff = constant("1ms"), jitter = none),
        circuit_breaker(window = 100, min_calls = 60, failure_rate = "80%", slow_rate = "90%", open_for = "10ms", probes = 2, probe_timeout = "200ms", slow_call = "50ms"),
        rate_limiter(rate = "400/s", burst = 2, wait = "3ms"),
        bulkhead(max_concurrent = 24, wait = "200ms"),
        timeout = "100ms",
        ignore = Err(Fault::Mine),
        name = "rg12"
    )]
    async fn call(exit: Exit) -> Result<u32, Fault> {
        BODIES.fetch_add(1, SeqCst);
        match exit {
            Exit::Good => Ok(1),
            Exit::Bad => Err(Fault::Down(1)),
            Exit::Neutral => Err(Fault::Mine),
            Exit::Hangs | Exit::Dropped(_) => pending().await,
            Exit::Panics => resume_unwind(Box::new("without a word")),
        }
    }

    const THREADS: u32 = 8;
    const CALLS: u32 = 2_000;
    let clock = pause();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let clock = &clock;
            scope.spawn(move || {
                let _clock = clock.install();
                let mut under_way = VecDeque::new();
                for number in 0..CALLS {
                    let exit = EXITS[((thread + number) % 9) as usize];
                    clock.advance("1ms");
                    let mut future = Box::pin(call(exit));
                    if is_pending(&mut future) {
                        under_way.push_back((exit, future));
                    }
                    // Some are under way on each thread while the breaker goes its ways.
                    if let Some((exit, mut future)) =
                        (number % 5 < 2).then(|| under_way.pop_front()).flatten()
                    {
                        if let Exit::Dropped(after) = exit {
                            clock.advance(after);
                            continue;
                        }
                        while is_pending(&mut future) {
                            clock.advance("20ms");
                        }
                    }
                }
            });
        }
    });

    let of = |kind, rare: &[&str]| {
        let counted: BTreeMap<_, _> = counts(kind, "rg12").into_iter().collect();
        for rare in rare {
            assert!(counted.contains_key(rare), "nothing was {rare}: {counted:?}");
        }
        counted
    };
    let breaker = of(
        Kind::CircuitBreaker,
        &["success", "failure", "slow_failure", "ignored", "abandoned", "lost", "refused"],
    );
    let limiter =
        of(Kind::RateLimiter, &["admitted", "waited", "refused", "abandoned", "given_back"]);
    let bulkhead = of(Kind::Bulkhead, &["admitted", "waited", "refused", "expired", "abandoned"]);
    let sum = |counted: &BTreeMap<_, u64>| counted.values().sum::<u64>();
    let (let_through, inside) =
        (limiter["admitted"] + limiter["waited"], bulkhead["admitted"] + bulkhead["waited"]);
    let gates = format!("{breaker:?} {limiter:?} {bulkhead:?}");
    assert_eq!(
        sum(&breaker) - breaker["refused"],
        sum(&limiter) - limiter["given_back"],
        "{gates}"
    );
    assert_eq!(let_through, sum(&bulkhead), "{gates}");
    assert_eq!(inside, BODIES.load(SeqCst), "{gates}");
    assert_eq!(limiter["given_back"], sum(&bulkhead) - inside, "{gates}");
    let places = bulkhead_of("rg12");
    assert_eq!((places.in_flight(), places.waiting(), limiter_of("rg12").waiting()), (0, 0, 0));

    let retry: BTreeMap<_, _> = counts(Kind::Retry, "rg12").into_iter().collect();
    assert_eq!(retry["calls"], u64::from(THREADS * CALLS));
    let outcomes = ["first_try", "recovered", "exhausted", "not_retried", "refused", "abandoned"];
    let sum: u64 =
        outcomes.iter().map(|outcome| retry.get(outcome).copied().unwrap_or_default()).sum();
    assert_eq!((sum, retry["attempts"]), (retry["calls"], retry["calls"] + retry["retries"]));
    assert!(retry["attempts"] >= retry["calls"] && retry["exhausted"] > 0 && retry["refused"] > 0);
}

/// Every counter of every policy of this name.
fn everything(name: &str) -> BTreeMap<(Kind, &'static str), u64> {
    let entries = catalog().iter().filter(|entry| entry.name() == name);
    let counters = entries.flat_map(|entry| {
        entry
            .counters()
            .into_iter()
            .map(move |Counter { name, value }| ((entry.kind(), name), value))
    });
    counters.collect()
}

worlds! {
    rg14_counters_rise_and_never_fall_while_windows_come_and_go:
    [
        fallback = |_| Ok(0),
        retry(max = 2, backoff = constant("1ms"), jitter = none),
        circuit_breaker(window = 4, min_calls = 2, open_for = "1s", probes = 1),
    ]
    (good: bool) -> Result<u32, Fault> { if good { Ok(1) } else { Err(Fault::Down(1)) } }
    |world| {
        let mut last = everything(NAME);
        for _ in 0..3 {
            for good in [true, false, true] {
                let _ = call(good).await;
                let now = everything(NAME);
                assert!(last.iter().all(|(series, value)| *value <= now[series]), "{last:?} {now:?}");
                last = now;
            }
            assert_eq!(breaker_of(NAME).state(), State::Open);
            world.sleep("1001ms").await;
            let _ = call(true).await;
            let calls = breaker_of(NAME).window().calls;
            assert_eq!((breaker_of(NAME).state(), calls), (State::Closed, 0), "the window is another thing");
            last = everything(NAME);
        }
        // Each round: a success, a failure and its refused retry, a refusal, and the probe.
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("success", 6), ("failure", 3), ("refused", 6)]);
        assert_eq!(counts(Kind::Fallback, NAME), [("error", 3), ("rejected", 3)]);
    }
}

/// An error with a text of its own for each call.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Message(String);

impl From<Rejected> for Message {
    fn from(rejected: Rejected) -> Self {
        Self(rejected.to_string())
    }
}

#[test]
fn rg20_a_hundred_thousand_messages_are_one_series_that_goes_on_counting() {
    #[resilient(retry(max = 1), circuit_breaker, allow(max_one), name = "rg20")]
    fn call(number: u32) -> Result<u32, Message> {
        Err(Message(format!("failure {number}")))
    }
    let series = || catalog().iter().map(|entry| entry.counters().len()).sum::<usize>();
    let before = series();
    breaker_of("rg20").disable();
    for number in 0..100_000 {
        call(number).unwrap_err();
    }
    assert_eq!(series(), before, "no error text became a label");
    assert_eq!(counts(Kind::CircuitBreaker, "rg20"), [("failure", 100_000)]);
    assert_eq!(count(Kind::Retry, "rg20", "calls"), 100_000);
}

#[test]
fn rg05_calls_under_way_come_back_to_what_admitted_them() {
    #[resilient(
        circuit_breaker(
            window = 2,
            min_calls = 2,
            open_for = "1s",
            probes = 5,
            failure_rate = "100%"
        ),
        name = "rg05"
    )]
    async fn call(done: &Cell<bool>) -> Result<u32, Fault> {
        poll_fn(|_| if done.get() { Poll::Ready(()) } else { Poll::Pending }).await;
        Err(Fault::Down(1))
    }
    let (clock, _world) = on_a_manual_clock();
    let breaker = breaker_of("rg05");
    let trip = || {
        breaker.acquire().unwrap().failure();
        breaker.acquire().unwrap().failure();
        assert_eq!(breaker.state(), State::Open);
        clock.advance("1s");
    };
    let places = || std::iter::from_fn(|| breaker.acquire().ok()).take(9).collect::<Vec<_>>().len();
    let done = Cell::new(false);

    trip();
    let mut running: Vec<_> = (0..5).map(|_| Box::pin(call(&done))).collect();
    for future in &mut running {
        assert!(poll_once(future.as_mut()).is_pending());
    }
    assert!(breaker.acquire().is_err(), "all five places are taken");
    breaker.set_probes(2).unwrap();
    breaker.reset();
    trip();
    let probe = breaker.acquire().expect("a new period, and its first probe");
    done.set(true);
    for future in &mut running {
        assert!(poll_once(future.as_mut()).is_ready());
    }
    assert_eq!(count(Kind::CircuitBreaker, "rg05", "lost"), 5);
    assert_eq!(breaker.window().calls, 0, "no vote of theirs");
    drop(probe);
    assert_eq!(places(), 2, "never seven");
}

#[test]
fn rg05_a_change_to_the_same_keeps_the_state_and_a_bad_one_the_last_good_options() {
    #[resilient(circuit_breaker(window = 2, min_calls = 2, open_for = "10s"), name = "rg05_same")]
    fn call() -> Result<u32, Fault> {
        Err(Fault::Down(1))
    }
    let (_clock, _world) = on_a_manual_clock();
    let breaker = breaker_of("rg05_same");
    let _ = (call(), call());
    let (options, left) = (breaker.options(), breaker.retry_after());
    assert!(left.is_some());
    breaker.set_window(2).unwrap();
    breaker.set_open_for(std::time::Duration::from_secs(10)).unwrap();
    assert_eq!((breaker.state(), breaker.retry_after()), (State::Open, left));
    assert_eq!(breaker.set_window(0).unwrap_err().field(), "window");
    assert_eq!((breaker.options(), breaker.state()), (options, State::Open));
    assert!(call().unwrap_err().refusal().is_some());
}
