//! The one door to atomics, locks and thread parking: `std`'s, or loom's under `cfg(resil_loom)`.
//!
//! No other file of this crate names `core::sync::atomic`, `std::sync` or `loom`, so a model checker can replace
//! every primitive at once. What must be built in a `static` goes through the `const` constructors below, which
//! only exist outside loom.

#[cfg(not(resil_loom))]
mod primitive {
    pub(crate) use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use std::sync::{Arc, Mutex, OnceLock};
    pub(crate) use std::thread;

    pub(crate) use std::hint::spin_loop;
}

#[cfg(resil_loom)]
mod primitive {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Arc, Mutex};
    pub(crate) use loom::thread;
    pub(crate) use std::sync::OnceLock;

    pub(crate) use loom::hint::spin_loop;
}

pub(crate) use primitive::*;
