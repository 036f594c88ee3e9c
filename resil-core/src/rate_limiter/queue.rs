//! Who waits for permits that were reserved ahead of time, and until when.
//!
//! Invariant: a seat is taken as long as its reservation stands in the word. Everyone has a timer of their own and needs nobody
//! else to be let in; the queue is there so that a change of the rate reaches them.
//!
//! # Synchronisation
//! Behind the limiter's lock. Wakers are called, and dropped, outside of it.

use super::bucket::{Ticket, Word};
use crate::cell::gcra::Quota;
use crate::cell::slots::Wake;
use crate::time::Nanos;
use core::mem;

/// One reservation.
pub(super) struct Seat {
    /// What the word became by it.
    pub(super) ticket: Ticket,
    pub(super) permits: u32,
    pub(super) shard: u32,
    /// When the permits will be there.
    pub(super) due: Nanos,
    /// Until when they are waited for.
    pub(super) until: Nanos,
    /// How long that was at the beginning.
    pub(super) limit: Nanos,
    /// Who is called when the seat was moved.
    pub(super) wake: Wake,
}

impl Seat {
    /// Moves it to another place in the order: the quota and the reading are those by which that was found.
    pub(super) fn move_to(&mut self, word: Word, quota: &Quota, at: Nanos) {
        self.ticket = word.ticket().unwrap_or(Ticket::NOTHING);
        let due = word.tat().saturating_sub(quota.burst);
        self.due = at.plus(quota.wait(at, due.saturating_sub(quota.units(at))));
    }
}

enum Place {
    Taken(Seat),
    /// The next free one.
    Free(usize),
}

/// See the module.
pub(super) struct Queue {
    places: Vec<Place>,
    /// The first free one; as many as there are places if none is.
    free: usize,
    waiting: usize,
}

impl Queue {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new(), free: 0, waiting: 0 }
    }

    /// Allocates only if more wait than ever before.
    pub(super) fn insert(&mut self, seat: Seat) -> usize {
        let key = self.free;
        if key == self.places.len() {
            self.free += 1;
            self.places.push(Place::Taken(seat));
        } else if let Place::Free(next) = mem::replace(&mut self.places[key], Place::Taken(seat)) {
            self.free = next;
        }
        self.waiting += 1;
        key
    }

    pub(super) fn remove(&mut self, key: usize) -> Option<Seat> {
        match mem::replace(self.places.get_mut(key)?, Place::Free(self.free)) {
            Place::Taken(seat) => {
                self.free = key;
                self.waiting -= 1;
                Some(seat)
            }
            free @ Place::Free(_) => {
                self.places[key] = free;
                None
            }
        }
    }

    pub(super) fn get_mut(&mut self, key: usize) -> Option<&mut Seat> {
        match self.places.get_mut(key)? {
            Place::Taken(seat) => Some(seat),
            Place::Free(_) => None,
        }
    }

    pub(super) const fn waiting(&self) -> usize {
        self.waiting
    }

    /// The seats of one shard.
    pub(super) fn of(&mut self, shard: u32) -> impl Iterator<Item = &mut Seat> {
        self.places.iter_mut().filter_map(move |place| match place {
            Place::Taken(seat) if seat.shard == shard => Some(seat),
            _ => None,
        })
    }

    /// The longest that anybody who is here may wait.
    pub(super) fn longest_wait(&self) -> Nanos {
        let limit = |place: &Place| match place {
            Place::Taken(seat) => seat.limit,
            Place::Free(_) => Nanos::ZERO,
        };
        self.places.iter().map(limit).max().unwrap_or(Nanos::ZERO)
    }

    /// Who is to be called when the lock is gone.
    pub(super) fn all(&self) -> Vec<Wake> {
        let wake = |place: &Place| match place {
            Place::Taken(seat) => Some(seat.wake.clone()),
            Place::Free(_) => None,
        };
        self.places.iter().filter_map(wake).collect()
    }
}
