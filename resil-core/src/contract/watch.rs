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
}

/// No policy of the function cares.
impl Watched for () {
    #[inline]
    fn running(&mut self, _running: bool) {}
    #[inline]
    fn overdue(&mut self) {}
}

/// A permit that no policy gave.
pub(crate) fn nobody() -> &'static mut () {
    // Of no size: nothing is allocated, and so nothing is leaked.
    Box::leak(Box::new(()))
}
