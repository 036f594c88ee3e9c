//! What allocates: counted, on the thread that runs the test.

#![allow(unsafe_code)] // a global allocator is one

use resil::{CircuitBreaker, State};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands every request to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is going away has no count any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract, and `pointer` came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `run` allocates.
fn allocations(run: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    run();
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn a_permit_by_hand_never_allocates_whatever_comes_of_it() {
    static BREAKER: CircuitBreaker = CircuitBreaker::builder("allocations").min_calls(100).build();
    BREAKER.acquire().unwrap().success(); // the thread takes its stripe
    let calls = || {
        for _ in 0..1_000 {
            BREAKER.acquire().expect("closed").success();
            BREAKER.acquire().expect("closed").ignore();
            drop(BREAKER.acquire().expect("closed"));
        }
        for _ in 0..1_000 {
            if let Ok(permit) = BREAKER.acquire() {
                permit.failure();
            }
        }
    };
    assert_eq!(allocations(calls), 0);
    assert_eq!(BREAKER.state(), State::Open, "so some of them were refused");
}
