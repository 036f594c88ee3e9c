//! How a call reserves permits, waits for them, and leaves.
//!
//! Invariant: a reservation is made, moved and given back under the limiter's lock, together with its seat. Whoever has a seat
//! gives it back when it goes, whatever makes it go.

use super::bucket::{Reserved, Short};
use super::queue::Seat;
use super::taking::Lack;
use super::{ABANDONED, ADMITTED, Desk, RateLimiter, Taken, WAITED};
use crate::cell::rate::LONGEST;
use crate::cell::slots::Wake;
use crate::contract::Rejected;
use crate::sync::{Ordering, thread};
use crate::time::{self, Deadline, Nanos};
use core::mem;
use core::task::Waker;

/// What became of a call that found nothing at first.
pub(super) enum Begun<'a> {
    /// There is something after all.
    In(Taken),
    /// It is to be let in at this reading.
    Waiting(Place<'a>, Nanos),
}

/// A place among those who wait. Dropped, it gives its reservation back.
#[derive(Debug)]
pub(super) struct Place<'a> {
    limiter: &'a RateLimiter,
    key: usize,
}

/// What somebody who waits finds.
enum Look {
    /// It is to be let in at this reading.
    Later(Nanos),
    /// It is let in at this reading; or by now it would take so long that there is no point in waiting. The seat is free.
    Over(Result<Nanos, Nanos>, Seat),
}

impl RateLimiter {
    /// Asks again, and takes a seat if waiting makes sense: the first look was at `at`, and `wake` says who waits.
    ///
    /// # Errors
    /// A refusal, at once if the wait would be too long.
    pub(super) fn begin(
        &self,
        permits: u32,
        deadline: Deadline,
        at: Nanos,
        wake: impl Fn() -> Wake,
    ) -> Result<Begun<'_>, Rejected> {
        let mut at = self.past_note(permits, at, self.longest_wait())?;
        let until = self.until(at, deadline);
        loop {
            let Lack { short, shard, at: seen } = match self.search(permits, at) {
                Ok(taken) => return Ok(Begun::In(taken)),
                Err(lack) => lack,
            };
            match short {
                Short::Wait(wait) if seen.plus(wait) <= until && wait <= LONGEST => {}
                short => return Err(self.refuse(short)),
            }
            let wake = wake();
            let mut desk = self.desk();
            at = time::now();
            let limit = until.since(at).min(LONGEST);
            // Since this call has come, `wait` may have been set to less.
            let longest = self.longest_wait().max(limit);
            match self.bucket(shard).reserve(&self.eras, permits, at, limit, longest) {
                Ok(Reserved::Now(ticket)) => {
                    drop(desk);
                    self.counters.add(ADMITTED);
                    return Ok(Begun::In(Taken { ticket, at, permits, shard }));
                }
                Ok(Reserved::After(ticket, wait)) => {
                    let due = at.plus(wait);
                    let seat = Seat { ticket, permits, shard, due, until, limit, wake };
                    let key = desk.queue.insert(seat);
                    return Ok(Begun::Waiting(Place { limiter: self, key }, due));
                }
                // Somebody was faster, or the clock has moved: another look says what to make of it.
                Err(_) => {}
            }
        }
    }

    /// Until when a call that has come at `at` may wait.
    fn until(&self, at: Nanos, deadline: Deadline) -> Nanos {
        let wait = self.longest_wait();
        if wait == Nanos::ZERO {
            return at;
        }
        let deadline = deadline.min(Deadline::current());
        at.plus(wait).min(deadline.at().unwrap_or(Nanos::MAX))
    }

    /// Waits in this thread.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), also later if the limiter has become so slow meanwhile.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_here(
        &self,
        permits: u32,
        deadline: Deadline,
        at: Nanos,
    ) -> Result<Taken, Rejected> {
        let place = match self.begin(permits, deadline, at, || Wake::Thread(thread::current()))? {
            Begun::In(taken) => return Ok(taken),
            Begun::Waiting(place, _) => place,
        };
        // What the clock shows at least after so much was waited, even if it is paused.
        let mut least = Nanos::ZERO;
        loop {
            let mut desk = self.desk();
            let (now, seen) = (time::now().max(least), self.moves.load(Ordering::Relaxed));
            let look = place.look(&mut desk, now);
            drop(desk);
            let due = match look {
                Look::Later(due) => due,
                Look::Over(end, seat) => return place.end(end, &seat),
            };
            let moved = || self.moves.load(Ordering::Relaxed) != seen;
            time::block_until(now, due, moved);
            if !moved() {
                least = due;
            }
        }
    }

    /// Gives a reservation back. The caller holds the lock.
    fn unseat(&self, seat: &Seat, now: Nanos) {
        self.bucket(seat.shard).give_back(&self.eras, seat.ticket, seat.permits, now);
    }
}

impl<'a> Place<'a> {
    pub(super) const fn limiter(&self) -> &'a RateLimiter {
        self.limiter
    }

    /// Sees whether it is time, and makes sure that `waker` is called when the answer changes other than by the clock. `Err` says when
    /// to look again.
    pub(super) fn poll(self, waker: &Waker) -> Result<Result<Taken, Rejected>, (Self, Nanos)> {
        let mut spare = None;
        loop {
            let mut desk = self.limiter.desk();
            let due = match self.look(&mut desk, time::now()) {
                Look::Later(due) => due,
                Look::Over(end, seat) => {
                    drop(desk);
                    return Ok(self.end(end, &seat));
                }
            };
            let seat = desk.queue.get_mut(self.key).expect("it was just there");
            if !seat.wake.will_wake(waker) {
                // Cloned and dropped without the lock; what moved the seat meanwhile has called who was known until then, so
                // the seat is looked at again.
                let Some(wake) = &mut spare else {
                    drop(desk);
                    spare = Some(Wake::Task(waker.clone()));
                    continue;
                };
                mem::swap(&mut seat.wake, wake);
            }
            drop(desk);
            return Err((self, due));
        }
    }

    fn look(&self, desk: &mut Desk, now: Nanos) -> Look {
        let seat = desk.queue.get_mut(self.key).expect("who waits has a seat");
        let (due, end) =
            (seat.due, if now >= seat.due { Ok(now) } else { Err(seat.due.since(now)) });
        if end.is_err() && due <= seat.until {
            return Look::Later(due);
        }
        let seat = desk.queue.remove(self.key).expect("it was just there");
        if end.is_err() {
            self.limiter.unseat(&seat, now);
        }
        Look::Over(end, seat)
    }

    /// The seat is free: let in, or refused.
    fn end(self, end: Result<Nanos, Nanos>, seat: &Seat) -> Result<Taken, Rejected> {
        let limiter = self.limiter;
        mem::forget(self);
        match end {
            Ok(at) => {
                limiter.counters.add(WAITED);
                let Seat { ticket, permits, shard, .. } = *seat;
                Ok(Taken { ticket, at, permits, shard })
            }
            Err(wait) => Err(limiter.refuse(Short::Wait(wait))),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut desk = self.limiter.desk();
        let seat = desk.queue.remove(self.key);
        if let Some(seat) = &seat {
            self.limiter.unseat(seat, time::now());
            self.limiter.counters.add(ABANDONED);
        }
        drop(desk);
    }
}
