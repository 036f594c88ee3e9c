//! A waiter whose seat is moved at the moment when it comes with another waker. Only a waker made by hand can say when that is, so
//! `unsafe` is allowed here.

#![allow(unsafe_code)]

use resil::{Rate, RateLimiter};
use std::pin::pin;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;
use tests::{on_a_manual_clock, poll_once};

const HOUR: Duration = Duration::from_secs(3_600);

static QUOTA: RateLimiter =
    RateLimiter::builder("quota").rate(Rate::new(1, HOUR)).burst(1).wait(HOUR).build();
static WOKEN: AtomicU32 = AtomicU32::new(0);

/// Makes the limiter faster whenever it is cloned.
static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |_| {
        QUOTA.set_rate(Rate::per_second(1)).expect("a rate");
        RawWaker::new(ptr::null(), &VTABLE)
    },
    |_| _ = WOKEN.fetch_add(1, Ordering::Relaxed),
    |_| _ = WOKEN.fetch_add(1, Ordering::Relaxed),
    |_| (),
);

#[test]
fn l07_a_seat_that_is_moved_while_its_waker_changes_calls_the_new_one_in_time() {
    let (clock, _world) = on_a_manual_clock();
    QUOTA.acquire().expect("the burst");
    let mut waiting = pin!(QUOTA.acquire_async());
    assert!(poll_once(waiting.as_mut()).is_pending());
    // SAFETY: the functions of the table look at no data and own none.
    let waker = unsafe { Waker::from_raw(RawWaker::new(ptr::null(), &VTABLE)) };
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    clock.advance("1s");
    assert_ne!(WOKEN.load(Ordering::Relaxed), 0, "it is due by the new rate");
    assert!(poll_once(waiting.as_mut()).is_ready());
}
