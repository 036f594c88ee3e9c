//! Functions of every shape under the attribute: they compile without a lint, and act as they do without it.

#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery, unused)]
#![deny(unreachable_pub, unused_qualifications, elided_lifetimes_in_paths, missing_docs)]
#![deny(rust_2018_idioms, rust_2021_compatibility, rust_2024_compatibility)]
#![forbid(unsafe_code)]

#[path = "compile_pass/arguments.rs"]
mod arguments;
#[path = "compile_pass/attributes.rs"]
mod attributes;
#[path = "compile_pass/classified.rs"]
mod classified;
#[path = "compile_pass/exits.rs"]
mod exits;
#[path = "compile_pass/gates.rs"]
mod gates;
#[path = "compile_pass/generic.rs"]
mod generic;
#[path = "compile_pass/hygiene.rs"]
mod hygiene;
#[path = "compile_pass/late.rs"]
mod late;
#[path = "compile_pass/lints.rs"]
mod lints;
#[path = "compile_pass/methods.rs"]
mod methods;
#[path = "compile_pass/options.rs"]
mod options;
#[path = "compile_pass/sendable.rs"]
mod sendable;
#[path = "compile_pass/types.rs"]
mod types;

/// What the functions of this crate share.
pub mod policies {
    resil::registry! {
        /// A breaker that is never in the way.
        circuit_breaker calm { window = 1024, min_calls = 1024 }
        /// A breaker that opens at the first failure.
        circuit_breaker jumpy { window = 1, min_calls = 1, open_for = "1h" }
        /// A limiter that is hardly ever in the way.
        rate_limiter plenty { rate = "1000000/s" }
        /// A bulkhead that is never in the way.
        bulkhead roomy { max_concurrent = 1024, wait = "10ms" }
        /// What pays for retries.
        retry_budget savings { ratio = "50%", min_per_sec = 100 }

        /// One name in every kind.
        circuit_breaker shared { window = 100, failure_rate = "50%", min_calls = 20, open_for = "30s", probes = 5 }
        /// One name in every kind.
        rate_limiter shared { rate = "100/s", burst = 20 }
        /// One name in every kind.
        bulkhead shared { max_concurrent = 64, wait = "10ms" }
        /// One name in every kind.
        retry_budget shared { ratio = "20%", min_per_sec = 10 }
    }
}

// In the prelude since edition 2024; these tests are right in edition 2021 too.
use std::future::Future;

/// What can go wrong here.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error("down")]
    Down,
    #[error("the caller's own mistake")]
    Mine,
    #[error(transparent)]
    Rejected(#[from] resil::Rejected),
}

/// Runs a future that never waits for anything; a wait of zero yields once.
fn ready<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    for _ in 0..10 {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("it waits")
}

/// A counter of a policy, by its kind, name and the counter's name.
fn counter(kind: resil::Kind, name: &str, counter: &str) -> u64 {
    let entry =
        resil::catalog().find(kind, name).unwrap_or_else(|| panic!("{kind} {name} is listed"));
    let found = entry.counters().into_iter().find(|each| each.name == counter);
    found.unwrap_or_else(|| panic!("{kind} {name} counts {counter}")).value
}

/// At the root of the crate, where the path that a name stands for could be written shorter.
#[resil::resilient(circuit_breaker = "calm", timeout = "1m")]
async fn at_the_root() -> Result<u8, Fault> {
    std::future::ready(Ok(1)).await
}

#[test]
fn mc12_at_the_root_of_the_crate_too() {
    assert_eq!(ready(at_the_root()), Ok(1));
}
