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

mod bucket;
mod cells;
pub mod config;
mod eras;
mod note;
mod operate;
mod options;
mod queue;
mod reserving;
mod waiting;

pub use cells::Cells;
pub use config::RateLimiterBuilder;
pub use options::{LimiterOptions, Start};
pub use reserving::Reserving;

use crate::cell::counters::stripe;
use crate::cell::rate::LONGEST;
use crate::cell::{Counters, Rate};
use crate::contract::{Event, Location, Reason, Rejected, emit, has_observer};
use crate::sync::fixed::{Mutex, MutexGuard, PoisonError};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::time::{self, Deadline, Nanos};
use bucket::{Bucket, Short, Ticket, Word};
use core::fmt;
use crossbeam_utils::CachePadded;
use eras::Eras;
use note::Note;
use options::MOST_SHARDS;
use queue::Queue;

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

/// What the first look found, and when.
#[derive(Clone, Copy)]
struct Look {
    ticket: Option<Ticket>,
    at: Nanos,
}

/// In place of a reading: there was a note on the door.
const NOTE: Nanos = Nanos::MAX;

/// What a call was not given.
#[derive(Clone, Copy)]
struct Lack {
    short: Short,
    /// Where it would be given first.
    shard: u32,
    /// When that was seen.
    at: Nanos,
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
    /// [`Rejected`] with [`Reason::RateLimited`] if there is none; its `retry_after` is when there will be one, if nobody else comes
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

    /// The first look: takes so many permits if they are there. Out of line, and in two registers: every guarded function has
    /// a call of it.
    #[inline(never)]
    fn take(&self, shard: u32, permits: u32) -> Look {
        if !self.is_enabled() || permits == 0 {
            return Look { ticket: Some(Ticket::NOTHING), at: time::now() };
        }
        let word = self.bucket(shard).load();
        if self.note.is_about(word) {
            return Look { ticket: None, at: NOTE };
        }
        let at = time::now();
        Look { ticket: self.take_from(shard, word, permits, at), at }
    }

    #[inline]
    fn take_from(&self, shard: u32, word: Word, permits: u32, at: Nanos) -> Option<Ticket> {
        let ticket = self.bucket(shard).take(word, &self.eras, permits, at, |word, short| {
            if self.shards == 1 {
                self.leave_note(word, short, at);
            }
        });
        if ticket.is_some() {
            self.counters.add(ADMITTED);
        }
        ticket
    }

    #[cold]
    #[inline(never)]
    fn leave_note(&self, word: Word, short: u64, at: Nanos) {
        self.note.leave(word, self.eras.load(word.era()).wait(at, short), at);
    }

    #[cold]
    #[inline(never)]
    fn acquire_or_refuse(&self, permits: u32, at: Nanos) -> Result<(), Rejected> {
        let at = self.past_note(permits, at, Nanos::ZERO)?;
        match self.search(permits, at) {
            Ok(_) => Ok(()),
            Err(lack) => Err(self.refuse(lack.short)),
        }
    }

    /// When the first look was; if it ended at a note, refuses who will not wait longer than `limit`, or looks at the clock now.
    #[inline]
    fn past_note(&self, permits: u32, at: Nanos, limit: Nanos) -> Result<Nanos, Rejected> {
        if at != NOTE {
            return Ok(at);
        }
        match self.note.left(self.bucket(0).load(), limit) {
            Some(left) if permits == 1 => Err(self.refuse(Short::Wait(left))),
            _ => Ok(time::now()),
        }
    }

    /// The second look: puts right what is astray, and looks into every shard.
    #[inline(never)]
    fn search(&self, permits: u32, at: Nanos) -> Result<Taken, Lack> {
        let own = self.own_shard();
        let mut best = match self.look(own, permits, at) {
            Err(lack) if self.shards > 1 => lack,
            found => return found,
        };
        for shard in (own + 1..self.shards).chain(0..own) {
            match self.look(shard, permits, best.at) {
                Err(lack) if lack.short < best.short => best = lack,
                Err(_) => {}
                found => return found,
            }
        }
        Err(best)
    }

    /// What there is in a shard, or why there is nothing.
    fn look(&self, shard: u32, permits: u32, mut at: Nanos) -> Result<Taken, Lack> {
        let bucket = self.bucket(shard);
        let (mut longest, mut righted) = (self.longest_wait(), false);
        loop {
            match bucket.short(&self.eras, permits, at, longest) {
                None => {
                    if let Some(ticket) = self.take_from(shard, bucket.load(), permits, at) {
                        return Ok(Taken { ticket, at, permits, shard });
                    }
                }
                Some(Short::Astray) if !righted => {
                    self.put_right(shard);
                    at = time::now();
                    // What is still far ahead is owed to those who wait: since before `wait` was set to less, or all of
                    // them anew.
                    (longest, righted) = (Nanos::MAX, true);
                }
                // They were owed more than ten years of permits when the rate fell, and have not heard of it yet.
                Some(Short::Astray) => {
                    let short = Short::Wait(LONGEST.plus(Nanos(1)));
                    return Err(Lack { short, shard, at });
                }
                Some(short) => return Err(Lack { short, shard, at }),
            }
        }
    }

    /// Counts and reports a refusal.
    fn refuse(&self, short: Short) -> Rejected {
        self.counters.add(REFUSED);
        let refused = Rejected::new(Reason::RateLimited, self.name);
        let refused = match short {
            Short::Wait(wait) => refused.after_nanos(wait),
            Short::Never | Short::Astray => refused.never(),
        };
        if has_observer() {
            emit(&Event::Refused(refused));
        }
        refused
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
