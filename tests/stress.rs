//! The full stack under real threads and in real time: what must hold whatever happens, and that it did happen.

use resil::{Event, Kind, Reason, State, resilient};
use std::collections::BTreeMap;
use std::future::{pending, poll_fn};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};
use tests::{Fault, block_on, breaker_of, counts, heard, listen};

const THREADS: usize = 8;
/// As in the attributes below.
const TIMEOUT: Duration = Duration::from_millis(3);

/// Measures how long a body was alive.
struct Alive<'a>(Instant, &'a AtomicU64);

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        let us = u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.1.fetch_min(us, SeqCst);
    }
}

/// What a callee does that is sick now and then: fails in bursts, hangs, yields, or works.
async fn callee(number: u64, shortest_hang: &AtomicU64) -> Result<u64, Fault> {
    let sick = (number / 64).is_multiple_of(3);
    match number % 16 {
        0 if sick => {
            let _alive = Alive(Instant::now(), shortest_hang);
            pending().await
        }
        1..=8 if sick => Err(Fault::Down(1)),
        9 => Err(Fault::Mine),
        10..=12 => {
            let mut yielded = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut yielded, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            Ok(number)
        }
        _ => Ok(number),
    }
}

/// What is counted of one stack, and whether it adds up.
struct Account {
    name: &'static str,
    calls: u64,
    bodies: u64,
    shortest_hang: u64,
}

impl Account {
    fn of(&self, kind: Kind) -> BTreeMap<&'static str, u64> {
        counts(kind, self.name).into_iter().collect()
    }

    /// Whether everything that should meet here has met.
    fn is_eventful(&self) -> bool {
        let (breaker, retry, timeout) =
            (self.of(Kind::CircuitBreaker), self.of(Kind::Retry), self.of(Kind::Timeout));
        let met = ["success", "failure", "ignored", "lost", "refused"]
            .iter()
            .all(|counter| breaker.contains_key(counter));
        met && retry.contains_key("recovered")
            && retry.contains_key("exhausted")
            && timeout.contains_key("timed_out")
    }

    fn check(&self) {
        let (breaker, retry) = (self.of(Kind::CircuitBreaker), self.of(Kind::Retry));
        assert!(self.is_eventful(), "too little happened: {breaker:?} {retry:?}");
        let asked: u64 = breaker.values().sum();
        assert_eq!(
            asked - breaker["refused"],
            self.bodies,
            "each admitted attempt is one body and one count: {breaker:?}"
        );
        assert_eq!(retry["calls"], self.calls);
        let refusals =
            heard(self.name).iter().filter(|event| matches!(event, Event::Refused(_))).count();
        assert_eq!(refusals as u64, breaker["refused"]);
        assert!(Duration::from_micros(self.shortest_hang) >= TIMEOUT, "no attempt was ended early");

        let told: Vec<_> = heard(self.name)
            .into_iter()
            .filter_map(|event| match event {
                Event::Transition { from, to, generation, .. } => Some((from, to, generation)),
                _ => None,
            })
            .collect();
        let own = breaker_of(self.name);
        assert!(told.len() > 2, "it opened and was probed: {told:?}");
        assert!(
            told.windows(2).all(|pair| pair[0].1 == pair[1].0 && pair[0].2 + 1 == pair[1].2),
            "in order"
        );
        assert_eq!(
            told.len(),
            own.generation() as usize - 1,
            "b22: each transition once, whoever raced"
        );
        assert_eq!(told.last().map(|last| last.1), Some(own.state()));

        // No place is lost: it can be closed by probes alone.
        own.reset();
        while own.state() == State::Closed {
            own.acquire().unwrap().failure();
        }
        while own.state() != State::Closed {
            match own.acquire() {
                Ok(permit) => permit.success(),
                Err(refused) => {
                    assert!(refused.retry_after().is_some(), "only the wait is left");
                    thread::yield_now();
                }
            }
        }
    }
}

/// What a call may come to.
fn is_possible(outcome: Result<u64, Fault>) -> bool {
    match outcome {
        Ok(_) | Err(Fault::Down(_) | Fault::Mine) => true,
        Err(Fault::Refused(rejected)) => {
            matches!(rejected.reason(), Reason::CircuitOpen | Reason::TimedOut)
        }
    }
}

