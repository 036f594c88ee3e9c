//! Stands in for the daemon under `cfg(resil_loom)`, where its statics cannot be built: no timer is ever armed.

use crate::time::Nanos;
use core::convert::Infallible;
use core::task::Waker;

pub(super) type Key = Infallible;

pub(super) fn arm(_at: Nanos, _span: Option<Nanos>, _waker: &Waker) -> Option<Key> {
    None
}

pub(super) fn renew(key: Key, _at: Nanos, _waker: &Waker) -> bool {
    match key {}
}

pub(super) fn cancel(key: Key) -> bool {
    match key {}
}

pub(super) fn is_armed(key: Key) -> bool {
    match key {}
}
