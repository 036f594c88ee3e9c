//! Generics of every kind.

use super::{Fault, ready};
use resil::{Classify, Judgement, Rejected, resilient};
use std::borrow::Cow;
use std::fmt::{Debug, Display};

#[resilient(circuit_breaker = "calm")]
fn typed<T, const N: usize>(items: &[T; N]) -> Result<usize, Fault>
where
    T: Default + PartialEq + Debug,
{
    Ok(items.iter().filter(|item| **item != T::default()).count())
}

#[resilient(circuit_breaker = "calm", retry(max = 2))]
async fn typed_async<'a, T, F>(items: &'a [T], keep: F) -> Result<Vec<&'a T>, Fault>
where
    T: Sync,
    F: for<'b> Fn(&'b T) -> bool + Send + Sync,
{
    std::future::ready(()).await;
    Ok(items.iter().filter(|item| keep(item)).collect())
}

#[resilient(circuit_breaker = "calm")]
fn unsized_<T: ?Sized + Display>(value: &T) -> Result<String, Fault> {
    Ok(value.to_string())
}

#[resilient(circuit_breaker = "calm", retry(max = 2))]
fn dynamic<'a>(
    parts: &[&'a (dyn Display + 'a)],
    join: fn(&str, &str) -> String,
) -> Result<Cow<'a, str>, Fault> {
    Ok(Cow::Owned(parts.iter().fold(String::new(), |all, part| join(&all, &part.to_string()))))
}

#[resilient(circuit_breaker = "calm")]
fn opaque_argument(text: impl Into<String>, mut each: impl FnMut(char)) -> Result<usize, Fault> {
    let text = text.into();
    text.chars().for_each(&mut each);
    Ok(text.len())
}

#[resilient(circuit_breaker = "calm")]
fn late_bound<'a>(left: &'a str, _right: &str) -> Result<&'a str, Fault> {
    Ok(left)
}

#[test]
fn mc28_generics_are_kept_as_they_are() {
    assert_eq!(typed::<u8, 3>(&[0, 1, 2]), Ok(2));
    let items = [1, 2, 3];
    assert_eq!(ready(typed_async(&items, |n| *n > 1)), Ok(vec![&2, &3]));
    assert_eq!(unsized_::<str>("a").as_deref(), Ok("a"));
    let joined = dynamic(&[&1, &"b"], |a, b| format!("{a}{b}"));
    assert_eq!(joined.as_deref(), Ok("1b"));
    let mut seen = vec![];
    assert_eq!(opaque_argument("ab", |c| seen.push(c)), Ok(2));
    assert_eq!(seen, ['a', 'b']);
    let function: for<'a> fn(&'a str, &str) -> Result<&'a str, Fault> = late_bound;
    assert_eq!(function("l", "r"), Ok("l"));
}

struct Pool<'p, T, const N: usize> {
    items: &'p mut [T; N],
}

impl<T: Clone + Debug, const N: usize> Pool<'_, T, N> {
    #[resilient(circuit_breaker = "calm", retry(max = 2, backoff = constant("0ms")))]
    fn swap_all<U>(&mut self, with: &mut [T; N], or: U) -> Result<U, Fault>
    where
        U: Copy,
    {
        std::mem::swap(self.items, with);
        if N == 0 { Err(Fault::Mine) } else { Ok(or) }
    }
}

#[test]
fn mc28_generics_of_the_impl_are_in_scope() {
    let (mut ours, mut theirs) = ([1, 2], [3, 4]);
    assert_eq!(Pool { items: &mut ours }.swap_all(&mut theirs, "done"), Ok("done"));
    assert_eq!((ours, theirs), ([3, 4], [1, 2]));
}

/// An error that a caller chooses.
#[resilient(circuit_breaker(min_calls = 100), name = "generic_default", retry(max = 3, backoff = constant("0ms")))]
fn unclassified<E: From<Rejected>>(calls: &mut u32, error: impl Fn() -> E) -> Result<(), E> {
    *calls += 1;
    Err(error())
}

