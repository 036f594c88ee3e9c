//! Lints: none of ours, all of the user's.

use super::{Fault, ready};
use resil::resilient;

/// Lints that the attribute must leave to the body are expected, and an unfulfilled expectation is an error.
mod kept {
    use super::{Fault, resilient};

    #[expect(unused_variables)]
    #[resilient(circuit_breaker = "calm")]
    pub(super) fn argument(unused: u8) -> Result<(), Fault> {
        Ok(())
    }

    #[expect(unused_variables)]
    #[resilient(circuit_breaker = "calm", retry(max = 2), timeout = "1m")]
    pub(super) async fn argument_async(unused: u8) -> Result<(), Fault> {
        std::future::ready(Ok(())).await
    }

    /// Names of fields and paths are no use of an argument.
    #[expect(unused_variables)]
    #[resilient(circuit_breaker = "calm")]
    pub(super) async fn named_like_a_field(start: Vec<u8>) -> Result<usize, Fault> {
        std::future::ready(Ok((1..2).start)).await
    }

    #[expect(unused_mut)]
    #[resilient(circuit_breaker = "calm")]
    pub(super) fn mutable(mut n: u8) -> Result<u8, Fault> {
        Ok(n)
    }

    #[expect(unused_mut)]
    #[resilient(circuit_breaker = "calm", retry(max = 2))]
    pub(super) async fn mutable_async(mut n: Vec<u8>) -> Result<usize, Fault> {
        std::future::ready(Ok(n.len())).await
    }

    #[expect(unused_must_use)]
    #[resilient(circuit_breaker = "calm")]
    pub(super) fn must_use() -> Result<(), Fault> {
        Some(1).is_some();
        Ok(())
    }

    #[expect(unreachable_code)]
    #[resilient(circuit_breaker = "calm")]
    pub(super) fn unreachable(stop: bool) -> Result<u8, Fault> {
        return Ok(u8::from(stop));
        Ok(2)
    }

    #[expect(clippy::needless_return)]
    #[resilient(circuit_breaker = "calm")]
    pub(super) fn needless() -> Result<u8, Fault> {
        return Ok(1);
    }

    #[expect(dead_code)]
    #[resilient(circuit_breaker = "calm")]
    fn nobody_calls() -> Result<u8, Fault> {
        Ok(1)
    }

    #[expect(dead_code)]
    #[resilient(circuit_breaker = "calm", retry(max = 2), deadline = "1m", fallback = |_| Ok(1))]
    async fn nobody_calls_async() -> Result<u8, Fault> {
        std::future::ready(Ok(1)).await
    }

    #[expect(unused_variables)]
    #[resilient(retry(max = 2, attempt = n))]
    pub(super) fn attempt() -> Result<u8, Fault> {
        Ok(1)
    }

    #[expect(unused_variables)]
    #[resilient(circuit_breaker = "calm", fallback = |cause| Ok(1))]
    pub(super) fn cause() -> Result<u8, Fault> {
        Ok(1)
    }
}

#[test]
fn mc15_lints_of_the_body_still_fire() {
    assert_eq!(kept::argument(1), Ok(()));
    assert_eq!(ready(kept::argument_async(1)), Ok(()));
    assert_eq!(ready(kept::named_like_a_field(vec![])), Ok(1));
    assert_eq!(kept::mutable(1), Ok(1));
    assert_eq!(ready(kept::mutable_async(vec![])), Ok(0));
    assert_eq!(kept::must_use(), Ok(()));
    assert_eq!(kept::unreachable(true), Ok(1));
    assert_eq!(kept::needless(), Ok(1));
    assert_eq!(kept::attempt(), Ok(1));
    assert_eq!(kept::cause(), Ok(1));
}

/// Attributes of the body and of the function.
#[must_use]
#[inline]
#[cfg_attr(all(), resilient(circuit_breaker = "calm", fallback = value(0)))]
#[doc(alias = "another")]
fn attributed(#[cfg(test)] n: u8, #[cfg(any())] n: u16) -> u8 {
    #![allow(clippy::let_and_return)]
    let same = n;
    same
}

#[resilient(circuit_breaker = "calm", fallback = value(0))]
async fn attributed_async(#[cfg(test)] n: Vec<u8>, #[cfg(any())] m: Vec<u16>) -> usize {
    #![allow(clippy::let_and_return)]
    std::future::ready(()).await;
    #[cfg(any())]
    drop(m);
    let same = n.len();
    same
}

#[test]
fn mc33_attributes_stay_where_they_are() {
    assert_eq!(attributed(7), 7);
    assert_eq!(ready(attributed_async(vec![7])), 1);
}

/// A type whose fields are dropped, of which a method uses one.
struct Half {
    left: String,
    right: String,
}

impl Half {
    #[resilient(circuit_breaker = "calm")]
    fn left(self) -> Result<String, Fault> {
        Ok(self.left)
    }

    #[resilient(circuit_breaker = "calm")]
    async fn right(self) -> Result<String, Fault> {
        std::future::ready(()).await;
        Ok(self.right)
    }
}

#[test]
fn mc18_captures_are_no_concern_of_edition_lints() {
    let half = || Half { left: "l".to_owned(), right: "r".to_owned() };
    assert_eq!(half().left().as_deref(), Ok("l"));
    assert_eq!(ready(half().right()).as_deref(), Ok("r"));
}
