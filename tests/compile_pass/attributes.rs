//! Beside other attributes, in either order.

use super::{Fault, counter};
use resil::{Kind, resilient};

#[tokio::test]
#[resilient(retry(max = 2, backoff = constant("0ms"), attempt = n))]
async fn mc22_below_a_test_attribute() -> Result<(), Fault> {
    if n == 1 { Err(Fault::Down) } else { Ok(()) }
}

#[resilient(retry(max = 2, backoff = constant("0ms"), attempt = n), timeout = "1m")]
#[tokio::test]
async fn mc22_above_a_test_attribute() -> Result<(), Fault> {
    tokio::task::yield_now().await;
    if n == 1 { Err(Fault::Down) } else { Ok(()) }
}

#[test]
#[resilient(retry(max = 2, backoff = constant("0ms"), attempt = n))]
fn mc22_below_the_plain_test_attribute() -> Result<(), Fault> {
    if n == 1 { Err(Fault::Down) } else { Ok(()) }
}

#[cfg_attr(all(), resilient(circuit_breaker(min_calls = 5), name = "mc22_conditional"))]
#[cfg_attr(any(), resilient(timeout = "1m"))]
#[must_use = "it may fail"]
fn conditional() -> Result<(), Fault> {
    Ok(())
}

#[test]
fn mc22_under_a_condition() {
    assert_eq!(conditional(), Ok(()));
    assert_eq!(counter(Kind::CircuitBreaker, "mc22_conditional", "success"), 1);
}

/// Attributes of everybody's prelude under names that something else has as well.
mod shadowed {
    mod prelude {
        pub(in crate::attributes) use resil::resilient as inline;
        pub(in crate::attributes) use resil::resilient as must_use;
        pub(in crate::attributes) use resil::resilient as doc;
    }
    use crate::Fault;
    #[allow(unused_imports)]
    use prelude::{doc, inline, must_use};

    #[resil::resilient(circuit_breaker = "calm")]
    pub(super) fn guarded() -> Result<u8, Fault> {
        Ok(1)
    }
}

#[test]
fn mc32_names_of_built_in_attributes_may_be_taken() {
    assert_eq!(shadowed::guarded(), Ok(1));
}
