//! Hooks that run at the moment when the time of a sync body is up.
//!
//! Invariant: a hook runs at most once, never before its deadline, and never after the call of [`with_expiry`] that it
//! was given to has returned or unwound: so it may borrow what that call's caller owns.
//!
//! `watch.rs` is the protocol of one hook, `seats.rs` where a thread's few live, so that arming one takes an exchange of a
//! word; the timer's daemon fires them. A scope beyond those (a fifth within four, a sixty-fifth thread, a
//! thread that is ending) is watched by a timer of its own, and so are those on a manual clock, which fires
//! them on the thread that advances it.

#[cfg(all(test, resil_loom))]
mod loom;
#[cfg(not(resil_loom))]
mod scope;
mod seats;
#[cfg(all(test, not(resil_loom)))]
mod tests;
mod watch;

#[cfg(not(resil_loom))]
pub use scope::with_expiry;
#[cfg(not(resil_loom))]
pub(super) use scope::{earliest, fire, forget, hold};

use crate::sync::Ordering;
use crate::sync::fixed::AtomicU64;
use std::panic::{AssertUnwindSafe, catch_unwind};

static PANICS: AtomicU64 = AtomicU64::new(0);

/// How many hooks of [`with_expiry`] panicked.
pub fn hook_panics() -> u64 {
    // ORDERING: Relaxed, a count that nothing is derived from.
    PANICS.load(Ordering::Relaxed)
}

/// Runs a hook; whatever it does, who runs it goes on.
fn caught(hook: impl FnOnce()) {
    // A model has to hear of what goes wrong.
    if cfg!(resil_loom) {
        return hook();
    }
    if let Err(payload) = catch_unwind(AssertUnwindSafe(hook)) {
        // ORDERING: Relaxed, as where it is read.
        PANICS.fetch_add(1, Ordering::Relaxed);
        // The payload's own destructor may panic as well.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload)));
    }
}
