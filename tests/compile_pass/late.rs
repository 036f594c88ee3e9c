//! Sync functions with limits: what is late is told by the type, whatever it is and however it is written.

use super::Fault;
use resil::deadline::{check, remaining, with_expiry};
use resil::resilient;
use std::borrow::Cow;
use std::fmt::Display;

/// An alias hides that it is a `Result`.
type Outcome<T> = Result<T, Fault>;

#[resilient(timeout = "1m")]
fn alone(n: &mut u8) -> Outcome<&mut u8> {
    *n += 1;
    Ok(n)
}

#[resilient(timeout("1m", late = timeout))]
fn opaque(n: u8) -> Result<impl Iterator<Item = u8>, Fault> {
    check()?;
    Ok(0..n)
}

#[resilient(deadline = "1m", circuit_breaker = "calm", fallback = |_cause| None)]
fn option<'a>(names: &'a [String], start: &str) -> Option<&'a str> {
    let found = names.iter().find(|name| name.starts_with(start))?;
    Some(found)
}

#[resilient(timeout = "1m", fallback = |_cause| ())]
fn unit(n: &mut u8) {
    if *n > 1 {
        return;
    }
    *n += 1;
}

#[resilient(deadline = "1m", timeout("30s", late = timeout), fallback = value(T::default()))]
fn plain<T: Default, F: FnOnce() -> T>(make: F) -> T {
    make()
}

/// Nothing is known of such a type: whatever it is, it is kept.
#[resilient(timeout = "1m", fallback = |_cause| fall_back)]
fn generic<T>(outcome: T, fall_back: T) -> T {
    outcome
}

#[resilient(
    deadline = "1m",
    retry(max = 3, backoff = constant("0s"), jitter = none, on_timeout, before = *tries += 1),
    circuit_breaker("calm", failure = Ok(Cow::Owned(_))),
    timeout("30s", late = keep)
)]
fn everything<'a>(tries: &mut u8, name: &'a str) -> Result<Cow<'a, str>, Fault> {
    if *tries < 2 {
        return Err(Fault::Down);
    }
    Ok(Cow::Borrowed(name))
}

struct Shelf(Vec<u8>);

impl Shelf {
    #[resilient(timeout(after = std::time::Duration::from_secs(60) / 2))]
    fn take(&mut self) -> Outcome<u8> {
        let left = remaining();
        let taken = with_expiry(|| (), || self.0.pop());
        taken.filter(|_| left.is_some()).ok_or(Fault::Down)
    }

    #[resilient(deadline = "1m", name = "into_first")]
    fn into_first(mut self) -> Outcome<impl Display + use<>> {
        self.0.truncate(1);
        self.0.pop().ok_or(Fault::Down)
    }
}

#[test]
fn every_type_is_kept_in_time() {
    let mut n = 1;
    assert_eq!(alone(&mut n).map(|n| *n), Ok(2));
    assert_eq!(opaque(3).map(Iterator::count), Ok(3));
    let names = ["ann".to_owned(), "bob".to_owned()];
    assert_eq!((option(&names, "b"), option(&names, "c")), (Some("bob"), None));
    unit(&mut n);
    assert_eq!(n, 2);
    assert_eq!(plain(|| 7), 7);
    assert_eq!(generic(Err(1), Ok(2)), Err::<u8, u8>(1));
    let mut tries = 0;
    assert_eq!(everything(&mut tries, "ann").as_deref(), Ok("ann"));
    assert_eq!(tries, 2);
    let mut shelf = Shelf(vec![1, 2]);
    assert_eq!(shelf.take(), Ok(2));
    assert_eq!(shelf.into_first().map(|first| first.to_string()).as_deref(), Ok("1"));
}

/// Lints that the attribute must leave to the body are expected, and an unfulfilled expectation is an error.
mod kept {
    use super::{Fault, resilient};

    #[expect(unused_variables)]
    #[resilient(timeout = "1m")]
    pub(super) fn argument(unused: u8) -> Result<(), Fault> {
        Ok(())
    }

    #[expect(unreachable_code)]
    #[resilient(deadline = "1m", retry(max = 2), timeout("30s", late = timeout))]
    pub(super) fn unreachable(stop: bool) -> Result<u8, Fault> {
        return Ok(u8::from(stop));
        Ok(2)
    }

    #[expect(dead_code)]
    #[resilient(timeout = "1m")]
    fn nobody_calls() -> Result<u8, Fault> {
        Ok(1)
    }
}

#[test]
fn mc15_lints_of_the_body_still_fire() {
    assert_eq!(kept::argument(1), Ok(()));
    assert_eq!(kept::unreachable(true), Ok(1));
}
