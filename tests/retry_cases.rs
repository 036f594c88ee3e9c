//! Retry through the attribute: faults from the field (RT…), each sync, on tokio and without a runtime.

use resil::testing::IntoSpan;
use resil::{Kind, Reason, Rejected, State, Stop, resilient};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::time::Duration;
use tests::{
    Calls, Fault, breaker_of, count, counts, listen, on_a_manual_clock, scheduled, stops, worlds,
};

const MS: Duration = Duration::from_millis(1);

// ---- delays ---------------------------------------------------------------------------------------------------------------

worlds! {
    rt03_the_first_delay_is_the_base_and_events_tell_the_same:
    [retry(max = 4, backoff = exponential("100ms", factor = 2, cap = "10s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        assert_eq!(calls.begun(), [0, 100, 300, 700]);
        assert_eq!(world.ms(), 700, "no sleep after the last attempt");
        assert_eq!(scheduled(NAME), [(2, 100 * MS), (3, 200 * MS), (4, 400 * MS)]);
    }
}

worlds! {
    rt03_a_linear_delay_grows_by_its_base:
    [retry(max = 5, backoff = linear("100ms", cap = "300ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        assert_eq!(calls.begun(), [0, 100, 300, 600, 900]);
    }
}

worlds! {
    rt03_a_table_is_read_in_order_and_its_last_delay_repeats:
    [retry(max = 5, backoff = table("10ms", "0s", "30ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        assert_eq!(calls.begun(), [0, 10, 10, 40, 70]);
    }
}

// ---- how often ------------------------------------------------------------------------------------------------------------

worlds! {
    rt06_one_attempt_is_one_attempt:
    [retry(max = 1), allow(max_one)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!((call(&calls).await, world.ms()), (Err(Fault::Down(1)), 0));
    }
}

worlds! {
    rt06_a_retry_limited_by_time_has_no_hidden_cap:
    [retry(within = "10m", backoff = constant("1s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        listen();
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Err(Fault::Down(601)), "at 0, 1, … 600 s");
        assert_eq!((world.ms(), stops(NAME)), (600_000, vec![(601, Stop::Within)]));
    }
}

worlds! {
    rt06_unlimited_is_ended_by_within:
    [retry(max = unlimited, within = "1s", backoff = constant("300ms"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        assert_eq!((calls.begun(), world.ms()), (vec![0, 300, 600, 900], 900));
    }
}

worlds! {
    rt08_within_counts_the_attempts_themselves_and_interrupts_none:
    async [retry(within = "5s", backoff = constant("0s"), jitter = none)]
    (calls: &Calls, lasts: &str) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep(lasts).await;
        Err(Fault::Down(number))
    }
    |world| {
        let calls = Calls::new(&world);
        call(&calls, "3s").await.unwrap_err();
        assert_eq!((calls.begun(), world.ms()), (vec![0, 3_000], 6_000));
        let calls = Calls::new(&world);
        call(&calls, "1m").await.unwrap_err();
        assert_eq!((calls.count(), world.ms()), (1, 66_000), "no retry after one long attempt");
    }
}

#[test]
fn rt08_within_counts_a_blocking_attempt() {
    #[resilient(retry(within = "5s", backoff = constant("0s"), jitter = none), name = "rt08_sync")]
    fn call(calls: &Calls, lasts: Duration) -> Result<u32, Fault> {
        let number = calls.begin();
        resil::__private::sleep_blocking(lasts.into_span());
        Err(Fault::Down(number))
    }
    let (_clock, world) = on_a_manual_clock();
    let calls = Calls::new(&world);
    call(&calls, 3_000 * MS).unwrap_err();
    assert_eq!((calls.begun(), world.ms()), (vec![0, 3_000], 6_000));
}

worlds! {
    rt09_calls_that_overlap_do_not_share_attempts:
    async [retry(max = 3, backoff = exponential("100ms", cap = "1s"), jitter = none)]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        calls.world().sleep("7ms").await;
        Err(Fault::Down(number))
    }
    |world| {
        let (one, other) = (Calls::new(&world), Calls::new(&world));
        let (mut first, mut second) = (pin!(call(&one)), pin!(call(&other)));
        let (mut done, mut ready) = (0, [false; 2]);
        std::future::poll_fn(|cx| {
            if !ready[0] && first.as_mut().poll(cx).is_ready() { ready[0] = true; done += 1; }
            if !ready[1] && second.as_mut().poll(cx).is_ready() { ready[1] = true; done += 1; }
            if done == 2 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        }).await;
        assert_eq!([one.begun(), other.begun()], [[0, 107, 314]; 2], "three each, and each from the base");
    }
}

worlds! {
    rt09_neither_exhaustion_nor_recovery_is_left_to_the_next_call:
    [retry(max = 3, backoff = exponential("100ms", cap = "1s"), jitter = none)]
    (calls: &Calls, good_from: u32) -> Result<u32, Fault> {
        let number = calls.begin();
        if number < good_from { Err(Fault::Down(number)) } else { Ok(number) }
    }
    |world| {
        for good_from in [9, 3, 9] {
            let (calls, begin) = (Calls::new(&world), world.ms());
            let _ = call(&calls, good_from).await;
            assert_eq!(calls.begun(), [begin, begin + 100, begin + 300]);
        }
    }
}

// ---- what comes of it -----------------------------------------------------------------------------------------------------

worlds! {
    rt10_exhausted_on_a_value_is_no_success:
    [retry(max = 3, backoff = constant("1ms"), jitter = none, on = Ok(503)), circuit_breaker]
    (calls: &Calls) -> Result<u32, Fault> { calls.begin(); Ok(503) }
    |world| {
        listen();
        assert_eq!(call(&Calls::new(&world)).await, Ok(503));
        assert_eq!(stops(NAME), [(3, Stop::Attempts)], "once");
        assert_eq!(counts(Kind::Retry, NAME), [("calls", 1), ("attempts", 3), ("exhausted", 1), ("retries", 2)]);
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("failure", 3)], "the breaker inside saw each");
    }
}

/// The only connection of a pool, while this lives.
#[derive(Debug)]
struct Connection<'a>(&'a Cell<u32>);

impl<'a> Connection<'a> {
    fn take(pool: &'a Cell<u32>) -> Self {
        assert_eq!(pool.replace(0), 1, "the connection is free");
        Self(pool)
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

worlds! {
    rt11_an_outcome_is_dropped_before_the_delay:
    [retry(max = 3, backoff = constant("1ms"), jitter = none, on = Ok(_), before = assert_eq!(pool.get(), 1))]
    (pool: &Cell<u32>) -> Result<Connection<'_>, Fault> { Ok(Connection::take(pool)) }
    |_world| {
        let pool = Cell::new(1);
        let held = call(&pool).await.unwrap();
        assert_eq!(pool.get(), 0, "the returned one is alive");
        drop(held);
        assert_eq!(pool.get(), 1);
    }
}

worlds! {
    rt11_where_a_gate_may_refuse_it_is_dropped_before_the_body_runs_again:
    [retry(max = 3, backoff = constant("1ms"), jitter = none, on = Ok(_)), circuit_breaker]
    (pool: &Cell<u32>) -> Result<Connection<'_>, Fault> { Ok(Connection::take(pool)) }
    |_world| {
        let pool = Cell::new(1);
        drop(call(&pool).await.unwrap());
        assert_eq!(pool.get(), 1);
    }
}

// ---- gates ----------------------------------------------------------------------------------------------------------------

worlds! {
    rt18_every_attempt_passes_the_gate_and_none_is_held_meanwhile:
    [
        retry(max = 5, backoff = constant("1ms"), jitter = none, before = seen.borrow_mut().push(breaker_of(name).window().calls)),
        circuit_breaker(window = 4, min_calls = 4, probes = 3, failure_rate = "100%", open_for = "1s"),
    ]
    (name: &str, seen: &RefCell<Vec<u32>>) -> Result<u32, Fault> { let _ = (name, seen); Err(Fault::Down(0)) }
    |world| {
        let seen = RefCell::new(Vec::new());
        call(NAME, &seen).await.unwrap_err();
        assert_eq!(breaker_of(NAME).state(), State::Open, "by the fourth attempt");
        assert_eq!(seen.take(), [1, 2, 3, 0], "each attempt was settled before the wait");
        assert_eq!(count(Kind::CircuitBreaker, NAME, "refused"), 1, "the fifth");

        world.sleep("1001ms").await;
        call(NAME, &seen).await.unwrap_err();
        assert_eq!(seen.take(), [1, 2, 0], "three probes, one after the other");
        assert_eq!((breaker_of(NAME).state(), count(Kind::CircuitBreaker, NAME, "failure")), (State::Open, 7));
    }
}

worlds! {
    b30_a_refusal_by_an_open_circuit_is_not_retried:
    [retry(max = 5, backoff = constant("1ms"), jitter = none), circuit_breaker(window = 1, min_calls = 1, open_for = "1s")]
    (calls: &Calls) -> Result<u32, Fault> { Err(Fault::Down(calls.begin())) }
    |world| {
        let calls = Calls::new(&world);
        call(&calls).await.unwrap_err();
        let before = world.ms();
        let refused: Rejected = call(&calls).await.unwrap_err().refusal().expect("refused");
        assert_eq!((refused.reason(), refused.policy()), (Reason::CircuitOpen, NAME));
        assert_eq!((calls.count(), world.ms()), (1, before), "at once");
        assert_eq!(count(Kind::Retry, NAME, "refused"), 2, "each call ended with one");
    }
}

worlds! {
    b30_with_on_rejected_it_waits_until_the_circuit_may_be_tried:
    [
        retry(max = 3, backoff = constant("1ms"), jitter = none, on_rejected),
        circuit_breaker(window = 1, min_calls = 1, open_for = "1s", probes = 1),
    ]
    (calls: &Calls) -> Result<u32, Fault> {
        let number = calls.begin();
        if number == 1 { Err(Fault::Down(1)) } else { Ok(number) }
    }
    |world| {
        let calls = Calls::new(&world);
        assert_eq!(call(&calls).await, Ok(2));
        // The refused attempt counts: failed at 0, refused at 1, made at 1000.
        let [0, again] = calls.begun()[..] else { panic!("{:?}", calls.begun()) };
        assert!((1_000..=1_001).contains(&again), "the end of the wait is rounded up: {again}");
        assert_eq!(breaker_of(NAME).state(), State::Closed);
    }
}

/// Not a `worlds!`: what is refused for good says no time, and nothing waits for it.
#[test]
fn b30_a_refusal_without_an_end_is_not_waited_for() {
    #[resilient(retry(max = 3, on_rejected), circuit_breaker, name = "b30_forced")]
    fn call() -> Result<u32, Fault> {
        Ok(1)
    }
    let (_clock, world) = on_a_manual_clock();
    breaker_of("b30_forced").force_open();
    assert!(call().unwrap_err().refusal().is_some());
    assert_eq!((world.ms(), count(Kind::Retry, "b30_forced", "refused")), (0, 1));
}
