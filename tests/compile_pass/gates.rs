//! Limiters, bulkheads and budgets in every form that an attribute names them by.

use super::{Fault, ready};
use resil::{
    Bulkhead, CircuitBreaker, Rate, RateLimiter, Reason, Rejected, RetryBudget, resilient,
};
use std::io;

/// Written by hand, so that the compiler knows nothing of their options.
static QUOTA: RateLimiter = RateLimiter::builder("by_hand").rate(Rate::per_second(1_000)).build();
static POOL: Bulkhead = Bulkhead::builder("by_hand").max_concurrent(8).build();
static BUDGET: RetryBudget = RetryBudget::builder("by_hand").build();

/// As at the beginning of the design, and at the top of README.
#[resilient(
    deadline = "1s",
    retry(max = 3, backoff = exponential("20ms", cap = "200ms"), jitter = full, budget = "shared", on = Err(Fault::Down)),
    circuit_breaker = "shared",
    rate_limiter = "shared",
    bulkhead = "shared",
    timeout = "200ms",
    ignore = Err(Fault::Mine),
    fallback = |_cause| Ok(order.to_owned()),
)]
async fn charge(client: &u32, order: &str) -> Result<String, Fault> {
    std::future::ready(()).await;
    if *client == 0 { Err(Fault::Down) } else { Ok(format!("{client}:{order}")) }
}

/// The same with its own policies, all of them at once.
#[resilient(
    deadline = "1s",
    retry(max = 3, backoff = constant("0ms"), budget = self::BUDGET, on = Err(Fault::Down)),
    circuit_breaker(window = 100, min_calls = 20),
    rate_limiter(rate = "1000/s", burst = 16, wait = "50ms", start = full, shards = 2, cost = 2),
    bulkhead(max_concurrent = 8, wait = "10ms", queue = 32),
    timeout = "200ms",
    ignore = Err(Fault::Mine),
    fallback = |_cause| Ok(order.to_owned()),
)]
async fn charge_inline(client: &u32, order: &str) -> Result<String, Fault> {
    std::future::ready(()).await;
    if *client == 0 { Err(Fault::Down) } else { Ok(format!("{client}:{order}")) }
}

#[tokio::test(start_paused = true)]
async fn the_example_of_the_design_does_what_it_says() {
    assert_eq!(charge(&7, "tea").await, Ok("7:tea".to_owned()));
    assert_eq!(charge(&0, "tea").await, Ok("tea".to_owned()));
    assert_eq!(charge_inline(&7, "tea").await, Ok("7:tea".to_owned()));
    assert_eq!(charge_inline(&0, "tea").await, Ok("tea".to_owned()));
}

#[resilient(rate_limiter = "plenty", bulkhead = "roomy", retry(max = 2, budget = "savings"))]
fn quoted() -> Result<u8, Fault> {
    Ok(1)
}

#[resilient(rate_limiter = plenty, bulkhead = roomy, retry(max = 2, budget = savings))]
async fn unquoted() -> Result<u8, Fault> {
    std::future::ready(Ok(2)).await
}

#[resilient(rate_limiter("plenty"), bulkhead(roomy))]
fn in_parentheses() -> Result<u8, Fault> {
    Ok(3)
}

#[resilient(
    deadline = "1s",
    circuit_breaker(super::policies::circuit_breaker::calm, ignore = Err(Fault::Mine)),
    rate_limiter(self::QUOTA, cost = 2),
    bulkhead = crate::gates::POOL,
    retry(max = 2, budget = self::BUDGET)
)]
async fn by_path() -> Result<u8, Fault> {
    std::future::ready(Ok(4)).await
}

mod elsewhere {
    resil::registry! {
        rate_limiter plenty { rate = "10/250ms", burst = 20, wait = "1s", start = empty, shards = 1 }
        bulkhead plenty { max_concurrent = 3, wait = "1ms", queue = 5 }
    }
}

#[resilient(registry = self::elsewhere, bulkhead = "plenty")]
fn in_another_registry() -> Result<u8, Fault> {
    Ok(5)
}

#[test]
fn every_form_of_a_name_leads_to_the_same_policy() {
    assert_eq!((quoted(), ready(unquoted()), in_parentheses()), (Ok(1), Ok(2), Ok(3)));
    assert_eq!((ready(by_path()), in_another_registry()), (Ok(4), Ok(5)));
    assert_eq!(super::policies::bulkhead::roomy.in_flight(), 0);
    assert!(QUOTA.available() < 1_000);
}

/// What it costs is worked out of the arguments, for each attempt.
#[resilient(
    rate_limiter(rate = "1/d", burst = 10, cost = u32::try_from(items.len()).unwrap_or(u32::MAX)),
    name = "by_the_item"
)]
fn by_the_item(items: &[u8]) -> Result<usize, Rejected> {
    Ok(items.len())
}

#[resilient(
    retry(max = 2, backoff = constant("0ms")),
    rate_limiter(rate = "1/d", burst = 10, cost = if item.is_empty() { 1 } else { 10 })
)]
async fn by_the_weight(item: &mut String) -> Result<usize, Fault> {
    item.push('!');
    std::future::ready(Err(Fault::Down)).await
}

