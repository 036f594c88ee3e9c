//! What an attempt tells the permit it runs under, so that a permit dropped without a verdict knows why.

use crate::time::Nanos;

/// A permit that is told when the body runs.
///
/// A permit may be dropped unsettled for three reasons, and `thread::panicking()` cannot tell them apart (a sibling's
/// unwinding would confuse it): the body panicked, the future was dropped, or the future was dropped after its time
/// was up anyway. The flag that is set around each poll or call of the body tells the first; the attempt's
/// timer tells the third.
pub trait Watched {
    /// The body starts or goes on running (`true`), or handed control back (`false`).
    fn running(&mut self, running: bool);
    /// The attempt outlived its own limit before it was dropped.
    fn overdue(&mut self);
    /// The reading of the clock that was taken when the attempt was admitted, if one was: its timeout counts from there.
    #[inline]
    fn begun(&self) -> Option<Nanos> {
        None
    }
    /// The body has ended, and this is what the clock said then: for who would read it again.
    #[inline]
    fn over(&mut self, _end: Nanos) {}
}

/// No policy of the function cares.
impl Watched for () {
    #[inline]
    fn running(&mut self, _running: bool) {}
    #[inline]
    fn overdue(&mut self) {}
}

/// Whose permit lies elsewhere.
impl<W: Watched> Watched for &mut W {
    #[inline]
    fn running(&mut self, running: bool) {
        (**self).running(running);
    }

    #[inline]
    fn overdue(&mut self) {
        (**self).overdue();
    }

    #[inline]
    fn begun(&self) -> Option<Nanos> {
        (**self).begun()
    }

    #[inline]
    fn over(&mut self, end: Nanos) {
        (**self).over(end);
    }
}

/// The reading that a gate took when it admitted the attempt.
#[derive(Clone, Copy, Debug)]
pub struct Begun(pub Nanos);

impl Watched for Begun {
    #[inline]
    fn running(&mut self, _running: bool) {}

    #[inline]
    fn overdue(&mut self) {}

    #[inline]
    fn begun(&self) -> Option<Nanos> {
        Some(self.0)
    }
}

/// A reading that one gate took, and the permit of another.
impl<W: Watched> Watched for (Begun, W) {
    #[inline]
    fn running(&mut self, running: bool) {
        self.1.running(running);
    }

    #[inline]
    fn overdue(&mut self) {
        self.1.overdue();
    }

    #[inline]
    fn begun(&self) -> Option<Nanos> {
        self.0.begun()
    }
}

/// A permit that was given for all attempts of a call: when it began says nothing about this one.
#[derive(Debug)]
pub struct Around<W>(pub W);

impl<W: Watched> Watched for Around<W> {
    #[inline]
    fn running(&mut self, running: bool) {
        self.0.running(running);
    }

    #[inline]
    fn overdue(&mut self) {
        self.0.overdue();
    }
}

/// A permit that no policy gave.
pub(crate) fn nobody() -> &'static mut () {
    // Of no size: nothing is allocated, and so nothing is leaked.
    Box::leak(Box::new(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it was told.
    #[derive(Default)]
    struct Told {
        running: Vec<bool>,
        overdue: bool,
    }

    impl Watched for Told {
        fn running(&mut self, running: bool) {
            self.running.push(running);
        }

        fn overdue(&mut self) {
            self.overdue = true;
        }

        fn begun(&self) -> Option<Nanos> {
            Some(Nanos::from_ms(1))
        }
    }

    fn tell(mut watched: impl Watched) -> Option<Nanos> {
        watched.running(true);
        watched.running(false);
        watched.overdue();
        watched.begun()
    }

    #[test]
    fn t01_the_reading_of_the_last_gate_counts_and_that_of_an_earlier_attempt_does_not() {
        let mut told = [Told::default(), Told::default(), Told::default()];
        let [one, shared, around] = &mut told;
        assert_eq!(tell(one), Some(Nanos::from_ms(1)));
        assert_eq!(tell((Begun(Nanos::from_ms(2)), shared)), Some(Nanos::from_ms(2)));
        assert_eq!(tell(Around(around)), None);
        assert_eq!(tell(Begun(Nanos::from_ms(3))), Some(Nanos::from_ms(3)));
        for told in told {
            assert_eq!((told.running, told.overdue), (vec![true, false], true));
        }
    }
}
