//! What happens by itself when a manual clock gets there.

use resil::testing::IntoSpan;
use resil::time::{Nanos, Sleep, sleep};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake};

struct Act<F>(Mutex<Option<F>>);

impl<F: FnOnce() + Send> Wake for Act<F> {
    fn wake(self: Arc<Self>) {
        let act = self.0.lock().expect("it does not panic").take();
        if let Some(act) = act {
            act();
        }
    }
}

/// Does something when this thread's manual clock has moved on by `span`, on the thread that moves it, unless what is
/// returned is dropped before.
///
/// # Panics
/// If the span is 0.
#[must_use = "it happens only while this is kept"]
pub fn later(span: impl IntoSpan, act: impl FnOnce() + Send + 'static) -> Pin<Box<Sleep>> {
    let mut sleep = Box::pin(sleep(Nanos::from_duration(span.into_span().to_duration())));
    let waker = Arc::new(Act(Mutex::new(Some(act)))).into();
    assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending(), "not at once");
    sleep
}