#[resilient(classify, circuit_breaker(min_calls = 100), name = "generic_classified", retry(max = 3, backoff = constant("0ms")))]
fn classified<E: From<Rejected>>(calls: &mut u32, error: impl Fn() -> E) -> Result<(), E> {
    *calls += 1;
    Err(error())
}

#[derive(Debug, PartialEq, Eq)]
struct NoRow;

impl From<Rejected> for NoRow {
    fn from(_: Rejected) -> Self {
        Self
    }
}

impl Classify for NoRow {
    fn classify(&self) -> Judgement {
        Judgement::IGNORED
    }
}

#[test]
fn in_generic_functions_the_word_classify_asks_the_error() {
    let mut calls = 0;
    assert_eq!(unclassified(&mut calls, || NoRow), Err(NoRow));
    assert_eq!(calls, 3);
    assert_eq!(classified(&mut calls, || NoRow), Err(NoRow));
    assert_eq!(calls, 4);
}

/// Errors that borrow, and errors of a type that may.
mod borrowed {
    use super::resilient;
    use resil::{Classify, Rejected};
    use std::error::Error;
    use std::fmt;

    /// As parsers have it: the error shows the text.
    #[derive(Debug)]
    pub(super) enum Parse<'a> {
        Bad(&'a str),
        Refused(Rejected),
    }

    impl fmt::Display for Parse<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::Bad(text) => f.write_str(text),
                Self::Refused(rejected) => rejected.fmt(f),
            }
        }
    }

    impl Error for Parse<'_> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            match self {
                Self::Bad(_) => None,
                Self::Refused(rejected) => Some(rejected),
            }
        }
    }

    impl From<Rejected> for Parse<'_> {
        fn from(rejected: Rejected) -> Self {
            Self::Refused(rejected)
        }
    }

    #[resilient(circuit_breaker, retry(max = 2, backoff = constant("0s")))]
    pub(super) fn number(text: &str) -> Result<u8, Parse<'_>> {
        text.parse().map_err(|_| Parse::Bad(text))
    }

    #[resilient(circuit_breaker)]
    pub(super) async fn number_async<'a>(text: &'a str) -> Result<u8, Parse<'a>> {
        text.parse().map_err(|_| Parse::Bad(text))
    }

    #[resilient(circuit_breaker)]
    pub(super) fn boxed<'a>(text: &'a str) -> Result<u8, Box<dyn Error + 'a>> {
        text.parse().map_err(|_| Parse::Bad(text).into())
    }

    #[resilient(circuit_breaker)]
    pub(super) fn any<E: Error + From<Rejected>>(error: E) -> Result<u8, E> {
        Err(error)
    }

    #[derive(Classify, Debug)]
    pub(super) enum Wrapped<'a> {
        #[resil(transient)]
        Text(&'a str),
        Inner(Parse<'a>),
        Refused(Rejected),
    }

    impl From<Rejected> for Wrapped<'_> {
        fn from(rejected: Rejected) -> Self {
            Self::Refused(rejected)
        }
    }

    #[resilient(circuit_breaker, retry(max = 3, backoff = constant("0s"), attempt = n))]
    pub(super) fn wrapped(text: &str) -> Result<u32, Wrapped<'_>> {
        if text.is_empty() {
            Err(Wrapped::Inner(Parse::Bad(text)))
        } else {
            Err(Wrapped::Text(text))
        }
        .or_else(|error| if n < 3 { Err(error) } else { Ok(n) })
    }
}

#[test]
fn an_error_may_borrow() {
    assert_eq!(borrowed::number("7").unwrap(), 7);
    assert_eq!(borrowed::number("x").unwrap_err().to_string(), "x");
    assert_eq!(borrowed::boxed("x").unwrap_err().to_string(), "x");
    assert!(borrowed::any(std::io::Error::other("down")).is_err());
    assert!(matches!(borrowed::Wrapped::Text("x"), borrowed::Wrapped::Text("x")));
    assert_eq!(borrowed::wrapped("x").unwrap(), 3, "transient");
    assert!(matches!(borrowed::wrapped(""), Err(borrowed::Wrapped::Inner(_))), "not retried");
    drop(borrowed::number_async("7"));
}
