//! The queue of those who wait for a slot: nodes that live where their owners wait, linked both ways.
//!
//! Invariant: a node is in the queue exactly while its place is [`Place::Queued`], and what becomes of it is decided once, by
//! whoever takes it out under the lock.
//!
//! # Safety obligations
//! Who calls [`Queue::push`] promises that the node stays where it is, and alive, until it is out of the queue again. The
//! links and the waker of a node are touched only under the lock of the queue that it is in (or by its owner, while it is in
//! none). A node that is out of the queue may be gone at the moment its place says so: setting that is the last that
//! anybody but its owner does to it.
//!
//! # Synchronisation
//! `place` is written under the lock, with Release when a node is taken out; its owner reads it with Acquire and no
//! lock, so that what happened before the slot was handed over is behind it. Everything else is guarded by the lock.
#![allow(unsafe_code)]

use crate::sync::thread::Thread;
use crate::sync::{AtomicU32, Ordering, UnsafeCell};
use crate::time::Nanos;
use core::marker::PhantomPinned;
use core::mem;
use core::ptr::NonNull;
use core::task::Waker;

/// Who is called when a node's place is decided.
#[derive(Clone, Debug)]
pub(crate) enum Wake {
    /// A task.
    Task(Waker),
    /// A thread, which is parked.
    Thread(Thread),
}

impl Wake {
    pub(crate) fn wake(self) {
        match self {
            Self::Task(waker) => waker.wake(),
            Self::Thread(thread) => thread.unpark(),
        }
    }

    pub(crate) fn will_wake(&self, other: &Waker) -> bool {
        matches!(self, Self::Task(waker) if waker.will_wake(other))
    }
}

/// Where a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum Place {
    /// In no queue.
    Out,
    /// It waits.
    Queued,
    /// It was handed a slot.
    Granted,
    /// It was sent away.
    Refused,
}

impl Place {
    const fn of(number: u32) -> Self {
        match number {
            0 => Self::Out,
            1 => Self::Queued,
            2 => Self::Granted,
            _ => Self::Refused,
        }
    }
}

/// One who waits.
#[derive(Debug)]
pub(super) struct Node {
    guarded: UnsafeCell<Guarded>,
    place: AtomicU32,
    /// Others point at it. This also tells the compiler that a `&mut` to what contains it is not the only way to it.
    _pinned: PhantomPinned,
}

/// What the lock of the queue guards.
#[derive(Debug)]
struct Guarded {
    before: Option<NonNull<Node>>,
    after: Option<NonNull<Node>>,
    wake: Option<Wake>,
    due: Nanos,
}

// SAFETY: what is not atomic is reached under the lock of the queue only, see above; a `Waker` and a `Thread` may be used and
// dropped by any thread.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

impl Node {
    pub(super) fn new() -> Self {
        let guarded = Guarded { before: None, after: None, wake: None, due: Nanos::MAX };
        Self {
            guarded: UnsafeCell::new(guarded),
            place: AtomicU32::new(Place::Out as u32),
            _pinned: PhantomPinned,
        }
    }

    /// Where it is now.
    #[inline]
    pub(super) fn place(&self) -> Place {
        Place::of(self.place.load(Ordering::Acquire))
    }

    /// Its owner has taken note of what was decided.
    pub(super) fn reset(&self) {
        // ORDERING: Relaxed, it is in no queue and so its owner's alone.
        self.place.store(Place::Out as u32, Ordering::Relaxed);
    }

    /// Whether somebody else than `waker` will be woken.
    ///
    /// # Safety
    /// If it is in a queue, then in this one.
    pub(super) unsafe fn wakes_another(&self, _locked: &Queue, waker: &Waker) -> bool {
        let another = |node: &mut Guarded| !node.wake.as_ref().is_some_and(|w| w.will_wake(waker));
        // SAFETY: alive, and the caller has the lock of the queue that it is in.
        self.place() == Place::Queued && unsafe { guarded(NonNull::from(self), another) }
    }

