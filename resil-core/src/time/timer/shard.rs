//! The timers of some threads: a slab of entries, a list per span, a heap for the rest.
//!
//! Invariant: an entry that is not free holds a waker and is in exactly one list or in the heap; each list is in the order
//! of its instants; a ticket fits its entry only until that is fired or cancelled, because freeing an entry changes its
//! generation (which comes round after 2³² uses of one slot).
//!
//! Timers that are armed "after d" become due in the order they are armed in, so one list a span needs neither wheel
//! nor heap: insertion and removal take constant time. A few that arrive out of order (another thread read the clock
//! first) are put in their place. What comes too late for that, has an instant of its own, or a span beyond the
//! thirty-second that is in use, goes into the heap. Slab, lists and heap keep their capacity: in the steady state nothing is
//! allocated.

#[cfg(test)]
mod tests;

use super::heap::Heap;
use crate::time::Nanos;
use core::num::NonZeroU32;
use core::task::Waker;

/// Spans that have a list at a time: timeouts of a program are few.
const LISTS: usize = 32;
const _: () = assert!(LISTS <= u32::BITS as usize, "one bit a list in `used`");

/// How far a timer is moved ahead of those armed before it. Enough for threads that race for the lock.
const STEPS: u32 = 8;

/// Entries a shard holds at most; the four bits above are the shard's number.
pub(super) const ENTRIES: usize = 1 << 28;

/// No entry.
const NONE: u32 = u32::MAX;

/// Names an entry, as long as it is armed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ticket {
    pub(super) slot: u32,
    pub(super) generation: NonZeroU32,
}

/// What a ticket and a waker are to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fit {
    /// The entry was fired or cancelled.
    Gone,
    /// The entry will wake the same task.
    Same,
    /// The entry will wake somebody else.
    Other,
}

/// The timers of some threads.
pub(super) struct Shard {
    entries: Vec<Entry>,
    free: u32,
    lists: Vec<List>,
    /// One bit a list: used since the last survey.
    used: u32,
    heap: Heap,
}

struct Entry {
    at: Nanos,
    waker: Option<Waker>,
    generation: NonZeroU32,
    /// In a list the neighbour that is due before; in the heap the position.
    before: u32,
    /// In a list the neighbour that is due after; when free the next free one.
    after: u32,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Free,
    List(u8),
    Heap,
}

struct List {
    span: Nanos,
    head: u32,
    tail: u32,
}

