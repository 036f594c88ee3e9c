//! The one door to atomics, locks and threads: `std`'s, or loom's under `cfg(resil_loom)`.
//!
//! No other file of this crate names `core::sync::atomic`, `std::sync` or `loom`, so a model checker can replace
//! every primitive at once. Loom's primitives cannot be built in a `static`; what is only ever a `static` and stands
//! outside every model uses the ones under [`fixed`].

#[cfg(not(resil_loom))]
mod primitive {
    pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread;

    /// `core`'s, with the interface of loom's, which watches each access.
    #[derive(Debug)]
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        #[inline]
        pub(crate) const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        /// Hands out a pointer to write through, until the closure returns.
        #[inline]
        pub(crate) fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
            write(self.0.get())
        }
    }
}

#[cfg(resil_loom)]
mod primitive {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
    /// What only models need.
    #[cfg(test)]
    pub(crate) use loom::sync::{Arc, atomic::AtomicBool};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread;
}

pub(crate) use primitive::*;

/// `std`'s own, in every build.
pub(crate) mod fixed {
    pub(crate) use core::sync::atomic::AtomicU64;
    #[cfg(any(not(resil_loom), feature = "test-util"))]
    pub(crate) use std::sync::Arc;
    #[cfg(any(not(resil_loom), feature = "test-util"))]
    pub(crate) use std::sync::MutexGuard;
    pub(crate) use std::sync::{Mutex, OnceLock, PoisonError};
}