    /// Has `waker` woken if it is still in the queue. Returns what is for the caller to drop, without the lock.
    ///
    /// # Safety
    /// If it is in a queue, then in this one.
    pub(super) unsafe fn exchange(&self, _locked: &mut Queue, waker: Waker) -> Option<Wake> {
        let wake = Wake::Task(waker);
        if self.place() != Place::Queued {
            return Some(wake);
        }
        // SAFETY: alive, and the caller has the lock of the queue that it is in.
        unsafe { guarded(NonNull::from(self), |node| node.wake.replace(wake)) }
    }
}

/// First come, first served.
#[derive(Debug)]
pub(super) struct Queue {
    head: Option<NonNull<Node>>,
    tail: Option<NonNull<Node>>,
    len: u32,
}

// SAFETY: the pointers are followed under the queue's lock only, to nodes that are `Sync`.
unsafe impl Send for Queue {}

impl Queue {
    pub(super) const fn new() -> Self {
        Self { head: None, tail: None, len: 0 }
    }

    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Until when the first waits.
    pub(super) fn first_due(&self) -> Option<Nanos> {
        // SAFETY: what is in the queue is alive, and we have the lock.
        self.head.map(|head| unsafe { guarded(head, |node| node.due) })
    }

    /// Puts a node at the end.
    ///
    /// # Safety
    /// The node is in no queue, and stays where it is until it is out of this one. While it is in, the lock around this queue
    /// is held for every other operation on it.
    pub(super) unsafe fn push(&mut self, node: &Node, wake: Wake, due: Nanos) {
        let before = self.tail;
        let this = NonNull::from(node);
        let linked = Guarded { before, after: None, wake: Some(wake), due };
        // SAFETY: it is in no queue, so nobody else looks at it.
        let unused = unsafe { guarded(this, |node| mem::replace(node, linked)) };
        debug_assert!(unused.wake.is_none(), "whoever took it out took its waker");
        match before {
            // SAFETY: in the queue, so alive; we have the lock.
            Some(before) => unsafe { guarded(before, |before| before.after = Some(this)) },
            None => self.head = Some(this),
        }
        self.tail = Some(this);
        self.len += 1;
        // ORDERING: Relaxed, read by its owner, which is this thread or is handed the node by it.
        node.place.store(Place::Queued as u32, Ordering::Relaxed);
    }

    /// Takes the first out and decides on it: it may be gone when this returns. The waker is for the caller to wake, without
    /// the lock.
    pub(super) fn decide(&mut self, place: Place) -> Option<Wake> {
        let head = self.head?;
        // SAFETY: in the queue, so alive until its place is stored, which is the last that is done to it.
        unsafe {
            let wake = self.unlink(head);
            (*head.as_ptr()).place.store(place as u32, Ordering::Release);
            wake
        }
    }

    /// Takes a node out because its owner asks for it; does nothing if it is out already. The waker is for the caller to drop,
    /// without the lock.
    ///
    /// # Safety
    /// If the node is in a queue, then in this one.
    pub(super) unsafe fn remove(&mut self, node: &Node) -> Option<Wake> {
        if node.place() != Place::Queued {
            return None;
        }
        // SAFETY: it is in this queue.
        let wake = unsafe { self.unlink(NonNull::from(node)) };
        node.reset();
        wake
    }

    /// # Safety
    /// The node is in this queue.
    unsafe fn unlink(&mut self, node: NonNull<Node>) -> Option<Wake> {
        // SAFETY: the node is in the queue, and so are its neighbours: all are alive, and we have the lock.
        unsafe {
            let (before, after, wake) =
                guarded(node, |node| (node.before.take(), node.after.take(), node.wake.take()));
            match before {
                Some(before) => guarded(before, |before| before.after = after),
                None => self.head = after,
            }
            match after {
                Some(after) => guarded(after, |after| after.before = before),
                None => self.tail = before,
            }
            self.len -= 1;
            wake
        }
    }
}

/// Looks at, or changes, what the lock guards.
///
/// # Safety
/// The node is alive; the caller has the lock of the queue that it is in, or is its owner and it is in none.
unsafe fn guarded<R>(node: NonNull<Node>, access: impl FnOnce(&mut Guarded) -> R) -> R {
    // SAFETY: alive, says the caller; and nobody else is at it, so that the reference is the only one. No `access` above
    // reaches for another node.
    unsafe { node.as_ref().guarded.with_mut(|guarded| access(&mut *guarded)) }
}
