//! How an attempt's outcome is judged where no pattern decides: by the most that its type lets us know.
//!
//! One trait on six depths of reference. A method call tries the deepest first, so the first that fits wins, at
//! compile time and without specialisation:
//!
//! | depth | return type | judged by |
//! |---|---|---|
//! | 5 | `R: Classify` (also `Result<T, E>` with `E: Classify`) | `Classify` |
//! | 4 | `Result<T, E>`, `E: Error` | failure, unless a refusal is inside |
//! | 3 | …, `E: AsRef<dyn Error + Send + Sync>` (`Box<dyn Error + …>`, `anyhow::Error`) | the same |
//! | 2 | …, `E: AsRef<dyn Error>` | the same |
//! | 1 | `Result<T, E>` | failure |
//! | 0 | anything else | success |
//!
//! Nothing is asked to be `'static`: the choice is made without regard to lifetimes, and an error that borrows would then fail
//! to compile. The error itself need not be looked at, since a refusal shows in its chain of sources.
//!
//! # Source
//! Autoref-based specialisation, as published by D. Tolnay (2019).

use super::rejected::Refusal;
use super::{Classify, Judgement, Rejected};
use core::error::Error;

/// The outcome of an attempt, to be judged.
#[derive(Debug)]
pub struct Probe<'a, R>(pub &'a R);

/// Judges the outcome inside a [`Probe`].
pub trait Judge {
    /// What the outcome means, before any pattern is heard.
    fn __resil_judge(&self) -> Judgement;
}

impl<R: Classify> Judge for &&&&&Probe<'_, R> {
    #[inline]
    fn __resil_judge(&self) -> Judgement {
        self.0.classify()
    }
}

impl<T, E: Error> Judge for &&&&Probe<'_, Result<T, E>> {
    #[inline]
    fn __resil_judge(&self) -> Judgement {
        self.0.as_ref().map_or_else(|error| by_source(error.source()), |_| Judgement::SUCCESS)
    }
}

impl<'e, T, E: AsRef<dyn Error + Send + Sync + 'e>> Judge for &&&Probe<'_, Result<T, E>> {
    #[inline]
    fn __resil_judge(&self) -> Judgement {
        self.0
            .as_ref()
            .map_or_else(|error| by_source(error.as_ref().source()), |_| Judgement::SUCCESS)
    }
}

impl<'e, T, E: AsRef<dyn Error + 'e>> Judge for &&Probe<'_, Result<T, E>> {
    #[inline]
    fn __resil_judge(&self) -> Judgement {
        self.0
            .as_ref()
            .map_or_else(|error| by_source(error.as_ref().source()), |_| Judgement::SUCCESS)
    }
}

impl<T, E> Judge for &Probe<'_, Result<T, E>> {
    #[inline]
    fn __resil_judge(&self) -> Judgement {
        if self.0.is_ok() { Judgement::SUCCESS } else { Judgement::TRANSIENT }
    }
}

impl<R> Judge for Probe<'_, R> {
    #[inline]
    fn __resil_judge(&self) -> Judgement {
        Judgement::SUCCESS
    }
}

/// How deep a chain of sources is searched for a refusal.
const DEPTH: usize = 8;

#[cold]
fn by_source(source: Source<'_>) -> Judgement {
    if carries_refusal(source) { Judgement::IGNORED } else { Judgement::TRANSIENT }
}

