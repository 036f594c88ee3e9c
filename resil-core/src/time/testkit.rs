//! What tests wait with: a waker that counts, and an executor of one thread.

use crate::sync::fixed::Mutex;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};

/// Runs a future on this thread, which sleeps while it waits.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Arc::new(Unpark(thread::current())).into();
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Polls once with a waker that does nothing.
pub(crate) fn poll_once<F: Future>(future: core::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Counts its wakes, and wakes up who waits for one.
#[derive(Default)]
pub(crate) struct Wakes {
    times: Mutex<u32>,
    woken: std::sync::Condvar,
}

impl Wakes {
    /// The count, and a waker that raises it.
    pub(crate) fn pair() -> (Arc<Self>, Waker) {
        let wakes = Arc::new(Self::default());
        (wakes.clone(), wakes.into())
    }

    pub(crate) fn times(&self) -> u32 {
        *self.times.lock().unwrap()
    }

    /// Blocks until it was woken at least once.
    pub(crate) fn wait(&self) {
        let times = self.times.lock().unwrap();
        drop(self.woken.wait_while(times, |times| *times == 0).unwrap());
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        *self.times.lock().unwrap() += 1;
        self.woken.notify_all();
    }
}
