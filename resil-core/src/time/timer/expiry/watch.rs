//! One expiry that is watched: a word that says until when, and the hook to run then.
//!
//! Invariant: a hook runs at most once, and only between `arm` and the return of `disarm`: who fires claims the word first,
//! and who disarms waits for a claim to end.
//!
//! # Synchronisation
//! The word is `IDLE`, an instant (armed), `CLAIMED` or `DONE`. Its owner, one thread at a time, arms and disarms it; whoever
//! sees that it is due fires it.
//!
//! | from | to | by | ordering |
//! |---|---|---|---|
//! | `IDLE`, `DONE` | instant | `arm`, a swap | Release: the hook is written. Acquire: pairs with `look` |
//! | instant | `CLAIMED` | `fire`, compare-and-swap | Acquire: the hook may be read and run |
//! | `CLAIMED` | `DONE` | `fire`, a swap | Release: the hook has run. Acquire: nothing, it is one exchange |
//! | instant, `DONE` | `IDLE` | `disarm`, a swap | Acquire: what the hook did is seen |
//! | `CLAIMED` | `IDLE`, then `DONE` | `disarm`, then `fire`, swaps | `fire` sees that somebody waits, and wakes whom |
//! | any | the same | `look`, a read-modify-write | `AcqRel`: see `plan.rs`, where it takes the place of a shard's lock |
//!
//! That a word may be armed for the same instant again between `fire`'s load and its exchange does no harm: what is claimed
//! then is as due, and its hook is read after the claim. With a load and a store in place of the exchange of
//! `disarm` a claim is lost, as `loom.rs` shows; that `arm` and `look` have to exchange as well is by the argument of `plan.rs`.
//!
//! # Safety obligations
//! The hook is a pointer and a function. It is written by `arm`, whose caller owns the word and vouches for the
//! pointer until `disarm` has returned; it is read only by `fire`, after a claim and before the `DONE` that ends it.

use super::caught;
use crate::sync::fixed::PoisonError;
use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering, UnsafeCell};
use crate::time::Nanos;

const IDLE: u64 = 0;
const DONE: u64 = u64::MAX - 1;
const CLAIMED: u64 = u64::MAX;
/// The last instant that can be watched; what is due later never comes.
const LAST: u64 = DONE - 1;

/// What is to be run: a closure of a type that only its owner knows.
#[derive(Clone, Copy)]
pub(super) struct Hook {
    data: *mut (),
    run: unsafe fn(*mut ()),
}

impl Hook {
    const NONE: Self = Self { data: core::ptr::null_mut(), run: |_| {} };

    /// The closure at `place`, which is taken out when it is run.
    pub(super) fn at<F: FnOnce() + Send>(place: *mut Option<F>) -> Self {
        /// Takes the closure out and runs it.
        ///
        /// # Safety
        /// `data` points to an `Option<F>` that nobody else looks at meanwhile.
        #[allow(unsafe_code)]
        unsafe fn run<F: FnOnce()>(data: *mut ()) {
            // SAFETY: the caller's promise.
            if let Some(hook) = unsafe { (*data.cast::<Option<F>>()).take() } {
                hook();
            }
        }
        Self { data: place.cast(), run: run::<F> }
    }
}

/// A place for one expiry.
pub(super) struct Watch {
    /// `IDLE`, `CLAIMED`, `DONE` or the instant; see the table.
    word: AtomicU64,
    /// Written by the owner while `IDLE` or `DONE`, read by who has claimed.
    hook: UnsafeCell<Hook>,
}

// SAFETY: the hook's closure is `Send` (`Hook::at`), and the word lets one thread at a time have it; see the obligations.
#[allow(unsafe_code)]
unsafe impl Send for Watch {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Watch {}

impl Watch {
    #[cfg(not(resil_loom))]
    pub(super) const fn new() -> Self {
        Self { word: AtomicU64::new(IDLE), hook: UnsafeCell::new(Hook::NONE) }
    }

    #[cfg(resil_loom)]
    pub(super) fn new() -> Self {
        Self { word: AtomicU64::new(IDLE), hook: UnsafeCell::new(Hook::NONE) }
    }

    /// From now on the hook may run, once `at` has come.
    ///
    /// # Safety
    /// The watch is this thread's and not armed, and what the hook points to is left alone and stays until
    /// [`disarm`](Self::disarm) has returned.
    #[allow(unsafe_code)]
    #[inline]
    pub(super) unsafe fn arm(&self, at: Nanos, hook: Hook) {
        // SAFETY: not armed, so nobody reads it; the owner is this thread.
        self.hook.with_mut(|place| unsafe { *place = hook });
        let at = at.0.clamp(IDLE + 1, LAST);
        self.word.swap(at, Ordering::AcqRel);
    }

    /// The hook will not run any more: it has not begun, or has ended.
    #[inline]
    pub(super) fn disarm(&self, ended: &Ended) {
        if self.word.swap(IDLE, Ordering::AcqRel) == CLAIMED {
            ended.wait(|| self.word.load(Ordering::Acquire) == DONE);
        }
    }

    /// Runs the hook if it is due at `now` and nobody else does; when it is due if it is not yet.
    #[inline]
    pub(super) fn fire(&self, now: Nanos, ended: &Ended) -> Nanos {
        let at = self.word.load(Ordering::Relaxed);
        if !(IDLE + 1..=LAST).contains(&at) {
            return Nanos::MAX;
        }
        if at > now.0 {
            return Nanos(at);
        }
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        if self.word.compare_exchange(at, CLAIMED, acquire, relaxed).is_ok() {
            // SAFETY: claimed, so the owner neither writes it nor lets go of what it points to.
            #[allow(unsafe_code)]
            let hook = self.hook.with_mut(|place| unsafe { *place });
            // SAFETY: as above.
            #[allow(unsafe_code)]
            caught(|| unsafe { (hook.run)(hook.data) });
            if self.word.swap(DONE, Ordering::AcqRel) == IDLE {
                ended.tell();
            }
        }
        Nanos::MAX
    }

    /// When it is due. Who arms it after this look sees what the caller wrote before it.
    #[inline]
    pub(super) fn look(&self) -> Nanos {
        match self.word.fetch_or(0, Ordering::AcqRel) {
            IDLE | DONE | CLAIMED => Nanos::MAX,
            at => Nanos(at),
        }
    }

    /// Nothing is armed, whatever was: in a child process.
    #[cfg(not(resil_loom))]
    #[allow(dead_code)] // where processes cannot fork
    pub(super) fn forget(&self) {
        // ORDERING: Relaxed, the process has one thread at that moment.
        self.word.store(IDLE, Ordering::Relaxed);
    }
}

/// Where owners wait for claims to end. Rarely: the hook has to run just when its scope is left.
pub(super) struct Ended {
    lock: Mutex<()>,
    told: Condvar,
}

impl Ended {
    #[cfg(not(resil_loom))]
    pub(super) const fn new() -> Self {
        Self { lock: Mutex::new(()), told: Condvar::new() }
    }

    #[cfg(resil_loom)]
    pub(super) fn new() -> Self {
        Self { lock: Mutex::new(()), told: Condvar::new() }
    }

    /// Blocks until `has_ended`, which a thread makes true before it [tells](Self::tell).
    #[cold]
    #[inline(never)]
    fn wait(&self, has_ended: impl Fn() -> bool) {
        let mut guard = self.lock();
        while !has_ended() {
            guard = self.told.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell(&self) {
        // Whoever looked before has begun to wait by now.
        drop(self.lock());
        self.told.notify_all();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
