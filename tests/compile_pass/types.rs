//! Return types: inference and coercion reach into the body as they do without the attribute.

use super::{Fault, ready};
use resil::{Rejected, resilient};
use std::error::Error;
use std::fmt::Display;
use std::io;

/// A function that is called once.
type Job = Box<dyn FnOnce() -> u8 + Send + Sync>;
/// Any error.
type Any = Box<dyn Error + Send + Sync>;

/// The same bodies, sync and async, under each set of policies.
macro_rules! bodies {
    ($name:ident, $($policies:tt)*) => {
        mod $name {
            use super::*;

            #[resilient($($policies)*)]
            fn boxed(late: bool) -> io::Result<Job> {
                if late {
                    return Ok(Box::new(|| 1));
                }
                Ok(Box::new(|| 2))
            }

            #[resilient($($policies)*)]
            async fn boxed_async(late: bool) -> io::Result<Job> {
                if late {
                    return Ok(Box::new(|| 1));
                }
                Ok(Box::new(|| 2))
            }

            #[resilient($($policies)*)]
            fn parsed(text: &str) -> Result<u16, Any> {
                Ok(text.parse()?)
            }

            #[resilient($($policies)*)]
            async fn parsed_async(text: &str) -> Result<u16, Any> {
                Ok(text.parse()?)
            }

            #[resilient($($policies)*)]
            fn collected(texts: &[&str]) -> Result<Vec<u8>, Any> {
                let all: Vec<_> = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
                if all.is_empty() {
                    Err("nothing")?;
                }
                Ok(all)
            }

            #[resilient($($policies)*)]
            fn defaulted() -> Result<(String, f64, Vec<u8>), Any> {
                Ok(Default::default())
            }

            #[resilient($($policies)*)]
            fn opaque(n: u32) -> Result<impl Iterator<Item = u32>, Any> {
                Ok((0..n).map(|n| n * 2))
            }

            #[resilient($($policies)*)]
            fn nested(n: u32) -> Result<(impl Display, Vec<impl Display>), Any> {
                Ok((n, vec![n]))
            }

            #[resilient($($policies)*)]
            async fn opaque_async(n: u32) -> Result<impl Iterator<Item = u32>, Any> {
                Ok((0..n).map(|n| n * 2))
            }

            #[resilient($($policies)*)]
            fn borrowed<'a>(texts: &'a [String], name: &str) -> Result<impl Iterator<Item = &'a str> + use<'a>, Any> {
                let skip = name.len();
                Ok(texts.iter().map(String::as_str).skip(skip))
            }

            #[test]
            fn mc02_the_return_type_reaches_into_the_body() {
                let Ok(job) = boxed(true) else { panic!("it is fine") };
                assert_eq!(job(), 1);
                let Ok(job) = ready(boxed_async(false)) else { panic!("it is fine") };
                assert_eq!(job(), 2);
                assert_eq!(parsed("7").ok(), Some(7));
                assert_eq!(ready(parsed_async("7")).ok(), Some(7));
                assert!(parsed("x").is_err());
                assert_eq!(collected(&["1", "2"]).ok(), Some(vec![1, 2]));
                assert_eq!(defaulted().ok(), Some((String::new(), 0.0, vec![])));
            }

            #[test]
            fn mc03_opaque_types_stay_opaque() {
                assert_eq!(opaque(3).map(Iterator::sum).unwrap_or(0), 6_u32);
                assert_eq!(ready(opaque_async(3)).map(Iterator::sum).unwrap_or(0), 6_u32);
                let Ok((one, many)) = nested(4) else { panic!("it is fine") };
                assert_eq!(format!("{one}{}", many[0]), "44");
                let texts = ["a".to_owned(), "b".to_owned()];
                assert_eq!(borrowed(&texts, "x").map_or(0, Iterator::count), 1);
            }
        }
    };
}

bodies!(with_breaker, circuit_breaker = "calm");
bodies!(with_retry, retry(max = 2, backoff = constant("0ms")));
bodies!(with_both, retry(max = 2, backoff = constant("0ms")), circuit_breaker = "calm");

