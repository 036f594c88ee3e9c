//! What a healthy call writes: nothing that another thread reads, and nothing on the heap.

#![cfg(target_os = "linux")] // reads its own memory by way of the kernel

use resil::CircuitBreaker;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The memory of a value as it is now, read from outside.
fn bytes_of<T>(value: &'static T) -> Vec<u8> {
    let mut bytes = vec![0; size_of::<T>()];
    let address = std::ptr::from_ref(value).addr() as u64;
    File::open("/proc/self/mem").unwrap().read_exact_at(&mut bytes, address).unwrap();
    bytes
}

const LINE: usize = 64;

/// The cache lines of `value` that `calls` changes.
fn lines_changed<T>(value: &'static T, calls: impl FnOnce()) -> Vec<usize> {
    assert_eq!(std::ptr::from_ref(value).addr() % LINE, 0);
    let before = bytes_of(value);
    calls();
    let after = bytes_of(value);
    let lines = before.chunks(LINE).zip(after.chunks(LINE)).enumerate();
    lines.filter_map(|(line, (before, after))| (before != after).then_some(line)).collect()
}

#[test]
fn ten_thousand_healthy_calls_write_one_line_of_their_own_thread() {
    static BREAKER: CircuitBreaker = CircuitBreaker::builder("healthy").build();
    let call = || BREAKER.acquire().expect("healthy").success();
    for _ in 0..100 {
        call(); // until the window is full of successes
    }
    let mine = lines_changed(&BREAKER, || (0..10_000).for_each(|_| call()));
    assert_eq!(mine.len(), 1, "the counts of this thread");

    let theirs = std::thread::spawn(move || lines_changed(&BREAKER, || (0..10_000).for_each(|_| call())));
    let theirs = theirs.join().unwrap();
    assert_eq!(theirs.len(), 1, "the counts of that thread");
    assert_ne!(mine, theirs);
}

#[test]
fn a_failure_does_write() {
    static BREAKER: CircuitBreaker = CircuitBreaker::builder("ailing").build();
    let changed = lines_changed(&BREAKER, || BREAKER.acquire().expect("closed").failure());
    assert!(changed.len() > 1, "the word, the window and a count: {changed:?}");
}
