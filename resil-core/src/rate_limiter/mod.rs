//! Rate limiter: so many calls in such a time, evenly spread after a first burst.
//!
//! Permits come in at a steady rate, as many as the burst are kept; a call takes one (or its `cost`) or is refused, or waits until
//! those that it has reserved are there.
//!
//! Invariant: from any instant on, what is taken is at most the burst and what the rate has brought since. Who has reserved is let in
//! when it is due and does not compete again.
//!
//! # Source
//! The generic cell rate algorithm of ITU-T I.371; see `cell/gcra.rs`.
//!
//! # Synchronisation
//! The words are `bucket.rs`'s, the quotas `eras.rs`'s, the note `note.rs`'s. What is left is Relaxed: `wait` and `enabled` hold from
//! the next call on, whichever that is; `moves` changes and is remembered under the lock, and who looks at it outside is woken
//! besides.

mod bucket;
mod cells;
pub mod config;
mod eras;
mod note;
mod operate;
mod options;
mod queue;
mod reserving;
mod taking;
mod waiting;

pub use cells::Cells;
pub use config::RateLimiterBuilder;
pub use options::{LimiterOptions, Start};
pub use reserving::Reserving;

use crate::cell::counters::stripe;
use crate::cell::{Counters, Rate};
use crate::contract::{Location, Rejected};
use crate::sync::fixed::{Mutex, MutexGuard, PoisonError};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::time::{self, Deadline, Nanos};
use bucket::{Bucket, Ticket, Word};
use core::fmt;
use crossbeam_utils::CachePadded;
use eras::Eras;
use note::Note;
use options::MOST_SHARDS;
use queue::Queue;
use taking::Look;

/// Lets so many calls through in such a time.
///
/// Built in a `static`, at compile time and without a heap; one instance stands for one thing that must not be called more
/// often, whoever calls it. The attribute uses it by name; by hand it is [`acquire`](Self::acquire), or [`enter`](Self::enter) for a call
/// that may yet be refused elsewhere.
///
/// Permits come in evenly: `100/s` is one each 10 ms. What is not used is kept up to the burst. A refused call takes nothing.
///
/// # Default
/// See the constants of [`config`]. The rate has none.
///
/// # Cost
/// A call that is let in: one clock reading, one exchange of a word that all callers share, one addition on a line of its own
/// thread. A refusal reads, and writes nothing that another thread reads.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{Rate, RateLimiter, Reason};
///
/// static QUOTA: RateLimiter = RateLimiter::builder("quota").rate(Rate::per_second(100)).burst(2).build();
///
/// assert!(QUOTA.acquire().is_ok());
/// assert!(QUOTA.acquire().is_ok());
/// let refused = QUOTA.acquire().unwrap_err();
/// assert_eq!(refused.reason(), Reason::RateLimited);
/// assert!(refused.retry_after().is_some_and(|wait| wait.as_millis() <= 10));
/// ```
pub struct RateLimiter {
    /// Each apart from the others, and from what all calls read and hardly anybody writes.
    buckets: [CachePadded<Bucket>; MOST_SHARDS],
    eras: Eras,
    note: Note,
    /// In nanoseconds.
    wait: AtomicU64,
    /// 0 if calls pass without a look.
    enabled: AtomicU32,
    shards: u32,
    start: Start,
    name: &'static str,
    location: &'static Location<'static>,
    desk: Mutex<Desk>,
    /// How often seats were moved: who waits in a thread looks at his when this changes.
    moves: AtomicU32,
    counters: Counters<5>,
}

/// What only changes under the lock: what is set, and who waits.
struct Desk {
    settings: Settings,
    queue: Queue,
}

#[derive(Clone, Copy)]
struct Settings {
    rate: Rate,
    burst: u32,
    /// Nobody has said how many, so it follows the rate.
    burst_follows: bool,
}

/// What is counted: each call in exactly one of the first four, and what it gave back in the last.
const COUNTED: [&str; 5] = ["admitted", "waited", "refused", "abandoned", "given_back"];
const ADMITTED: usize = 0;
const WAITED: usize = 1;
const REFUSED: usize = 2;
const ABANDONED: usize = 3;
const GIVEN_BACK: usize = 4;

/// What a call was given.
#[derive(Clone, Copy, Debug)]
struct Taken {
    ticket: Ticket,
    /// The reading of the clock at which it was let in.
    at: Nanos,
    permits: u32,
    shard: u32,
}