#[resilient(timeout = "1m", deadline = "2m", retry, circuit_breaker = "calm")]
async fn limited(late: bool) -> io::Result<Job> {
    if late {
        return Ok(Box::new(|| 1));
    }
    Ok(Box::new(|| 2))
}

#[test]
fn mc02_under_limits_too() {
    let Ok(job) = ready(limited(true)) else { panic!("it is fine") };
    assert_eq!(job(), 1);
}

#[resilient(circuit_breaker = "calm", fallback = value(None))]
fn first(bytes: &[u8]) -> Option<u8> {
    let first = bytes.first()?;
    Some(*first)
}

#[resilient(circuit_breaker = "calm", fallback = |_refused| 7)]
fn plain(n: u8) -> u8 {
    n
}

#[resilient(circuit_breaker = "calm", fallback = |_refused| ())]
fn nothing(n: &mut u8) {
    *n += 1;
}

#[resilient(circuit_breaker = "calm", fallback = |_refused| ())]
async fn nothing_async(n: &mut u8) {
    std::future::ready(()).await;
    *n += 1;
}

#[resilient(circuit_breaker = "calm", fallback = |_refused| "late")]
fn shown(n: u8) -> impl Display {
    let _ = n;
    "shown"
}

#[test]
fn other_returns_with_a_fallback() {
    assert_eq!(first(&[3]), Some(3));
    assert_eq!(first(&[]), None);
    assert_eq!(plain(3), 3);
    let mut n = 0;
    nothing(&mut n);
    ready(nothing_async(&mut n));
    assert_eq!(n, 2);
    assert_eq!(shown(n).to_string(), "shown");
}

#[resilient(retry(max = 2, backoff = constant("0ms"), on = None, attempt = n))]
fn second_time() -> Option<u32> {
    (n == 2).then_some(n)
}

#[resilient(retry(max = 3, backoff = constant("0ms"), on = 500..=599 | 429, attempt = n))]
fn status() -> u32 {
    if n == 1 { 503 } else { 200 }
}

#[test]
fn retries_of_other_returns_are_selected_by_pattern() {
    assert_eq!(second_time(), Some(2));
    assert_eq!(status(), 200);
}

/// Errors that work as they are.
#[resilient(circuit_breaker = "jumpy", name = "io")]
fn io_error(fails: bool) -> io::Result<()> {
    if fails { Err(io::Error::other("down")) } else { Ok(()) }
}

#[test]
fn a_refusal_is_an_io_error() {
    assert!(io_error(true).is_err());
    let refused = io_error(false).expect_err("the breaker is open");
    let inner = refused.get_ref().and_then(|inner| inner.downcast_ref::<Rejected>());
    assert_eq!(inner.map(Rejected::policy), Some("jumpy"));
}

/// Bodies that never come to their end.
mod diverging {
    use super::{Fault, resilient};

    #[resilient(circuit_breaker = "calm")]
    pub(super) fn unfinished() -> Result<u8, Fault> {
        panic!("not today")
    }

    #[resilient(circuit_breaker = "calm")]
    pub(super) async fn unfinished_async() -> Result<u8, Fault> {
        panic!("not today")
    }

    #[resilient(circuit_breaker = "calm", retry(max = 2))]
    pub(super) fn forever(until: &dyn Fn() -> bool) -> Result<u8, Fault> {
        loop {
            assert!(!until(), "over");
        }
    }

    #[resilient(fallback = |_| unreachable!())]
    pub(super) fn never() -> ! {
        panic!("never")
    }

    #[resilient(circuit_breaker = "calm")]
    #[allow(clippy::needless_return)]
    pub(super) fn at_the_end() -> Result<u8, Fault> {
        return Ok(1);
    }
}

#[test]
fn mc16_bodies_without_an_end_are_left_alone() {
    use std::panic::catch_unwind;
    assert!(catch_unwind(diverging::unfinished).is_err());
    assert!(catch_unwind(|| ready(diverging::unfinished_async())).is_err());
    assert!(catch_unwind(|| diverging::forever(&|| true)).is_err());
    assert!(catch_unwind(|| diverging::never()).is_err());
    assert_eq!(diverging::at_the_end(), Ok(1));
}
