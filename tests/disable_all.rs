//! All policies disabled at once: in a process of its own, since it concerns every policy there is.

use resil::{DeadlineLimit, Kind, Reason, State, Timeout, catalog, register, resilient};
use std::cell::Cell;
use std::time::Duration;
use tests::Fault;

mod policies {
    resil::registry! {
        circuit_breaker gateway { window = 2, min_calls = 2, open_for = "1d" }
        circuit_breaker forced {}
        rate_limiter quota { rate = "1/d", burst = 1 }
        bulkhead pool { max_concurrent = 0 }
        retry_budget budget { min_per_sec = 0 }
    }
}

static BY_HAND: resil::Retry = resil::Retry::builder("by_hand").build();
register!(BY_HAND);

#[resilient(
    fallback = |_| Ok(0),
    retry(max = 3, backoff = constant("0s"), jitter = none),
    circuit_breaker = "gateway",
)]
fn guarded(calls: &Cell<u32>) -> Result<u32, Fault> {
    calls.set(calls.get() + 1);
    Err(Fault::Down(calls.get()))
}

#[test]
fn a_disabled_binary_runs_as_if_nothing_was_written_and_comes_back_as_it_was() {
    let calls = Cell::new(0);
    assert_eq!((guarded(&calls), calls.get()), (Ok(0), 2), "the breaker opens");
    let (gateway, forced) =
        (&policies::circuit_breaker::gateway, &policies::circuit_breaker::forced);
    forced.force_open();
    let quota = &policies::rate_limiter::quota;
    quota.acquire().expect("its only cell");

    catalog().disable_all();
    for entry in catalog() {
        assert_eq!((entry.is_enabled(), entry.state()), (false, "disabled"), "{entry}");
    }
    assert_eq!(
        (guarded(&calls), calls.get()),
        (Err(Fault::Down(3)), 3),
        "one attempt, no fallback"
    );
    forced.acquire().expect("disabled").ignore();
    quota.acquire().expect("disabled");
    drop(policies::bulkhead::pool.acquire().expect("disabled"));

    // In the meantime somebody orders something else, which is not undone.
    gateway.observe_only();
    catalog().enable_all();
    assert!(catalog().iter().all(|entry| entry.is_enabled()));
    assert_eq!((gateway.state(), forced.state()), (State::ObserveOnly, State::ForcedOpen));
    assert_eq!(quota.acquire().unwrap_err().reason(), Reason::RateLimited, "no cell was made up");
    assert_eq!(policies::bulkhead::pool.acquire().unwrap_err().reason(), Reason::BulkheadFull);
    assert_eq!((guarded(&calls), calls.get()), (Ok(0), 6), "three attempts, and the fallback");
}

/// Listed, and never called.
#[resilient(timeout = "1s", deadline = "2s", name = "limited")]
async fn limited() -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn every_kind_is_found_as_what_it_is() {
    let typed =
        |kind, name| catalog().find(kind, name).unwrap_or_else(|| panic!("no {kind} `{name}`"));
    let function = concat!(module_path!(), "::guarded");
    assert!(typed(Kind::CircuitBreaker, "gateway").circuit_breaker().is_some());
    assert!(typed(Kind::RateLimiter, "quota").rate_limiter().is_some());
    assert!(typed(Kind::Bulkhead, "pool").bulkhead().is_some());
    assert!(typed(Kind::RetryBudget, "budget").retry_budget().is_some());
    assert!(typed(Kind::Fallback, function).fallback().is_some());
    drop(limited());
    let limits =
        (typed(Kind::Timeout, "limited").timeout(), typed(Kind::Deadline, "limited").deadline());
    assert_eq!(limits.0.and_then(Timeout::after), Some(Duration::from_secs(1)));
    assert_eq!(limits.1.map(DeadlineLimit::after), Some(Duration::from_secs(2)));
    let retry = typed(Kind::Retry, function);
    assert_eq!(retry.retry().and_then(resil::Retry::max_attempts), Some(3));
    assert!(retry.timeout().is_none() && retry.deadline().is_none() && retry.bulkhead().is_none());
}
