//! Bulkhead: so many calls at a time, and no more.
//!
//! What is slow or hangs then holds up as many callers as it has places, and not the whole process. A call that finds no place
//! is refused at once, or waits a bounded time in a bounded queue.
//!
//! Invariant: never are more calls admitted at a time than `max_concurrent` says; a place is given back on every way out;
//! who waits is served in the order of coming, and nobody who comes later passes.
//!
//! # Source
//! M. Nygard, *Release It!* (2007). The slots and their queue are in `cell/slots`.

pub mod config;
mod enter;
mod live;
mod operate;
mod options;
mod slot;

pub use config::BulkheadBuilder;
pub use enter::Entering;
pub use options::BulkheadOptions;
pub use slot::Slot;

use crate::cell::Counters;
use crate::cell::slots::Slots;
use crate::contract::{Event, Location, Reason, Rejected, emit, has_observer};
use crate::sync::fixed::Mutex;
use crate::time::Deadline;
use core::fmt;
use live::Live;

/// Admits so many calls at a time.
///
/// Built in a `static`, at compile time and without a heap; one instance stands for one thing that can be overloaded, whoever
/// calls it. Sync and async callers share it, and its queue. The attribute uses it by name; by hand it is one of
///
/// * [`acquire`](Self::acquire): a place now, or a refusal;
/// * [`acquire_blocking`](Self::acquire_blocking), [`acquire_async`](Self::acquire_async): waiting for one, as long as `wait` says.
///
/// The place is given back when the [`Slot`] is dropped.
///
/// # Default
/// `max_concurrent` is required. `wait` is 0: no call waits. `queue` is as long as `max_concurrent`.
///
/// # Cost
/// Entering and leaving are one read-modify-write each of a word that all callers share, and one addition on a line of the
/// thread's own; a refusal at once only reads that word. No clock is read but by who waits. Nothing is allocated, also by who
/// waits.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{Bulkhead, Reason};
///
/// static POOL: Bulkhead = Bulkhead::builder("pool").max_concurrent(2).build();
///
/// let (one, two) = (POOL.acquire()?, POOL.acquire()?);
/// assert_eq!(POOL.acquire().unwrap_err().reason(), Reason::BulkheadFull);
/// drop(one);
/// assert!(POOL.acquire().is_ok());
/// # drop(two);
/// # Ok::<(), resil::Rejected>(())
/// ```
pub struct Bulkhead {
    slots: Slots,
    live: Live,
    name: &'static str,
    location: &'static Location<'static>,
    /// Held while options change, so that what is in force is what is shown.
    changing: Mutex<()>,
    counters: Counters<5>,
}

/// What is counted, each call in exactly one.
const COUNTED: [&str; 5] = ["admitted", "waited", "refused", "expired", "abandoned"];
/// Entered at once.
const ADMITTED: usize = 0;
/// Entered after a wait.
const WAITED: usize = 1;
/// Refused at once.
const REFUSED: usize = 2;
/// Refused after a wait.
const EXPIRED: usize = 3;
/// Went away while it waited.
const ABANDONED: usize = 4;

impl Bulkhead {
    /// Starts a bulkhead of this name.
    #[track_caller]
    pub const fn builder(name: &'static str) -> BulkheadBuilder {
        BulkheadBuilder::new(name, Location::caller())
    }

    const fn with(
        name: &'static str,
        location: &'static Location<'static>,
        options: BulkheadOptions,
    ) -> Self {
        Self {
            slots: Slots::new(options.max_concurrent),
            live: Live::new(&options),
            name,
            location,
            changing: Mutex::new(()),
            counters: Counters::new(),
        }
    }

    /// Takes a place, or is refused: never waits, whatever `wait` says.
    ///
    /// # Errors
    /// [`Rejected`] with [`Reason::BulkheadFull`] if no place is free, or somebody waits for one.
    ///
    /// # Cost
    /// One read-modify-write and one addition on this thread's own line; a refusal reads only. Nothing is allocated.
    #[inline]
    pub fn acquire(&self) -> Result<Slot<'_>, Rejected> {
        if self.pass() { Ok(Slot::new(self, false)) } else { Err(self.refuse(REFUSED)) }
    }

    /// Takes a place, or waits for one; blocks this thread meanwhile. It waits for at most `wait`, and not beyond the ambient
    /// [`Deadline::current`].
    ///
    /// # Errors
    /// [`Rejected`] with [`Reason::BulkheadFull`]: at once if it may not wait or `queue` calls wait already, else when its
    /// time is over, or somebody closes the bulkhead.
    ///
    /// # Cost
    /// With a place free, as [`acquire`](Self::acquire). Else two clock readings, a place in the queue under its lock, and a parked
    /// thread.
    #[inline]
    pub fn acquire_blocking(&self) -> Result<Slot<'_>, Rejected> {
        self.enter(Deadline::NEVER)
    }

    /// Takes a place, or waits for one; begins at the first poll. It waits for at most `wait`, and not beyond the ambient
    /// [`Deadline::current`].
    ///
    /// # Errors
    /// [`Rejected`] with [`Reason::BulkheadFull`]: at once if it may not wait or `queue` calls wait already, else when its
    /// time is over, or somebody closes the bulkhead.
    ///
    /// # Cancellation
    /// Dropped while it waits, it leaves the queue; a place that was handed to it meanwhile goes to the next.
    ///
    /// # Cost
    /// With a place free it is ready at the first poll, for as much as [`acquire`](Self::acquire). Else two clock readings, a place in
    /// the queue under its lock, and a registration with the timer. Nothing is allocated.
    #[inline]
    pub fn acquire_async(&self) -> Entering<'_> {
        self.enter_async(Deadline::NEVER)
    }

    /// As [`acquire_blocking`](Self::acquire_blocking), and not beyond `deadline` either.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn enter(&self, deadline: Deadline) -> Result<Slot<'_>, Rejected> {
        let waits = !self.pass();
        if waits {
            self.wait_blocking(deadline)?;
        }
        Ok(Slot::new(self, waits))
    }

    /// As [`acquire_async`](Self::acquire_async), and not beyond `deadline` either.
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn enter_async(&self, deadline: Deadline) -> Entering<'_> {
        Entering::new(self, deadline)
    }

    /// Takes a place that is free.
    #[inline]
    fn pass(&self) -> bool {
        let passes = self.slots.try_enter();
        if passes {
            self.counters.add(ADMITTED);
        }
        passes
    }

    #[cold]
    #[inline(never)]
    fn refuse(&self, counted: usize) -> Rejected {
        self.counters.add(counted);
        let refused = Rejected::new(Reason::BulkheadFull, self.name);
        if has_observer() {
            emit(&Event::Refused(refused));
        }
        refused
    }

    /// Its name, as declared.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How many calls are inside. May exceed `max_concurrent` after that was lowered, until enough have left.
    pub fn in_flight(&self) -> u32 {
        self.slots.in_flight()
    }

    /// How many calls wait for a place.
    pub fn waiting(&self) -> u32 {
        self.slots.waiting()
    }

    /// How many places are free.
    pub fn available(&self) -> u32 {
        self.slots.available()
    }

    /// How many calls may be inside at a time; 0 if it is closed.
    pub fn max_concurrent(&self) -> u32 {
        self.live.load().max_concurrent
    }

    /// The options as they are now.
    pub fn options(&self) -> BulkheadOptions {
        self.live.load()
    }
}

impl fmt::Debug for Bulkhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulkhead")
            .field("name", &self.name)
            .field("max_concurrent", &self.max_concurrent())
            .field("in_flight", &self.in_flight())
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}
