//! The observer of this crate's own tests: remembers what the current thread caused.
//!
//! A process has one observer, and its tests share a process; so there is one for all of them, and each test reads what
//! its own thread has emitted.

use super::{Event, Observer, set_observer};
use core::cell::RefCell;

thread_local! {
    static SEEN: RefCell<Option<Vec<Event>>> = const { RefCell::new(None) };
}

struct Recorder;

impl Observer for Recorder {
    fn event(&self, event: &Event) {
        SEEN.with_borrow_mut(|seen| seen.iter_mut().for_each(|seen| seen.push(*event)));
    }
}

/// What `act` returns, and the events that this thread emitted meanwhile.
pub(crate) fn recorded<R>(act: impl FnOnce() -> R) -> (R, Vec<Event>) {
    let _ = set_observer(&Recorder); // already set by another test
    let before = SEEN.replace(Some(Vec::new()));
    let result = act();
    (result, SEEN.replace(before).expect("set above"))
}