/// What an error says is behind it.
pub(crate) type Source<'a> = Option<&'a (dyn Error + 'static)>;

/// Whether there is a refusal up to eight links down a chain of sources: a [`Rejected`], or the mark that it leaves where
/// what wraps it forwards its source.
pub(crate) fn carries_refusal(source: Source<'_>) -> bool {
    let mut link = source;
    for _ in 0..DEPTH {
        let Some(error) = link else { return false };
        if error.is::<Rejected>() || error.is::<Refusal>() {
            return true;
        }
        link = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Reason, Verdict};
    use core::fmt;
    use std::io;

    const REFUSED: Rejected = Rejected::new(Reason::CircuitOpen, "inner");

    fn verdict_of<R>(judge: impl Fn(&R) -> Judgement, outcome: &R) -> Verdict {
        judge(outcome).verdict()
    }

    macro_rules! verdict {
        ($outcome:expr) => {
            verdict_of(|outcome| (&&&&&&Probe(outcome)).__resil_judge(), &$outcome)
        };
    }

    #[derive(Debug)]
    struct Chain(u32, Rejected);
    impl fmt::Display for Chain {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{}", self.0)
        }
    }
    impl Error for Chain {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }

    #[derive(Debug)]
    struct Nest(Box<dyn Error + Send + Sync>);
    impl fmt::Display for Nest {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "nest")
        }
    }
    impl Error for Nest {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self.0.as_ref())
        }
    }

    /// What `#[error(transparent)]` makes: it shows the source of what it wraps, not that itself.
    #[derive(Debug)]
    struct Transparent<E>(E);
    impl<E: fmt::Debug> fmt::Display for Transparent<E> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "{:?}", self.0)
        }
    }
    impl<E: Error> Error for Transparent<E> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.source()
        }
    }

    fn nested(depth: usize) -> Nest {
        let mut error: Box<dyn Error + Send + Sync> = Box::new(REFUSED);
        for _ in 1..depth {
            error = Box::new(Nest(error));
        }
        Nest(error)
    }

    #[test]
    fn a_refusal_inside_an_error_is_nobodys_failure() {
        assert_eq!(verdict!(Err::<(), _>(REFUSED)), Verdict::Ignored);
        assert_eq!(verdict!(Err::<(), _>(Chain(1, REFUSED))), Verdict::Ignored);
        assert_eq!(verdict!(Err::<(), _>(io::Error::from(REFUSED))), Verdict::Ignored);
        assert_eq!(verdict!(Err::<(), _>(io::Error::other(Chain(1, REFUSED)))), Verdict::Ignored);
        let boxed: Result<(), Box<dyn Error + Send + Sync>> = Err(REFUSED.into());
        assert_eq!(verdict!(boxed), Verdict::Ignored);
        let unsend: Result<(), Box<dyn Error>> = Err(REFUSED.into());
        assert_eq!(verdict!(unsend), Verdict::Ignored);
    }

    #[test]
    fn a_wrapper_that_forwards_its_source_hides_no_refusal() {
        assert_eq!(verdict!(Err::<(), _>(Transparent(REFUSED))), Verdict::Ignored);
        assert_eq!(verdict!(Err::<(), _>(Transparent(io::Error::from(REFUSED)))), Verdict::Ignored);
        let elsewhere = Transparent(io::Error::other("down"));
        assert_eq!(verdict!(Err::<(), _>(elsewhere)), Verdict::Failure);
    }

    #[test]
    fn a_chain_is_searched_eight_deep() {
        assert_eq!(verdict!(Err::<(), _>(nested(8))), Verdict::Ignored);
        assert_eq!(verdict!(Err::<(), _>(nested(9))), Verdict::Failure);
    }

    #[test]
    fn any_other_err_is_a_failure_and_all_else_a_success() {
        assert_eq!(verdict!(Err::<(), _>(io::Error::other("down"))), Verdict::Failure);
        assert_eq!(verdict!(Err::<(), _>("no error type at all")), Verdict::Failure);
        assert_eq!(verdict!(Ok::<_, io::Error>(1)), Verdict::Success);
        assert_eq!(verdict!(None::<u8>), Verdict::Success);
        assert_eq!(verdict!(()), Verdict::Success);
    }

    #[test]
    fn classify_comes_before_the_chain() {
        #[derive(Debug)]
        struct Busy;
        impl fmt::Display for Busy {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("busy")
            }
        }
        impl Error for Busy {}
        impl Classify for Busy {
            fn classify(&self) -> Judgement {
                Judgement::IGNORED
            }
        }
        assert_eq!(verdict!(Err::<(), _>(Busy)), Verdict::Ignored);
        assert_eq!(verdict!(Ok::<_, Busy>(())), Verdict::Success);
    }
}
