//! The same calls, guarded by `resil`.

use crate::{Down, callee};
use resil::{CircuitBreaker, Rejected};

impl From<Rejected> for Down {
    fn from(_: Rejected) -> Self {
        Self
    }
}

/// The breaker of all calls here.
pub static BREAKER: CircuitBreaker = CircuitBreaker::builder("benches").build();

/// A permit by hand.
///
/// # Errors
/// The callee's, or a refusal.
#[inline(never)]
pub fn breaker_by_hand(request: u64) -> Result<u64, Down> {
    let permit = BREAKER.acquire()?;
    let outcome = callee(request);
    match outcome {
        Ok(_) => permit.success(),
        Err(_) => permit.failure(),
    }
    outcome
}