#[test]
fn l05_a_cost_is_an_expression_over_the_arguments() {
    assert_eq!(by_the_item(&[0; 6]), Ok(6));
    assert!(matches!(by_the_item(&[0; 6]), Err(refused) if refused.retry_after().is_some()));
    assert_eq!(by_the_item(&[0; 4]), Ok(4));
    let never = by_the_item(&[0; 11]).expect_err("costs more than there ever is");
    assert_eq!((never.reason(), never.retry_after()), (Reason::RateLimited, None));

    // The second attempt costs too much, and the error of the first is what is known.
    let mut item = String::new();
    assert_eq!(ready(by_the_weight(&mut item)), Err(Fault::Down));
    assert_eq!(item, "!");
}

/// A cost that depends on what each attempt is given, and one that would leave the loop if it could.
#[resilient(
    retry(max = 3, backoff = constant("0ms"), attempt = n),
    clone(items),
    rate_limiter(rate = "1/d", burst = 10, cost = n + u32::try_from(items.len()).unwrap_or(u32::MAX)),
)]
fn by_the_attempt(items: Vec<u8>) -> Result<u32, Fault> {
    drop(items);
    if n < 3 { Err(Fault::Down) } else { Ok(n) }
}

#[resilient(
    retry(max = 2, backoff = constant("0ms")),
    rate_limiter(rate = "1/d", burst = 10, cost = { if dear { return 10; } 1 })
)]
fn by_a_block(dear: bool) -> Result<(), Fault> {
    let _ = dear;
    Ok(())
}

#[test]
fn l05_a_cost_sees_what_the_attempt_sees() {
    assert_eq!(by_the_attempt(vec![0]), Ok(3), "2 + 3 + 4");
    assert_eq!(
        by_the_attempt(vec![]),
        Err(Fault::Down),
        "one is left, and the second attempt wants two"
    );
    assert_eq!((by_a_block(true), by_a_block(false).is_err()), (Ok(()), true));
}

/// One cell and one place for the whole call, however many attempts it has.
#[resilient(
    order = [rate_limiter, bulkhead, retry, circuit_breaker],
    rate_limiter(rate = "1/d", burst = 1),
    bulkhead(max_concurrent = 1),
    circuit_breaker = "calm",
    retry(max = 3, backoff = constant("0ms")),
)]
fn gates_outside(calls: &mut u32) -> Result<(), Fault> {
    *calls += 1;
    Err(Fault::Down)
}

#[test]
fn l13_gates_may_stand_around_all_attempts() {
    let mut calls = 0;
    assert_eq!(gates_outside(&mut calls), Err(Fault::Down));
    assert!(matches!(gates_outside(&mut calls), Err(Fault::Rejected(_))));
    assert_eq!(calls, 3);
}

trait Guarded {
    const GATEWAY: &'static CircuitBreaker;
    const LIMIT: &'static RateLimiter;
    const PLACES: &'static Bulkhead;

    fn send(&self) -> io::Result<u8>;

    /// Of a trait's constant nothing is known, and the deadline has nothing to be compared with.
    #[resilient(
        deadline = "1s",
        timeout = "100ms",
        circuit_breaker = Self::GATEWAY,
        rate_limiter = Self::LIMIT,
        bulkhead = Self::PLACES
    )]
    async fn guarded(&self) -> io::Result<u8> {
        std::future::ready(()).await;
        self.send()
    }
}

struct Client<const N: u8>;

impl<const N: u8> Guarded for Client<N> {
    const GATEWAY: &'static CircuitBreaker = &super::policies::circuit_breaker::calm;
    const LIMIT: &'static RateLimiter = &QUOTA;
    const PLACES: &'static Bulkhead = &POOL;

    #[resilient(rate_limiter = Self::LIMIT, bulkhead(max_concurrent = 1))]
    fn send(&self) -> io::Result<u8> {
        Ok(N)
    }
}

#[test]
fn a_type_may_say_which_policies_are_its_own() {
    assert_eq!(ready(Client::<6>.guarded()).expect("room for all"), 6);
}

#[resilient(bulkhead(max_concurrent = 0), fallback = value(None))]
fn closed() -> Option<u8> {
    Some(1)
}

#[resilient(rate_limiter(rate = "1/d"), fallback = |_| 0)]
fn plain() -> u8 {
    1
}

#[test]
fn k06_what_cannot_carry_a_refusal_has_a_fallback() {
    assert_eq!(closed(), None);
    assert_eq!((plain(), plain()), (1, 0));
}

macro_rules! limited {
    ($name:ident, $policy:literal, $rate:literal, $cost:expr_2021, $most:expr_2021) => {
        #[resilient(rate_limiter(rate = $rate, cost = $cost), bulkhead = $policy)]
        fn $name() -> Result<u8, Fault> {
            Ok($most)
        }
    };
}

limited!(by_macro, "roomy", "5/s", 5, 2);

#[test]
fn mc09_options_come_through_a_macro() {
    assert_eq!(by_macro(), Ok(2));
    assert!(by_macro().is_err());
}
