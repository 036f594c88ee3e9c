//! Times beside the hand-written floor and beside peers, at one thread and two: `cargo bench -p benches --bench times`.
//!
//! Each row is one call, with its callee where it has one. Peers do the same job and no more: what they do not have (counters,
//! a name, a refusal that says why) they do not pay for.

use divan::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

fn main() {
    if resil::TEST_UTIL {
        eprintln!("feature `test-util` is on: run with `-p benches` alone");
        std::process::exit(2);
    }
    divan::main();
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// One of 64 places, taken and given back.
#[divan::bench_group(threads = [1, 2], sample_size = 50_000)]
mod bulkhead {
    use super::black_box;
    use benches::{callee, floor, guarded};
    use tokio::sync::Semaphore;

    static PEER: Semaphore = Semaphore::const_new(64);

    #[divan::bench]
    fn bare() {
        let _ = black_box(callee(black_box(1)));
    }

    #[divan::bench]
    fn floor() {
        let _ = black_box(floor::bulkhead(black_box(1)));
    }

    #[divan::bench]
    fn by_hand() {
        let _ = black_box(guarded::bulkhead_by_hand(black_box(1)));
    }

    #[divan::bench]
    fn by_attribute() {
        let _ = black_box(guarded::bulkhead(black_box(1)));
    }

    #[divan::bench]
    fn peer_tokio_semaphore() {
        let permit = PEER.try_acquire();
        let _ = black_box(callee(black_box(1)));
        drop(permit);
    }
}

/// The same for tasks, which would wait if they had to.
#[divan::bench_group(threads = [1, 2], sample_size = 50_000)]
mod bulkhead_async {
    use super::{black_box, poll_once};
    use benches::{callee, floor, guarded};
    use std::pin::pin;
    use tokio::sync::Semaphore;

    static PEER: Semaphore = Semaphore::const_new(64);

    #[divan::bench]
    fn floor() {
        let _ = black_box(poll_once(pin!(floor::bulkhead_async(black_box(1)))));
    }

    #[divan::bench]
    fn by_attribute() {
        let _ = black_box(poll_once(pin!(guarded::bulkhead_async(black_box(1)))));
    }

    #[divan::bench]
    fn peer_tokio_semaphore() {
        let call = async {
            let _permit = PEER.acquire().await;
            callee(black_box(1))
        };
        let _ = black_box(poll_once(pin!(call)));
    }
}

/// A low limit, where callers look before they enter.
#[divan::bench_group(threads = [1, 2], sample_size = 50_000)]
mod bulkhead_of_four {
    use super::black_box;
    use benches::callee;
    use resil::Bulkhead;
    use tokio::sync::Semaphore;

    static BULKHEAD: Bulkhead = Bulkhead::builder("four").max_concurrent(4).build();
    static PEER: Semaphore = Semaphore::const_new(4);

    #[divan::bench]
    fn by_hand() {
        let slot = BULKHEAD.acquire();
        let _ = black_box(callee(black_box(1)));
        drop(slot);
    }

    #[divan::bench]
    fn peer_tokio_semaphore() {
        let permit = PEER.try_acquire();
        let _ = black_box(callee(black_box(1)));
        drop(permit);
    }
}

/// No place is free, and nobody waits.
#[divan::bench_group(threads = [1, 2], sample_size = 50_000)]
mod bulkhead_refuses {
    use super::black_box;
    use resil::Bulkhead;
    use tokio::sync::Semaphore;

    static FULL: Bulkhead = Bulkhead::builder("full").max_concurrent(0).build();
    static PEER: Semaphore = Semaphore::const_new(0);

    #[divan::bench]
    fn by_hand() -> bool {
        black_box(&FULL).acquire().is_err()
    }

    #[divan::bench]
    fn peer_tokio_semaphore() -> bool {
        black_box(&PEER).try_acquire().is_err()
    }
}

/// A task that waits for the only place, which the one before it leaves: queued, woken, served.
#[divan::bench_group]
mod bulkhead_hands_over {
    use super::poll_once;
    use divan::Bencher;
    use resil::Bulkhead;
    use std::pin::pin;
    use std::time::Duration;
    use tokio::sync::Semaphore;

    /// With a registration at the timer.
    #[divan::bench]
    fn within_an_hour(bencher: Bencher<'_, '_>) {
        hand_over(bencher, Duration::from_secs(3_600));
    }

    #[divan::bench]
    fn without_an_end(bencher: Bencher<'_, '_>) {
        hand_over(bencher, Duration::MAX);
    }

    fn hand_over(bencher: Bencher<'_, '_>, wait: Duration) {
        let one = Bulkhead::builder("one").max_concurrent(1).wait(wait).build();
        bencher.bench(|| {
            let slot = one.acquire();
            let mut waits = pin!(one.acquire_async());
            let pending = poll_once(waits.as_mut()).is_pending();
            drop(slot);
            (pending, poll_once(waits).is_ready())
        });
    }

    #[divan::bench]
    fn peer_tokio_semaphore(bencher: Bencher<'_, '_>) {
        let one = Semaphore::new(1);
        bencher.bench(|| {
            let permit = one.try_acquire();
            let mut waits = pin!(one.acquire());
            let pending = poll_once(waits.as_mut()).is_pending();
            drop(permit);
            (pending, poll_once(waits).is_ready())
        });
    }
}
