//! Transitions, told in the order in which they happened.
//!
//! Invariant: each transition raises the generation by one and is handed in once, so the order is known however late a
//! winner comes to tell. Whoever finds a telling under way leaves its event there; one thread tells them all, in order of
//! generation, so the last event heard names the state. An observer may call back into the breaker: what
//! that causes is queued behind it, not nested in it, and goes only so deep.

use crate::contract::{Event, depth, emit_at};
use crate::sync::fixed::{Mutex, PoisonError};

/// Generations are counted modulo this.
const GENERATIONS: u32 = 1 << 24;

/// The queue in front of the observer.
pub(super) struct Delivery(Mutex<Queue>);

struct Queue {
    /// The generation to be told next.
    next: u32,
    telling: bool,
    /// Came while another was told, or before its turn.
    waiting: Vec<Told>,
}

struct Told {
    generation: u32,
    /// How deep in the observer's own doings it happened.
    depth: u32,
    event: Event,
}

impl Delivery {
    /// `first` is the generation of the first transition.
    pub(super) const fn new(first: u32) -> Self {
        Self(Mutex::new(Queue { next: first, telling: false, waiting: Vec::new() }))
    }

    /// Tells `event`, the transition to `generation`, when it is its turn.
    pub(super) fn hand_in(&self, generation: u32, event: Event) {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let event = Told { generation, depth: depth(), event };
        let mut queue = lock();
        if queue.telling || queue.next != generation {
            queue.waiting.push(event);
            return;
        }
        queue.telling = true;
        let mut told = Some(event);
        while let Some(Told { depth, event, .. }) = told {
            queue.next = (queue.next + 1) % GENERATIONS;
            drop(queue);
            emit_at(depth, &event);
            queue = lock();
            let due = queue.waiting.iter().position(|told| told.generation == queue.next);
            told = due.map(|index| queue.waiting.swap_remove(index));
        }
        queue.telling = false;
    }
}
