//! The process's timer.

use crate::sync::fixed::{Mutex, OnceLock, PoisonError};
use crate::time::{Nanos, now};
use core::task::Waker;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key(Nanos, u64);

struct Timers {
    armed: u64,
    wakers: BTreeMap<Key, Waker>,
}

static TIMERS: Mutex<Timers> = Mutex::new(Timers {
    armed: 0,
    wakers: BTreeMap::new(),
});
static DAEMON: OnceLock<Option<std::thread::Thread>> = OnceLock::new();

fn with<R>(f: impl FnOnce(&mut Timers) -> R) -> R {
    f(&mut TIMERS.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(super) fn arm(at: Nanos, waker: Waker) -> Key {
    let key = with(|t| {
        t.armed += 1;
        let key = Key(at, t.armed);
        t.wakers.insert(key, waker);
        key
    });
    let daemon = DAEMON.get_or_init(|| {
        let thread = std::thread::Builder::new()
            .name("resil-timer".into())
            .spawn(run);
        thread.ok().map(|t| t.thread().clone())
    });
    if let Some(daemon) = daemon {
        daemon.unpark();
    }
    key
}

pub(super) fn renew(key: Key, waker: &Waker) -> bool {
    let waker = waker.clone();
    with(|t| {
        t.wakers
            .get_mut(&key)
            .map(|known| core::mem::replace(known, waker))
    })
    .is_some()
}

pub(super) fn cancel(key: Key) {
    drop(with(|t| t.wakers.remove(&key)));
}

pub(super) fn is_armed(key: Key) -> bool {
    with(|t| t.wakers.contains_key(&key))
}

fn run() {
    loop {
        let next = with(|t| t.wakers.first_key_value().map(|(&key, _)| key));
        match next {
            Some(key) if key.0 <= now() => {
                if let Some(waker) = with(|t| t.wakers.remove(&key)) {
                    waker.wake();
                }
            }
            Some(key) => std::thread::park_timeout(key.0.since(now()).to_duration()),
            None => std::thread::park(),
        }
    }
}
