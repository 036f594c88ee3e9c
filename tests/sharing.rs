//! One policy for many functions (X1, X2, X7): sync and async, generic ones, two of one name.

use resil::{Kind, State, catalog, resilient};
use std::fmt::Debug;
use std::pin::pin;
use std::task::Poll;
use tests::{Fault, breaker_of, count, counts, poll_once};

mod policies {
    resil::registry! {
        /// Sync and async functions share it.
        circuit_breaker shared { window = 4, min_calls = 2, open_for = "10s", probes = 1 }
        /// Declared, and used by nobody.
        circuit_breaker idle {}
    }
}

fn polled<F: Future>(future: F) -> F::Output {
    let Poll::Ready(output) = poll_once(pin!(future)) else { panic!("nothing waits") };
    output
}

#[resilient(circuit_breaker = "shared")]
fn blocking(fails: bool) -> Result<u32, Fault> {
    if fails { Err(Fault::Down(1)) } else { Ok(1) }
}

#[resilient(circuit_breaker = "shared", retry(max = 3))]
async fn asynchronous(fails: bool) -> Result<u32, Fault> {
    if fails { Err(Fault::Mine) } else { Ok(2) }
}

#[resilient(circuit_breaker = crate::policies::circuit_breaker::shared)]
fn by_path() -> Result<u32, Fault> {
    Ok(3)
}

#[test]
fn x02_sync_and_async_functions_share_one_state() {
    let clock = resil::testing::pause();
    let shared = &policies::circuit_breaker::shared;
    blocking(true).unwrap_err();
    assert_eq!(shared.state(), State::Closed);
    {
        let mut future = pin!(asynchronous(true));
        assert!(poll_once(future.as_mut()).is_pending(), "its first attempt failed, and it waits");
        assert_eq!(shared.state(), State::Open, "one failure of each");
        clock.advance("1s");
        assert_eq!(
            poll_once(future.as_mut()),
            Poll::Ready(Err(Fault::Mine)),
            "the second was refused"
        );
    }
    for refused in [blocking(false), by_path(), polled(asynchronous(false))] {
        assert_eq!(refused.unwrap_err().refusal().map(|refused| refused.policy()), Some("shared"));
    }
    clock.advance("10s");
    assert_eq!(polled(asynchronous(false)), Ok(2), "the probe of one");
    assert_eq!(
        (shared.state(), blocking(false)),
        (State::Closed, Ok(1)),
        "closes it for the other"
    );
    assert_eq!(
        counts(Kind::CircuitBreaker, "shared"),
        [("success", 2), ("failure", 2), ("refused", 4)]
    );
}

#[test]
fn a_policy_that_nobody_calls_is_listed_too() {
    let idle = catalog().find(Kind::CircuitBreaker, "idle").expect("it is linked in");
    assert_eq!((idle.state(), count(Kind::CircuitBreaker, "idle", "success")), ("closed", 0));
    assert!(idle.location().file().ends_with("sharing.rs"));
}

#[resilient(circuit_breaker(window = 2, min_calls = 2), name = "x07")]
fn generic<T: Debug, const N: usize>(outcome: Result<[T; N], Fault>) -> Result<[T; N], Fault> {
    outcome
}

struct Client<T>(T);

impl<T: Copy> Client<T> {
    #[resilient(circuit_breaker(window = 2, min_calls = 2), name = "x07_method")]
    async fn get(&self, fails: bool) -> Result<T, Fault> {
        if fails { Err(Fault::Down(1)) } else { Ok(self.0) }
    }
}

#[test]
fn x07_a_generic_function_has_one_policy_whatever_the_types() {
    generic::<u8, 1>(Err(Fault::Down(1))).unwrap_err();
    generic::<String, 2>(Err(Fault::Down(1))).unwrap_err();
    assert_eq!(breaker_of("x07").state(), State::Open);
    assert!(generic(Ok([1.5])).unwrap_err().refusal().is_some());
    let listed = catalog().iter().filter(|entry| entry.name() == "x07").count();
    assert_eq!(listed, 1);
}

#[test]
fn x07_so_has_a_method_of_a_generic_type() {
    polled(Client(1_u8).get(true)).unwrap_err();
    polled(Client("text").get(true)).unwrap_err();
    assert!(polled(Client(1.5).get(false)).unwrap_err().refusal().is_some());
    assert_eq!(catalog().iter().filter(|entry| entry.name() == "x07_method").count(), 1);
}

mod twins {
    use super::{Fault, resilient};

    #[resilient(retry(max = 2), name = "x01_twin")]
    pub(super) fn one() -> Result<u32, Fault> {
        Ok(1)
    }

    #[resilient(retry(max = 3), name = "x01_twin")]
    pub(super) fn other() -> Result<u32, Fault> {
        Ok(2)
    }

    /// Of another kind: no twin.
    #[resilient(circuit_breaker, name = "x01_twin")]
    pub(super) fn breaker() -> Result<u32, Fault> {
        Ok(3)
    }
}

#[test]
fn rg01_x01_two_policies_of_one_kind_and_name_are_reported() {
    assert_eq!((twins::one(), twins::other(), twins::breaker()), (Ok(1), Ok(2), Ok(3)));
    let problems = catalog().verify().expect_err("there are twins");
    let said: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("retry")
            && said[0].contains("`x01_twin`")
            && said[0].contains("sharing.rs"),
        "{said:?}"
    );
}
