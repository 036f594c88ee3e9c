//! One who waits for a slot, wherever that is: in a future, or on the stack of a parked thread.
//!
//! Invariant: a waiter that is dropped leaves nothing behind, neither in the queue nor a slot that nobody has.
//!
//! # Safety obligations
//! Those of `queue.rs`: the node of a waiter is pushed only behind a `Pin`, so it stays where it is until the
//! waiter is dropped, and `drop` takes it out. (Leaked, it stays there for good.) It only ever meets the queue of its own
//! slots, which it cannot outlive.
#![allow(unsafe_code)]

use super::Slots;
use super::queue::{Node, Place, Wake};
use crate::sync::Ordering;
use crate::time::Nanos;
use core::pin::Pin;
use core::task::Waker;

/// A place in the queue, or none yet.
pub(crate) struct Waiter<'a> {
    slots: &'a Slots,
    node: Node,
}

/// What became of a waiter that asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub(crate) enum Joined {
    /// There was a slot after all; it is the caller's.
    Admitted,
    /// Nobody may enter, or too many wait.
    Refused,
    /// It waits.
    Queued,
}

impl<'a> Waiter<'a> {
    pub(crate) fn new(slots: &'a Slots) -> Self {
        Self { slots, node: Node::new() }
    }

    /// Where it is now. Once its place is decided, only [`give_up`](Self::give_up) changes that.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        self.node.place()
    }

    /// Takes a slot, or a place in the queue until `due` if fewer than `most` wait.
    pub(crate) fn join(self: Pin<&mut Self>, wake: Wake, due: Nanos, most: u32) -> Joined {
        let this = &*self;
        debug_assert_eq!(this.place(), Place::Out);
        // Dropped before `wake` is, if that was not needed.
        let mut queue = this.slots.lock();
        let mut word = this.slots.load();
        loop {
            let (next, joined) = if word.admits() {
                (word.entered(), Joined::Admitted)
            } else if word.limit() == 0 || queue.len() >= most {
                return Joined::Refused;
            } else {
                (word.with_waiters(), Joined::Queued)
            };
            match this.slots.exchange(word, next, Ordering::Acquire) {
                Err(now) => word = now,
                Ok(()) if joined == Joined::Admitted => return joined,
                Ok(()) => break,
            }
        }
        // SAFETY: it is pinned and was in no queue, and `drop` takes it out.
        unsafe { queue.push(&this.node, wake, due) };
        Joined::Queued
    }

    /// Has `waker` woken from now on, if it waits.
    pub(crate) fn renew(self: Pin<&mut Self>, waker: &Waker) {
        let this = &*self;
        // SAFETY: it is in no queue but this.
        let another = unsafe { this.node.wakes_another(&this.slots.lock(), waker) };
        if another {
            let waker = waker.clone();
            // SAFETY: as above.
            let before = unsafe { this.node.exchange(&mut this.slots.lock(), waker) };
            drop(before);
        }
    }

    /// Waits no longer: whether a slot had been handed over before, which is the caller's now.
    #[must_use]
    pub(crate) fn give_up(self: Pin<&mut Self>) -> bool {
        self.depart()
    }

    fn depart(&self) -> bool {
        if self.place() == Place::Queued {
            let mut queue = self.slots.lock();
            // SAFETY: it is in no queue but this.
            let wake = unsafe { queue.remove(&self.node) };
            if wake.is_some() && queue.is_empty() {
                self.slots.no_more_waiters(&queue);
            }
            drop(queue);
            drop(wake);
        }
        let granted = self.place() == Place::Granted;
        self.node.reset();
        granted
    }
}

impl Drop for Waiter<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.place() != Place::Out && self.depart() {
            self.slots.leave();
        }
    }
}