#[test]
fn b22_many_tasks_on_many_workers() {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    static HANG: AtomicU64 = AtomicU64::new(u64::MAX);

    #[resilient(
        deadline = "1m",
        retry(max = 3, backoff = constant("1ms"), jitter = full, on = Err(Fault::Down(_))),
        circuit_breaker(window = 64, min_calls = 32, failure_rate = "30%", open_for = "2ms", probes = 4),
        timeout = "3ms",
        ignore = Err(Fault::Mine),
        name = "tasks"
    )]
    async fn call() -> Result<u64, Fault> {
        callee(NUMBER.fetch_add(1, SeqCst), &HANG).await
    }

    listen();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let mut calls = 0;
    let account = |calls| Account {
        name: "tasks",
        calls,
        bodies: NUMBER.load(SeqCst),
        shortest_hang: HANG.load(SeqCst),
    };
    for round in 0..100 {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..64)
                .map(|_| {
                    tokio::spawn(async {
                        for _ in 0..20 {
                            assert!(is_possible(call().await));
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        calls += 64 * 20;
        if round >= 3 && account(calls).is_eventful() {
            break;
        }
    }
    account(calls).check();
}

#[test]
fn b22_many_threads_without_a_runtime() {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    static HANG: AtomicU64 = AtomicU64::new(u64::MAX);

    #[resilient(
        deadline = "1m",
        retry(max = 3, backoff = constant("1ms"), jitter = full, on = Err(Fault::Down(_))),
        circuit_breaker(window = 64, min_calls = 32, failure_rate = "30%", open_for = "2ms", probes = 4),
        timeout = "3ms",
        ignore = Err(Fault::Mine),
        name = "threads"
    )]
    async fn call() -> Result<u64, Fault> {
        callee(NUMBER.fetch_add(1, SeqCst), &HANG).await
    }

    listen();
    let mut calls = 0;
    let account = |calls| Account {
        name: "threads",
        calls,
        bodies: NUMBER.load(SeqCst),
        shortest_hang: HANG.load(SeqCst),
    };
    for round in 0..100 {
        let together = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    together.wait();
                    for _ in 0..100 {
                        assert!(is_possible(block_on(call())));
                    }
                });
            }
        });
        calls += THREADS as u64 * 100;
        if round >= 3 && account(calls).is_eventful() {
            break;
        }
    }
    account(calls).check();
}

#[test]
fn b22_many_threads_through_a_sync_function() {
    static NUMBER: AtomicU64 = AtomicU64::new(0);

    #[resilient(
        fallback(rejected = |_| Ok(0)),
        retry(max = 2, backoff = constant("0s"), jitter = none),
        circuit_breaker(window = 64, min_calls = 32, failure_rate = "30%", open_for = "1ms", probes = 4),
        name = "sync"
    )]
    fn call() -> Result<u64, Fault> {
        let number = NUMBER.fetch_add(1, SeqCst);
        if (number / 128).is_multiple_of(3) && number.is_multiple_of(2) {
            thread::yield_now(); // so that its outcome comes late
            Err(Fault::Down(1))
        } else {
            Ok(number)
        }
    }

    listen();
    let has_met = || {
        let counted: BTreeMap<_, _> = counts(Kind::CircuitBreaker, "sync").into_iter().collect();
        ["success", "failure", "lost", "refused"]
            .iter()
            .all(|counter| counted.contains_key(counter))
    };
    let mut calls = 0;
    for round in 0..200 {
        let together = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    together.wait();
                    for _ in 0..500 {
                        let outcome = call();
                        assert!(matches!(outcome, Ok(_) | Err(Fault::Down(1))), "{outcome:?}");
                    }
                });
            }
        });
        calls += THREADS as u64 * 500;
        if round >= 3 && has_met() {
            break;
        }
    }
    assert!(has_met(), "the threads never met");
    let breaker: BTreeMap<_, _> = counts(Kind::CircuitBreaker, "sync").into_iter().collect();
    let retry: BTreeMap<_, _> = counts(Kind::Retry, "sync").into_iter().collect();
    let asked: u64 = breaker.values().sum();
    assert_eq!(asked - breaker["refused"], NUMBER.load(SeqCst), "{breaker:?}");
    assert_eq!(
        (retry["calls"], retry["attempts"]),
        (calls, asked),
        "each attempt asked once: {retry:?}"
    );
}
