//! Transitions, told in the order in which they happened.
//!
//! Invariant: each transition raises the generation by one and is handed in once, so the order is known however late a
//! winner comes to tell. Whoever finds a telling under way leaves its event there; one thread tells them all, in order of
//! generation, so the last event heard names the state. An observer may call back into the breaker: what
//! that causes is queued behind it, not nested in it, and goes only so deep.

use crate::contract::{Event, depth, emit_at};
use crate::sync::fixed::{Mutex, MutexGuard, PoisonError};
use std::collections::VecDeque;

/// Generations are counted modulo this.
const GENERATIONS: u32 = 1 << 24;

/// The queue in front of the observer.
pub(super) struct Delivery(Mutex<Queue>);

struct Queue {
    /// The generation to be told next.
    next: u32,
    telling: bool,
    /// From the one that is to be told next on: what came while another was told, or before its turn. However many they are,
    /// each is put and found at once.
    waiting: VecDeque<Option<Told>>,
}

struct Told {
    /// How deep in the observer's own doings it happened.
    depth: u32,
    event: Event,
}

impl Delivery {
    /// `first` is the generation of the first transition.
    pub(super) const fn new(first: u32) -> Self {
        Self(Mutex::new(Queue { next: first, telling: false, waiting: VecDeque::new() }))
    }

    /// Tells `event`, the transition to `generation`, when it is its turn: at once, and without the queue, unless it came
    /// too early or another is being told.
    pub(super) fn hand_in(&self, generation: u32, event: Event) {
        let told = Told { depth: depth(), event };
        let mut queue = self.lock();
        if queue.telling || queue.next != generation {
            queue.put(generation, told);
            return;
        }
        queue.telling = true;
        queue.advance();
        let mut next = Some(told);
        while let Some(Told { depth, event }) = next {
            drop(queue);
            emit_at(depth, &event);
            queue = self.lock();
            next = queue.take();
        }
        queue.telling = false;
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn put(&mut self, generation: u32, told: Told) {
        let ahead = (generation.wrapping_sub(self.next) % GENERATIONS) as usize;
        if ahead >= self.waiting.len() {
            self.waiting.resize_with(ahead + 1, || None);
        }
        self.waiting[ahead] = Some(told);
    }

    /// The next one, if it is here.
    fn take(&mut self) -> Option<Told> {
        let told = self.waiting.front_mut()?.take()?;
        self.advance();
        Some(told)
    }

    /// The next one is told.
    fn advance(&mut self) {
        self.waiting.pop_front();
        self.next = (self.next + 1) % GENERATIONS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{State, TripReason, Window, recorded};

    fn transition(generation: u32) -> Event {
        let (policy, reason, window) = ("delivery", TripReason::Manual, Window::default());
        Event::Transition {
            policy,
            from: State::Closed,
            to: State::Disabled,
            generation,
            reason,
            window,
        }
    }

    #[test]
    fn rg09_what_comes_too_early_waits_for_its_turn_also_where_generations_wrap() {
        let delivery = Delivery::new(GENERATIONS - 2);
        let hand_in = |generation| {
            let ((), told) = recorded(|| delivery.hand_in(generation, transition(generation)));
            told
        };
        assert_eq!(hand_in(1), []);
        assert_eq!(hand_in(GENERATIONS - 1), []);
        let told = [GENERATIONS - 2, GENERATIONS - 1].map(transition);
        assert_eq!(hand_in(GENERATIONS - 2), told);
        assert_eq!(hand_in(0), [0, 1].map(transition));
        assert_eq!(hand_in(2), [2].map(transition));
    }

    #[test]
    fn however_many_wait_each_is_found_at_once() {
        let delivery = Delivery::new(0);
        for generation in (1..20_000).rev() {
            delivery.hand_in(generation, transition(generation));
        }
        let ((), told) = recorded(|| delivery.hand_in(0, transition(0)));
        assert!(told.into_iter().eq((0..20_000).map(transition)));
    }
}
