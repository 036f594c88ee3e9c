//! How a refusal becomes a value of the function's return type.

use super::Rejected;

/// A return type that can carry a refusal: `Result<T, E>` where `E: From<Rejected>`.
///
/// Users implement `From<Rejected>` for their error type (with `thiserror`: a variant `#[from] resil::Rejected`) and
/// never this trait.
#[diagnostic::on_unimplemented(
    message = "the return type `{Self}` cannot carry a refusal",
    label = "a guarded call may be refused, and `{Self}` has no place for it",
    note = "help: return a `Result` whose error has a variant `Refused(#[from] resil::Rejected)`, or implements `From<resil::Rejected>`",
    note = "help: or answer refusals yourself: `#[resilient(…, fallback = |cause| …)]`"
)]
pub trait FromRejected: Sized {
    /// Wraps the refusal.
    fn from_rejected(rejected: Rejected) -> Self;

    /// As [`from_rejected`](Self::from_rejected), off the guarded function's path. A function with this bound would show
    /// itself in the error of every user whose return type lacks it.
    #[doc(hidden)]
    #[cold]
    fn __resil_reject(rejected: Rejected) -> Self {
        Self::from_rejected(rejected)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: From<Rejected>> FromRejected for Result<T, E> {
    #[inline]
    fn from_rejected(rejected: Rejected) -> Self {
        Err(E::from(rejected))
    }
}

impl From<Rejected> for std::io::Error {
    /// A timeout becomes [`TimedOut`](std::io::ErrorKind::TimedOut), every other refusal
    /// [`Other`](std::io::ErrorKind::Other); the refusal stays inside and is found again by an outer guard.
    fn from(rejected: Rejected) -> Self {
        use super::Reason;
        let kind = match rejected.reason() {
            Reason::TimedOut | Reason::DeadlineExceeded => std::io::ErrorKind::TimedOut,
            _ => std::io::ErrorKind::Other,
        };
        Self::new(kind, rejected)
    }
}
