//! The only source of randomness: one small generator a thread, seedable.
//!
//! Used for jitter and nothing else; it is not fit for secrets.
//!
//! # Source
//! Wyrand, by way of the `fastrand` crate.

/// Seeds the generator of the current thread, so that jitter repeats.
///
/// Meant for tests; other threads keep their own sequence.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::rng;
/// rng::seed(7);
/// let first = rng::below(1_000);
/// rng::seed(7);
/// assert_eq!(rng::below(1_000), first);
/// ```
pub fn seed(seed: u64) {
    fastrand::seed(seed);
}

/// Draws from `0..=most`, each value as likely as the others.
///
/// # Cost
/// One thread-local read and a multiplication; no atomics.
#[inline]
pub fn up_to(most: u64) -> u64 {
    fastrand::u64(..=most)
}

/// Draws from `0..bound`; 0 when `bound` is 0.
///
/// # Cost
/// As [`up_to`].
#[inline]
pub fn below(bound: u64) -> u64 {
    if bound == 0 { 0 } else { fastrand::u64(..bound) }
}
