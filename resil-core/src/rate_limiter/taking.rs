//! How a call gets its permits, or a refusal: a first look that is short, and a second one.
//!
//! Invariant: a call that is refused has taken nothing, and nothing that another thread reads was written for it.

use super::bucket::{Short, Ticket, Word};
use super::{ADMITTED, REFUSED, RateLimiter, Taken};
use crate::cell::rate::LONGEST;
use crate::contract::{Event, Reason, Rejected, emit, has_observer};
use crate::time::{self, Nanos};

/// What the first look found, and when.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) ticket: Option<Ticket>,
    pub(super) at: Nanos,
}

/// In place of a reading: there was a note on the door.
const NOTE: Nanos = Nanos::MAX;

/// What a call was not given.
#[derive(Clone, Copy)]
pub(super) struct Lack {
    pub(super) short: Short,
    /// Where it would be given first.
    pub(super) shard: u32,
    /// When that was seen.
    pub(super) at: Nanos,
}

impl RateLimiter {
    /// The first look: takes so many permits if they are there. Out of line, and in two registers: every guarded function has
    /// a call of it.
    #[inline(never)]
    pub(super) fn take(&self, shard: u32, permits: u32) -> Look {
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
    pub(super) fn acquire_or_refuse(&self, permits: u32, at: Nanos) -> Result<(), Rejected> {
        let at = self.past_note(permits, at, Nanos::ZERO)?;
        match self.search(permits, at) {
            Ok(_) => Ok(()),
            Err(lack) => Err(self.refuse(lack.short)),
        }
    }

    /// When the first look was; if it ended at a note, refuses who will not wait longer than `limit`, or looks at the clock now.
    #[inline]
    pub(super) fn past_note(
        &self,
        permits: u32,
        at: Nanos,
        limit: Nanos,
    ) -> Result<Nanos, Rejected> {
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
    pub(super) fn search(&self, permits: u32, at: Nanos) -> Result<Taken, Lack> {
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
    pub(super) fn refuse(&self, short: Short) -> Rejected {
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
}
