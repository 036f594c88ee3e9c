//! The shard against a plain sequential model, and the properties that the daemon builds on.
//!
//! Mutants that were tried, all of them caught: in the heap, a wrong comparison, no rise or no sink after a removal, the right child
//! ignored, a position not reported; in the lists, no order, no bound on the steps, head or tail not kept on removal, a
//! list taken over while in use or not empty; in the slab, slots not used again, the generation not changed; `expire` that
//! stops short of `now` or ignores its bound; `survey` that forgets, or never forgets, what was used.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::Wake;

/// Writes down who was woken.
struct Tag {
    id: u32,
    log: Arc<Mutex<Vec<u32>>>,
}

impl Wake for Tag {
    fn wake(self: Arc<Self>) {
        self.log.lock().unwrap().push(self.id);
    }
}

#[derive(Default)]
struct Log(Arc<Mutex<Vec<u32>>>);

impl Log {
    fn waker(&self, id: u32) -> Waker {
        Arc::new(Tag { id, log: self.0.clone() }).into()
    }

    /// Fires what is due by `now`, `most` at a time, and tells who was woken, in order.
    fn expire(&self, shard: &mut Shard, now: Nanos, most: usize) -> Vec<u32> {
        let mut due = Vec::new();
        loop {
            let more = shard.expire(now, most, &mut due);
            assert!(due.len() <= most);
            due.drain(..).for_each(Waker::wake);
            if !more {
                return core::mem::take(&mut self.0.lock().unwrap());
            }
        }
    }
}

impl Shard {
    fn check(&self) {
        self.heap.check(|slot| {
            assert_eq!(self.entries[slot as usize].place, Place::Heap);
            self.entries[slot as usize].before
        });
        let mut listed = 0;
        for (index, list) in self.lists.iter().enumerate() {
            let (mut before, mut slot, mut last) = (NONE, list.head, Nanos::ZERO);
            while slot != NONE {
                let entry = &self.entries[slot as usize];
                assert_eq!(entry.place, Place::List(u8::try_from(index).unwrap()));
                assert_eq!(entry.before, before, "neighbours know each other");
                assert!(entry.at >= last, "a list is in order");
                last = entry.at;
                (before, slot) = (slot, entry.after);
                listed += 1;
            }
            assert_eq!(list.tail, before);
        }
        let held = self.entries.iter().filter(|entry| entry.waker.is_some()).count();
        assert_eq!(held, listed + self.heap.len(), "a waker for each armed entry and no other");
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Armed at `now - late`, for `span` later.
    After {
        span: u64,
        late: u64,
    },
    At {
        ahead: u64,
    },
    Cancel {
        which: usize,
    },
    Advance {
        by: u64,
    },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (prop_oneof![Just(10_u64), Just(20), Just(50), 0..100_u64], 0..12_u64).prop_map(|(span, late)| Op::After { span, late }),
        2 => (0..60_u64).prop_map(|ahead| Op::At { ahead }),
        3 => any::<usize>().prop_map(|which| Op::Cancel { which }),
        2 => (0..15_u64).prop_map(|by| Op::Advance { by }),
    ]
}

proptest! {
    #[test]
    fn it_fires_and_cancels_what_a_sorted_map_would(ops in proptest::collection::vec(op(), 1..300), most in 1..5_usize) {
        let (mut shard, log) = (Shard::new(), Log::default());
        let mut model: BTreeMap<u32, (Nanos, Ticket)> = BTreeMap::new();
        let mut stale: Vec<Ticket> = Vec::new();
        let mut now = Nanos(1_000);
        for (id, op) in (0_u32..).zip(ops) {
            match op {
                Op::After { span, late } => {
                    let at = Nanos(now.0 - late + span);
                    let ticket = shard.insert(at, Some(Nanos(span)), log.waker(id)).expect("room");
                    model.insert(id, (at, ticket));
                }
                Op::At { ahead } => {
                    let at = Nanos(now.0 + ahead);
                    let ticket = shard.insert(at, None, log.waker(id)).expect("room");
                    model.insert(id, (at, ticket));
                }
                Op::Cancel { which } if !model.is_empty() => {
                    let id = *model.keys().nth(which % model.len()).unwrap();
                    let (_, ticket) = model.remove(&id).unwrap();
                    prop_assert!(shard.remove(ticket).is_some_and(|waker| !waker.will_wake(Waker::noop())));
                    stale.push(ticket);
                }
                Op::Cancel { .. } => {}
                Op::Advance { by } => {
                    now = now.plus(Nanos(by));
                    let mut woken = log.expire(&mut shard, now, most);
                    woken.sort_unstable();
                    let due: Vec<u32> = model.iter().filter(|(_, (at, _))| *at <= now).map(|(id, _)| *id).collect();
                    prop_assert_eq!(woken, due.clone());
                    stale.extend(due.iter().map(|id| model.remove(id).unwrap().1));
                }
            }
            shard.check();
            prop_assert_eq!(shard.earliest(), model.values().map(|(at, _)| *at).min().unwrap_or(Nanos::MAX));
            prop_assert!(model.values().all(|(_, ticket)| shard.is_armed(*ticket)));
            prop_assert!(stale.iter().all(|ticket| !shard.is_armed(*ticket)), "a ticket fits once");
        }
    }
}

