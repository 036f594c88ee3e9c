//! How large the future of a guarded function is beside the bare one.

use resil::resilient;
use std::future::ready;
use std::hint::black_box;
use tests::Fault;

/// Bytes that the body keeps across its only suspension.
const KEPT: [usize; 3] = [0, 64, 1_024];

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
bodies!(stack: #[resilient(deadline = "10s", retry(max = 3), circuit_breaker, timeout = "1s", fallback = |_| Ok(0))]);

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
    for (policy, guarded) in
        [("breaker", each!(breaker)), ("retry", each!(retry)), ("timeout", each!(timeout))]
    {
        for [without, with_two] in added(guarded) {
            assert!(without <= 128 + TEST_TIMER, "{policy}: {without}");
            assert!(with_two <= 128 + 2 * 8 + TEST_TIMER, "{policy}, two arguments: {with_two}");
        }
    }
}

/// The body is there once, however large it is: not once for each attempt, nor a second time inside a helper.
#[test]
fn what_the_stack_costs_does_not_grow_with_the_body() {
    let added = added(each!(stack));
    assert_eq!(added[1], added[2], "64 or 1024 bytes kept");
    assert!(added[1][1] <= added[1][0] + 3 * 8, "8 an argument, and alignment: {added:?}");
}

/// All policies that there are. The aim is 128.
#[test]
fn the_full_stack_costs_at_most_160_bytes_and_8_an_argument() {
    for [without, with_two] in added(each!(stack)) {
        assert!(without <= 160 + TEST_TIMER, "{without}");
        assert!(with_two <= 160 + 2 * 8 + TEST_TIMER, "two arguments: {with_two}");
    }
}
