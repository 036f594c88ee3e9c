//! The observer: every rare event of the policies, with the time and the phase of the call it happened to.

use resil::{Event, Observer, State};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

tokio::task_local! {
    /// The phase in which the present request arrived.
    pub(crate) static PHASE: usize;
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    at: Instant,
    /// The phase in which the call arrived.
    pub(crate) phase: usize,
    pub(crate) event: Event,
}

/// Keeps what happened until it is taken.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    notes: Mutex<Vec<Note>>,
}

pub(crate) static WATCH: Watch = Watch { notes: Mutex::new(Vec::new()) };

impl Observer for Watch {
    fn event(&self, event: &Event) {
        // An event is told on the thread and in the task of its call.
        let phase = PHASE.try_with(|phase| *phase).unwrap_or_default();
        let note = Note { at: Instant::now(), phase, event: *event };
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }
}

impl Watch {
    /// What happened since the last time.
    pub(crate) fn take(&self) -> Vec<Note> {
        std::mem::take(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The breaker's states: since when, counted from `start`, it was in which.
pub(crate) fn states(notes: &[Note], start: Instant) -> Vec<(Duration, State)> {
    let mut states = vec![(Duration::ZERO, State::Closed)];
    for note in notes {
        if let Event::Transition { to, .. } = note.event {
            states.push((note.at.saturating_duration_since(start), to));
        }
    }
    states
}