#[test]
fn timers_of_one_span_fire_in_order_and_are_put_in_order() {
    let (mut shard, log) = (Shard::new(), Log::default());
    let span = Some(Nanos(100));
    for (id, at) in [(0, 105), (1, 107), (2, 106), (3, 107)] {
        shard.insert(Nanos(at), span, log.waker(id)).expect("room");
    }
    assert_eq!(shard.heap.len(), 0, "two places are not too far");
    assert_eq!(log.expire(&mut shard, Nanos(107), 64), [0, 2, 1, 3]);
}

#[test]
fn what_comes_far_too_late_for_its_list_goes_into_the_heap() {
    let (mut shard, log) = (Shard::new(), Log::default());
    let span = Some(Nanos(100));
    for id in 0..=STEPS {
        shard.insert(Nanos(200), span, log.waker(id)).expect("room");
    }
    shard.insert(Nanos(150), span, log.waker(99)).expect("room");
    assert_eq!(shard.heap.len(), 1);
    assert_eq!(shard.earliest(), Nanos(150));
    assert_eq!(log.expire(&mut shard, Nanos(199), 64), [99]);
}

#[test]
fn the_thirty_third_span_in_use_goes_into_the_heap_and_an_idle_list_is_taken_over() {
    let (mut shard, log) = (Shard::new(), Log::default());
    let arm = |shard: &mut Shard, span: u64| {
        shard.insert(Nanos(1_000 + span), Some(Nanos(span)), log.waker(0)).expect("room")
    };
    let tickets: Vec<Ticket> = (1..=LISTS as u64).map(|span| arm(&mut shard, span)).collect();
    arm(&mut shard, 500);
    assert_eq!(shard.heap.len(), 1, "all lists are taken");
    drop(shard.remove(tickets[4]));
    arm(&mut shard, 501);
    assert_eq!(shard.heap.len(), 2, "an empty list that was in use a moment ago is kept");
    shard.survey(Nanos(1_000));
    arm(&mut shard, 502);
    assert_eq!(shard.heap.len(), 2, "one that was not used since the last survey is not");
    assert_eq!(shard.lists[4].span, Nanos(502));
    shard.check();
}

#[test]
fn a_survey_plans_for_what_was_used_and_for_nothing_when_nothing_was() {
    let (mut shard, log) = (Shard::new(), Log::default());
    assert_eq!(shard.survey(Nanos(5)), Nanos::MAX, "nothing armed, nothing used");
    let ticket = shard.insert(Nanos(1_200), Some(Nanos(200)), log.waker(0)).expect("room");
    drop(shard.remove(ticket));
    assert_eq!(
        shard.survey(Nanos(1_010)),
        Nanos(1_210),
        "whoever used it will again, and not be due before"
    );
    assert_eq!(shard.survey(Nanos(1_020)), Nanos::MAX, "nobody did: sleep");
    shard.insert(Nanos(1_300), None, log.waker(1)).expect("room");
    assert_eq!(shard.survey(Nanos(1_030)), Nanos(1_300));
}

#[test]
fn a_ticket_does_not_fit_the_next_tenant_of_its_slot() {
    let (mut shard, log) = (Shard::new(), Log::default());
    let first = shard.insert(Nanos(9), None, log.waker(1)).expect("room");
    drop(shard.remove(first));
    let second = shard.insert(Nanos(9), None, log.waker(2)).expect("room");
    assert_eq!(first.slot, second.slot);
    assert!(shard.remove(first).is_none());
    assert_eq!(shard.fit(first, &log.waker(1)), Fit::Gone);
    assert!(shard.exchange(first, log.waker(1)).is_err());
    assert_eq!(log.expire(&mut shard, Nanos(9), 64), [2]);
}

#[test]
fn a_waker_is_exchanged_only_for_another() {
    let (mut shard, log) = (Shard::new(), Log::default());
    let (old, new) = (log.waker(1), log.waker(2));
    let ticket = shard.insert(Nanos(9), Some(Nanos(9)), old.clone()).expect("room");
    assert_eq!(shard.fit(ticket, &old), Fit::Same);
    assert_eq!(shard.fit(ticket, &new), Fit::Other);
    let given_back = shard.exchange(ticket, new).expect("armed").expect("a waker");
    assert!(given_back.will_wake(&old));
    assert_eq!(log.expire(&mut shard, Nanos(9), 64), [2]);
}

#[test]
fn a_hundred_thousand_timers_are_armed_and_cancelled_without_a_second_allocation() {
    const TIMERS: u64 = 100_000;
    let (mut shard, log) = (Shard::new(), Log::default());
    let waker = log.waker(0);
    let round = |shard: &mut Shard| {
        let tickets: Vec<Ticket> = (0..TIMERS)
            .map(|n| {
                // Half by span, half at instants that are anything but in order.
                let span = (n % 2 == 0).then_some(Nanos(300));
                let at =
                    if span.is_some() { n + 300 } else { n.wrapping_mul(0x9E37_79B9) % TIMERS };
                shard.insert(Nanos(at), span, waker.clone()).expect("room")
            })
            .collect();
        for at in (0..tickets.len()).map(|n| n * 7_919 % tickets.len()) {
            assert!(shard.remove(tickets[at]).is_some());
        }
        assert_eq!(shard.earliest(), Nanos::MAX);
    };
    round(&mut shard);
    let grown = (shard.entries.capacity(), shard.heap.capacity(), shard.lists.capacity());
    round(&mut shard);
    assert_eq!((shard.entries.capacity(), shard.heap.capacity(), shard.lists.capacity()), grown);
    assert_eq!(shard.entries.len() as u64, TIMERS, "slots are used again");
}

#[test]
fn an_entry_is_forty_bytes() {
    assert_eq!(size_of::<Entry>(), 40);
}
