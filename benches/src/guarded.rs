//! The same calls, guarded by `resil`.

use crate::{Down, callee};
use resil::{Bulkhead, CircuitBreaker, Rate, RateLimiter, Rejected, resilient};

impl From<Rejected> for Down {
    fn from(_: Rejected) -> Self {
        Self
    }
}

/// The breaker of all calls here.
pub static BREAKER: CircuitBreaker = CircuitBreaker::builder("benches").build();
resil::register!(BREAKER);

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

/// A breaker by attribute.
///
/// # Errors
/// The callee's, or a refusal.
#[inline(never)]
#[resilient(circuit_breaker = self::BREAKER)]
pub fn breaker(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// The bulkhead of all calls here.
pub static BULKHEAD: Bulkhead = Bulkhead::builder("benches").max_concurrent(64).build();
resil::register!(BULKHEAD);

/// A slot by hand.
///
/// # Errors
/// The callee's, or a refusal.
#[inline(never)]
pub fn bulkhead_by_hand(request: u64) -> Result<u64, Down> {
    let _slot = BULKHEAD.acquire()?;
    callee(request)
}

/// A bulkhead by attribute.
///
/// # Errors
/// The callee's, or a refusal.
#[inline(never)]
#[resilient(bulkhead = self::BULKHEAD)]
pub fn bulkhead(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A bulkhead around a body that is ready at its first poll.
///
/// # Errors
/// The callee's, or a refusal.
#[resilient(bulkhead = self::BULKHEAD)]
pub async fn bulkhead_async(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// The rate limiter of all calls here: a permit comes in every nanosecond.
pub static QUOTA: RateLimiter =
    RateLimiter::builder("benches").rate(Rate::per_second(1_000_000_000)).burst(1_000).build();
resil::register!(QUOTA);

/// A permit by hand.
///
/// # Errors
/// The callee's, or a refusal.
#[inline(never)]
pub fn rate_limiter_by_hand(request: u64) -> Result<u64, Down> {
    QUOTA.acquire()?;
    callee(request)
}

/// A rate limiter by attribute.
///
/// # Errors
/// The callee's, or a refusal.
#[inline(never)]
#[resilient(rate_limiter = self::QUOTA)]
pub fn rate_limiter(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// Everything at once.
///
/// # Errors
/// The callee's, a refusal or a timeout.
#[inline(never)]
#[resilient(
    retry(max = 3),
    circuit_breaker = self::BREAKER,
    rate_limiter = self::QUOTA,
    bulkhead = self::BULKHEAD,
    timeout = "1s"
)]
pub fn whole(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// Everything at once, around a body that is ready at its first poll.
///
/// # Errors
/// The callee's, a refusal or a timeout.
#[resilient(
    retry(max = 3),
    circuit_breaker = self::BREAKER,
    rate_limiter = self::QUOTA,
    bulkhead = self::BULKHEAD,
    timeout = "1s"
)]
pub async fn whole_async(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A retry that is not needed.
///
/// # Errors
/// The callee's.
#[inline(never)]
#[resilient(retry(max = 3))]
pub fn retry(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// What functions share.
pub mod policies {
    resil::registry! {
        /// What pays for the retries here.
        retry_budget benches {}
    }
}

/// A retry that is not needed, and a budget that is full.
///
/// # Errors
/// The callee's.
#[inline(never)]
#[resilient(retry(max = 3, budget = self::policies::retry_budget::benches))]
pub fn retry_budget(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// Both.
///
/// # Errors
/// The callee's, or a refusal.
#[inline(never)]
#[resilient(retry(max = 3), circuit_breaker = self::BREAKER)]
pub fn stack(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A breaker around a body that is ready at its first poll.
///
/// # Errors
/// The callee's, or a refusal.
#[resilient(circuit_breaker = self::BREAKER)]
pub async fn breaker_async(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A timeout that is kept to.
///
/// # Errors
/// The callee's, or a timeout.
#[inline(never)]
#[resilient(timeout = "1s")]
pub fn timeout(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A deadline that is kept to.
///
/// # Errors
/// The callee's, or the deadline.
#[inline(never)]
#[resilient(deadline = "1s")]
pub fn deadline(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A timeout within which an expiry is watched for.
///
/// # Errors
/// The callee's, or a timeout.
#[inline(never)]
#[resilient(timeout = "1s")]
pub fn with_expiry(request: u64) -> Result<u64, Down> {
    resil::deadline::with_expiry(|| (), || callee(request))
}

/// A timeout around a body that is ready at its first poll.
///
/// # Errors
/// The callee's, or a timeout.
#[resilient(timeout = "1s")]
pub async fn timeout_async(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// Retry, breaker and timeout around a body that is ready at its first poll.
///
/// # Errors
/// The callee's, a refusal or a timeout.
#[resilient(retry(max = 3), circuit_breaker = self::BREAKER, timeout = "1s")]
pub async fn stack_async(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A deadline around a body that is ready at its first poll.
///
/// # Errors
/// The callee's, or the deadline.
#[resilient(deadline = "1s")]
pub async fn deadline_async(request: u64) -> Result<u64, Down> {
    callee(request)
}

/// A fallback that is not needed.
///
/// # Errors
/// None: the fallback answers.
#[inline(never)]
#[resilient(fallback = |_cause| Ok(0))]
pub fn fallback(request: u64) -> Result<u64, Down> {
    callee(request)
}