impl Shard {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), free: NONE, lists: Vec::new(), used: 0, heap: Heap::new() }
    }

    /// Arms a timer for `at`, which is `span` after its arming if one is given. Hands the waker back if the shard is full.
    pub(super) fn insert(
        &mut self,
        at: Nanos,
        span: Option<Nanos>,
        waker: Waker,
    ) -> Result<Ticket, Waker> {
        let Some(slot) = self.take_slot() else { return Err(waker) };
        let list = span.and_then(|span| self.list_of(span));
        let entry = &mut self.entries[slot as usize];
        entry.at = at;
        entry.waker = Some(waker);
        let generation = entry.generation;
        if !list.is_some_and(|list| self.link(list, slot)) {
            let entries = &mut self.entries;
            entries[slot as usize].place = Place::Heap;
            self.heap.push(at, slot, |slot, position| entries[slot as usize].before = position);
        }
        Ok(Ticket { slot, generation })
    }

    /// Takes an entry back. Its waker is for the caller to drop, outside the lock.
    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Waker> {
        self.armed(ticket)?;
        self.take(ticket.slot)
    }

    /// Whether the entry is there, and whether it will wake the same task as `waker`.
    pub(super) fn fit(&self, ticket: Ticket, waker: &Waker) -> Fit {
        match self.armed(ticket).and_then(|entry| entry.waker.as_ref()) {
            None => Fit::Gone,
            Some(known) if known.will_wake(waker) => Fit::Same,
            Some(_) => Fit::Other,
        }
    }

    /// Exchanges the entry's waker if it is there. What is returned is for the caller to drop, outside the lock.
    pub(super) fn exchange(
        &mut self,
        ticket: Ticket,
        waker: Waker,
    ) -> Result<Option<Waker>, Waker> {
        if self.armed(ticket).is_none() {
            return Err(waker);
        }
        Ok(self.entries[ticket.slot as usize].waker.replace(waker))
    }

    /// Whether the entry is there.
    pub(super) fn is_armed(&self, ticket: Ticket) -> bool {
        self.armed(ticket).is_some()
    }

    /// Takes wakers of what is due into `due` until that holds `most`; whether there may be more.
    pub(super) fn expire(&mut self, now: Nanos, most: usize, due: &mut Vec<Waker>) -> bool {
        for list in 0..self.lists.len() {
            while let Some(entry) = self.entries.get(self.lists[list].head as usize)
                && entry.at <= now
            {
                if due.len() >= most {
                    return true;
                }
                let head = self.lists[list].head;
                due.extend(self.take(head));
            }
        }
        while let Some((at, slot)) = self.heap.first()
            && at <= now
        {
            if due.len() >= most {
                return true;
            }
            due.extend(self.take(slot));
        }
        false
    }

    /// The instant of the entry that is due first.
    pub(super) fn earliest(&self) -> Nanos {
        let first = self.heap.first().map_or(Nanos::MAX, |(at, _)| at);
        let heads = self.lists.iter().filter_map(|list| self.entries.get(list.head as usize));
        heads.fold(first, |least, entry| least.min(entry.at))
    }

    /// When to look again: at the instant of the first entry, or one span from now if a list of that span was used since
    /// the last survey, since it will be again, and what is armed from now on is not due before.
    pub(super) fn survey(&mut self, now: Nanos) -> Nanos {
        let used = core::mem::take(&mut self.used);
        let lists = self.lists.iter().enumerate().filter(|(index, _)| used & (1 << index) != 0);
        lists.fold(self.earliest(), |least, (_, list)| least.min(now.plus(list.span)))
    }

    /// The entry, if the ticket still fits.
    #[inline]
    fn armed(&self, ticket: Ticket) -> Option<&Entry> {
        self.entries.get(ticket.slot as usize).filter(|entry| entry.generation == ticket.generation)
    }

    /// A slot to fill.
    fn take_slot(&mut self) -> Option<u32> {
        if let Some(entry) = self.entries.get(self.free as usize) {
            return Some(core::mem::replace(&mut self.free, entry.after));
        }
        let slot = self.entries.len();
        if slot >= ENTRIES {
            return None;
        }
        self.entries.push(Entry {
            at: Nanos::ZERO,
            waker: None,
            generation: NonZeroU32::MIN,
            before: NONE,
            after: NONE,
            place: Place::Free,
        });
        // Below 2²⁸.
        #[allow(clippy::cast_possible_truncation)]
        Some(slot as u32)
    }

    /// Takes an entry out of its place, frees its slot and returns its waker.
    fn take(&mut self, slot: u32) -> Option<Waker> {
        let entry = &mut self.entries[slot as usize];
        let (before, after, place) = (entry.before, entry.after, entry.place);
        let waker = entry.waker.take();
        entry.generation = entry.generation.checked_add(1).unwrap_or(NonZeroU32::MIN);
        entry.place = Place::Free;
        entry.after = core::mem::replace(&mut self.free, slot);
        match place {
            Place::Free => {}
            Place::Heap => {
                let entries = &mut self.entries;
                self.heap.remove(before, |slot, position| entries[slot as usize].before = position);
            }
            Place::List(list) => {
                let list = &mut self.lists[usize::from(list)];
                match self.entries.get_mut(before as usize) {
                    Some(neighbour) => neighbour.after = after,
                    None => list.head = after,
                }
                match self.entries.get_mut(after as usize) {
                    Some(neighbour) => neighbour.before = before,
                    None => list.tail = before,
                }
            }
        }
        waker
    }

    /// Takes back whatever is armed, and forgets the wakers: nothing is dropped, woken or freed.
    #[allow(dead_code)] // where processes cannot fork
    pub(super) fn forget(&mut self) {
        for slot in 0..self.entries.len() {
            if self.entries[slot].place != Place::Free {
                #[allow(clippy::cast_possible_truncation)] // below `ENTRIES`
                core::mem::forget(self.take(slot as u32));
            }
        }
    }

    /// The list of that span. A new span gets a list of its own, or one that has gone out of use.
    fn list_of(&mut self, span: Nanos) -> Option<usize> {
        let known = self.lists.iter().position(|list| list.span == span);
        let list = match known {
            Some(list) => list,
            None if self.lists.len() < LISTS => {
                self.lists.push(List { span, head: NONE, tail: NONE });
                self.lists.len() - 1
            }
            None => {
                let used = self.used;
                let idle =
                    |(index, list): (usize, &List)| list.head == NONE && used & (1 << index) == 0;
                let list = self.lists.iter().enumerate().position(idle)?;
                self.lists[list].span = span;
                list
            }
        };
        self.used |= 1 << list;
        Some(list)
    }

    /// Puts an entry into a list, in the order of the instants; `false` if its place is too far from the end.
    fn link(&mut self, list: usize, slot: u32) -> bool {
        let at = self.entries[slot as usize].at;
        let mut before = self.lists[list].tail;
        let mut steps = 0;
        while let Some(entry) = self.entries.get(before as usize)
            && entry.at > at
        {
            if steps == STEPS {
                return false;
            }
            steps += 1;
            before = entry.before;
        }
        let after = match self.entries.get_mut(before as usize) {
            Some(neighbour) => core::mem::replace(&mut neighbour.after, slot),
            None => core::mem::replace(&mut self.lists[list].head, slot),
        };
        match self.entries.get_mut(after as usize) {
            Some(neighbour) => neighbour.before = slot,
            None => self.lists[list].tail = slot,
        }
        let entry = &mut self.entries[slot as usize];
        (entry.before, entry.after) = (before, after);
        // There are 32 at most.
        #[allow(clippy::cast_possible_truncation)]
        {
            entry.place = Place::List(list as u8);
        }
        true
    }
}
