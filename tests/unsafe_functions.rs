//! Unsafe and foreign functions under the attribute. This is about `unsafe`, so it is allowed here.

#![allow(unsafe_code)]
#![deny(warnings, clippy::all, clippy::pedantic, unused, unsafe_op_in_unsafe_fn)]

use resil::{Rejected, resilient};

/// # Safety
/// `from` points to a byte.
#[resilient(circuit_breaker)]
unsafe fn read(from: *const u8) -> Result<u8, Rejected> {
    // SAFETY: the caller's promise.
    Ok(unsafe { *from })
}

/// # Safety
/// `from` points to a byte.
#[resilient(circuit_breaker, retry(max = 2), timeout = "1m")]
async unsafe fn read_later(from: &u8) -> Result<u8, Rejected> {
    std::future::ready(()).await;
    // SAFETY: the reference is one that can be read.
    Ok(unsafe { std::ptr::from_ref(from).read() })
}

/// The body of an unsafe function is as unsafe as without the attribute.
///
/// # Safety
/// `from` points to a byte.
#[allow(unsafe_op_in_unsafe_fn)]
#[resilient(circuit_breaker, retry(max = 2))]
unsafe fn read_without_a_block(from: *const u8) -> Result<u8, Rejected> {
    Ok(*from)
}

#[unsafe(no_mangle)]
#[resilient(circuit_breaker, fallback = |_refused| 0)]
extern "C" fn resil_tests_double(n: u32) -> u32 {
    n * 2
}

/// A reader of some kind.
///
/// # Safety
/// An implementation keeps its pointer valid.
unsafe trait Reader {
    /// # Safety
    /// None of its own.
    unsafe fn get(&self) -> Result<u8, Rejected>;
}

struct Pointer(*const u8);

// SAFETY: the tests keep what it points to.
unsafe impl Reader for Pointer {
    #[resilient(circuit_breaker)]
    unsafe fn get(&self) -> Result<u8, Rejected> {
        // SAFETY: the trait's promise.
        Ok(unsafe { *self.0 })
    }
}

#[test]
fn mc29_unsafe_and_foreign_functions_are_guarded_as_plain_ones() {
    let byte = 7_u8;
    let mut later = std::pin::pin!(unsafe { read_later(&byte) });
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(later.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(7)));
    // SAFETY: all point to `byte`.
    unsafe {
        assert_eq!(read(&raw const byte), Ok(7));
        assert_eq!(read_without_a_block(&raw const byte), Ok(7));
        assert_eq!(Pointer(&raw const byte).get(), Ok(7));
    }
    assert_eq!(resil_tests_double(4), 8);
}
