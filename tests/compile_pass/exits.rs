//! Ways out of a body: `return`, `?`, `break`, panics.

use super::{Fault, counter, ready};
use resil::{Kind, resilient};

/// One way out for each `way`.
#[resilient(circuit_breaker(min_calls = 100), name = "mc01_sync")]
fn leave(way: u32) -> Result<u32, Fault> {
    #[allow(clippy::needless_return)]
    const fn inner() -> Result<u32, Fault> {
        return Err(Fault::Down);
    }
    let not_counted = || -> Result<u32, Fault> {
        inner()?;
        Ok(1)
    };
    assert_eq!(not_counted(), Err(Fault::Down));
    match way {
        0 => {
            let none = None::<u32>;
            let Some(_) = none else {
                return Err(Fault::Down);
            };
        }
        1 => {
            for n in 0.. {
                if n == 7 {
                    return Ok(n);
                }
            }
        }
        2 => {
            inner()?;
        }
        3 => {
            let mut found = 0;
            'outer: for _ in 0..9 {
                loop {
                    found += 1;
                    if found > 2 {
                        break 'outer;
                    }
                    if found > 1 {
                        continue 'outer;
                    }
                }
            }
            return Ok(found);
        }
        _ => {}
    }
    Ok(way)
}

#[resilient(circuit_breaker(min_calls = 100), name = "mc01_async")]
async fn leave_async(way: u32) -> Result<u32, Fault> {
    std::future::ready(()).await;
    if way == 0 {
        return Err(Fault::Down);
    }
    let inner = async {
        if way == 1 {
            return Ok(0);
        }
        Err(Fault::Down)
    };
    inner.await?;
    Ok(way)
}

#[test]
fn mc01_each_way_out_is_recorded_once() {
    let count = |name, what| counter(Kind::CircuitBreaker, name, what);
    assert_eq!(
        [0, 1, 2, 3, 4].map(leave),
        [Err(Fault::Down), Ok(7), Err(Fault::Down), Ok(3), Ok(4)]
    );
    assert_eq!((count("mc01_sync", "success"), count("mc01_sync", "failure")), (3, 2));

    assert_eq!(
        [0, 1, 2].map(|way| ready(leave_async(way))),
        [Err(Fault::Down), Ok(1), Err(Fault::Down)]
    );
    assert_eq!((count("mc01_async", "success"), count("mc01_async", "failure")), (1, 2));
}

#[resilient(retry(max = 3, backoff = constant("0ms"), attempt = n))]
fn third_time(by_return: bool, calls: &mut u32) -> Result<u32, Fault> {
    *calls += 1;
    if n < 3 && by_return {
        return Err(Fault::Down);
    }
    if n < 3 {
        Err(Fault::Down)?;
    }
    Ok(n)
}

#[test]
fn mc01_an_early_return_is_a_failed_attempt_like_any_other() {
    for by_return in [true, false] {
        let mut calls = 0;
        assert_eq!(third_time(by_return, &mut calls), Ok(3));
        assert_eq!(calls, 3);
    }
}

#[resilient(circuit_breaker(min_calls = 100), name = "mc01_panics")]
fn panics(really: bool) -> Result<(), Fault> {
    assert!(!really, "really");
    Ok(())
}

#[test]
fn b27_a_panic_is_a_failure_and_unwinds_on() {
    assert!(std::panic::catch_unwind(|| panics(true)).is_err());
    assert_eq!(panics(false), Ok(()));
    // A dropped permit that saw its body panic votes as a failure, and is counted as abandoned.
    assert_eq!(counter(Kind::CircuitBreaker, "mc01_panics", "abandoned"), 0);
    assert_eq!(counter(Kind::CircuitBreaker, "mc01_panics", "failure"), 1);
    assert_eq!(counter(Kind::CircuitBreaker, "mc01_panics", "success"), 1);
}

/// Labels that look like ours.
#[resilient(retry(max = 2, backoff = constant("0ms")), fallback = |_| Ok(0))]
fn labels(n: u32) -> Result<u32, Fault> {
    let mut sum = 0;
    '__resil: for i in 0..n {
        for j in 0..n {
            if j > i {
                continue '__resil;
            }
            if i > 3 {
                break '__resil;
            }
            sum += j;
        }
    }
    Ok(sum)
}

#[test]
fn mc34_labels_and_loops_keep_their_meaning() {
    assert_eq!(labels(3), Ok(4));
}

#[resilient(retry(max = 2, backoff = constant("0ms")), circuit_breaker = "calm")]
fn outer(n: u32) -> Result<u32, Fault> {
    #[resilient(retry(max = 2, backoff = constant("0ms"), attempt = k), circuit_breaker = "calm")]
    fn nested(n: u32) -> Result<u32, Fault> {
        if k == 1 { Err(Fault::Down) } else { Ok(n + k) }
    }
    nested(n)
}

#[test]
fn mc34_guarded_functions_nest() {
    assert_eq!(outer(1), Ok(3));
}
