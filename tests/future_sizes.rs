//! How large the future of a guarded function is beside the bare one.

use resil::{Rejected, RetryBudget, resilient};
use std::future::ready;
use std::hint::black_box;
use tests::Fault;

/// Bytes that the body keeps across its only suspension.
const KEPT: [usize; 3] = [0, 256, 1_024];

macro_rules! bodies {
    ($module:ident: $(#[$policies:meta])*) => {
        mod $module {
            use super::*;

            $(#[$policies])*
            pub(super) async fn no_argument<const N: usize>() -> Result<u8, Fault> {
                let kept = black_box([1; N]);
                ready(()).await;
                Ok(kept.iter().sum())
            }

            $(#[$policies])*
            pub(super) async fn two_arguments<const N: usize>(text: &str, number: &u64) -> Result<u8, Fault> {
                let kept = black_box([1; N]);
                ready(()).await;
                black_box((text, number));
                Ok(kept.iter().sum())
            }

            pub(super) fn sizes<const N: usize>() -> [usize; 2] {
                [size_of_val(&no_argument::<N>()), size_of_val(&two_arguments::<N>("", &0))]
            }
        }
    };
}

bodies!(bare:);
bodies!(breaker: #[resilient(circuit_breaker)]);
bodies!(retry: #[resilient(retry(max = 3))]);
bodies!(timeout: #[resilient(timeout = "1s")]);
bodies!(limiter: #[resilient(rate_limiter(rate = "1/s"))]);
bodies!(bulkhead: #[resilient(bulkhead(max_concurrent = 1))]);
bodies!(five: #[resilient(
    retry(max = 3),
    circuit_breaker,
    rate_limiter(rate = "1/s"),
    bulkhead(max_concurrent = 1),
    timeout = "1s"
)]);
bodies!(stack: #[resilient(
    fallback = |_| Ok(0),
    deadline = "10s",
    retry(max = 3, budget = crate::BUDGET),
    circuit_breaker,
    rate_limiter(rate = "1/s"),
    bulkhead(max_concurrent = 1),
    timeout = "1s"
)]);

static BUDGET: RetryBudget = RetryBudget::builder("future_sizes").build();

macro_rules! each {
    ($module:ident) => {
        [
            $module::sizes::<{ KEPT[0] }>(),
            $module::sizes::<{ KEPT[1] }>(),
            $module::sizes::<{ KEPT[2] }>(),
        ]
    };
}

/// What each policy adds, body by body.
fn added(guarded: [[usize; 2]; 3]) -> [[usize; 2]; 3] {
    let bare = each!(bare);
    std::array::from_fn(|body| {
        std::array::from_fn(|arguments| guarded[body][arguments] - bare[body][arguments])
    })
}

/// By how much the timer of this build is larger.
const TEST_TIMER: usize = 24;

#[test]
fn a_policy_costs_at_most_128_bytes_and_8_an_argument() {
    let policies = [
        ("breaker", each!(breaker)),
        ("limiter", each!(limiter)),
        ("bulkhead", each!(bulkhead)),
        ("retry", each!(retry)),
        ("timeout", each!(timeout)),
    ];
    for (policy, guarded) in policies {
        for [without, with_two] in added(guarded) {
            assert!(without <= 128 + TEST_TIMER, "{policy}: {without}");
            assert!(with_two <= 128 + 2 * 8 + TEST_TIMER, "{policy}, two arguments: {with_two}");
        }
    }
}

/// The body is there once, however large it is: not once for each attempt, nor a second time inside a helper. And the wait at a gate
/// has no room of its own where that of the body is large enough for it.
#[test]
fn what_the_stack_costs_does_not_grow_with_the_body() {
    let added = added(each!(stack));
    assert!(added[0][0] > added[1][0], "the body is smaller than the wait for a place");
    assert_eq!(added[1], added[2], "256 or 1024 bytes kept");
    assert!(added[1][1] <= added[1][0] + 3 * 8, "8 an argument, and alignment: {added:?}");
}

/// What is kept between two attempts, for the case that a gate refuses the next.
const HELD: usize = size_of::<Result<Result<u8, Fault>, Rejected>>();

#[test]
fn the_full_stack_costs_at_most_128_bytes_and_40_more_with_a_deadline_and_a_budget() {
    for (guarded, most) in [(each!(five), 128), (each!(stack), 168)] {
        let most = most + HELD + TEST_TIMER;
        for [without, with_two] in &added(guarded)[1..] {
            assert!(*without <= most, "{without}");
            assert!(*with_two <= most + 2 * 8, "two arguments: {with_two}");
        }
    }
}
