//! What is measured: the same call bare, under the fewest operations that do the job, and guarded by `resil`.

pub mod floor;
pub mod guarded;

use std::hint::black_box;

/// The body's failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Down;

/// The callee: never inlined, a few instructions.
///
/// # Errors
/// [`Down`] when asked for `u64::MAX`.
#[inline(never)]
pub fn callee(request: u64) -> Result<u64, Down> {
    if request == u64::MAX { Err(Down) } else { Ok(black_box(request) + 1) }
}