impl RateLimiter {
    /// Starts a limiter of this name.
    #[track_caller]
    pub const fn builder(name: &'static str) -> RateLimiterBuilder {
        RateLimiterBuilder::new(name, Location::caller())
    }

    const fn with(
        name: &'static str,
        location: &'static Location<'static>,
        options: LimiterOptions,
        burst_follows: bool,
    ) -> Self {
        let LimiterOptions { rate, burst, wait, start, shards } = options;
        Self {
            buckets: match start {
                Start::Full => [const { CachePadded::new(Bucket::new(Word::FULL)) }; MOST_SHARDS],
                Start::Empty => [const { CachePadded::new(Bucket::new(Word::EMPTY)) }; MOST_SHARDS],
            },
            eras: Eras::new(&options.quota()),
            note: Note::new(),
            wait: AtomicU64::new(wait.0),
            enabled: AtomicU32::new(1),
            shards,
            start,
            name,
            location,
            desk: Mutex::new(Desk {
                settings: Settings { rate, burst, burst_follows },
                queue: Queue::new(),
            }),
            moves: AtomicU32::new(0),
            counters: Counters::new(),
        }
    }

    /// Takes one permit, or is refused: never waits.
    ///
    /// # Errors
    /// [`Rejected`] with [`Reason::RateLimited`](crate::Reason::RateLimited) if there is none; its `retry_after` is when there will be one, if nobody else comes
    /// first.
    ///
    /// # Cost
    /// One clock reading, one load and one exchange; a refusal reads only.
    #[inline]
    pub fn acquire(&self) -> Result<(), Rejected> {
        self.acquire_many(1)
    }

    /// Takes so many permits at once, or is refused and takes none: never waits.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); [never](Rejected::is_never) if it is more than the burst (the part of it that a shard has).
    ///
    /// # Cost
    /// As [`acquire`](Self::acquire).
    #[inline]
    pub fn acquire_many(&self, cost: u32) -> Result<(), Rejected> {
        match self.take(self.own_shard(), cost) {
            Look { ticket: Some(_), .. } => Ok(()),
            Look { at, .. } => self.acquire_or_refuse(cost, at),
        }
    }

    /// Takes one permit, and waits for it in this thread if there is none: as long as the limiter's `wait` and the
    /// [ambient deadline](Deadline::current) allow.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire), at once if the wait would be too long.
    ///
    /// # Cost
    /// As [`acquire`](Self::acquire) if there is one; else a lock as well, twice.
    #[inline]
    pub fn acquire_blocking(&self) -> Result<(), Rejected> {
        self.enter(1, Deadline::NEVER).map(|cells| _ = cells.take())
    }

    /// Takes one permit, and waits for it if there is none: as long as the limiter's `wait` and the
    /// [ambient deadline](Deadline::current) allow.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire), at once if the wait would be too long.
    ///
    /// # Cancellation
    /// Dropping the future gives the reservation back.
    ///
    /// # Cost
    /// As [`acquire`](Self::acquire) if there is one: then no timer is touched. Else a lock and a timer as well.
    pub async fn acquire_async(&self) -> Result<(), Rejected> {
        self.enter_async(1, Deadline::NEVER).await.map(|cells| _ = cells.take())
    }

    /// Gives back what was taken and not used.
    #[cold]
    #[inline(never)]
    fn give_back(&self, taken: Taken) {
        let Taken { ticket, permits, shard, .. } = taken;
        if ticket != Ticket::NOTHING {
            self.counters.add(GIVEN_BACK);
            self.bucket(shard).give_back(&self.eras, ticket, permits, time::now());
        }
    }

    #[inline]
    fn bucket(&self, shard: u32) -> &Bucket {
        &self.buckets[shard as usize % MOST_SHARDS]
    }

    /// Where this thread looks first.
    #[inline]
    fn own_shard(&self) -> u32 {
        if self.shards == 1 {
            return 0;
        }
        // Below `shards`, which is at most eight.
        #[allow(clippy::cast_possible_truncation)]
        {
            (stripe() % self.shards as usize) as u32
        }
    }

    #[inline]
    fn longest_wait(&self) -> Nanos {
        Nanos(self.wait.load(Ordering::Relaxed))
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter")
            .field("name", &self.name)
            .field("available", &self.available())
            .field("waiting", &self.waiting())
            .field("options", &self.options())
            .finish_non_exhaustive()
    }
}
