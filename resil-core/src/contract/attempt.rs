//! One attempt at the body: called or polled, without a limit; and what a limit is.
//!
//! Invariant: the flag of [`Watched`] is up exactly while the body runs, and stays up if it panics.

use super::{Rejected, Watched};
use crate::time::{Deadline, Nanos, Owner};
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

/// Calls the body once.
///
/// # Cost
/// Two stores into the permit; nothing without one.
#[inline]
pub fn call<W: Watched, R>(watched: &mut W, body: impl FnOnce() -> R) -> R {
    watched.running(true);
    let outcome = body();
    watched.running(false);
    outcome
}

/// Polls the body to its end, without a limit.
///
/// # Cost
/// Two stores into the permit a poll; nothing without one.
#[inline]
pub fn attempt<W: Watched, F: Future>(watched: &mut W, body: F) -> Attempt<'_, W, F> {
    Attempt { watched, body }
}

/// What may end an attempt, and who answers for it.
///
/// Implemented by what `Timeout::limit` and `DeadlineLimit::start` return, and by a pair of both.
pub trait Limits {
    /// How long the attempt may take; `None` without such a limit.
    fn attempt(&self) -> Option<Nanos>;
    /// The deadline of the function itself.
    fn deadline(&self) -> Deadline;
    /// The span that the deadline was set with: calls of one function share it, which the timer makes use of.
    fn deadline_span(&self) -> Nanos;
    /// The policy that limits by it.
    fn name(&self, by: Limit) -> &'static str;
    /// Counts the end, tells the observer, and says it to the caller. Called at most once an attempt.
    fn ended(&self, by: Limit) -> Rejected;
    /// Counts a sync body that came too late and whose outcome is kept all the same, and tells the observer. Called instead of
    /// [`ended`](Self::ended).
    fn late(&self, by: Limit);
}

/// Whose limit that is.
#[inline]
pub(super) fn owner<L: Limits>(limits: &L, by: Limit) -> Owner {
    Owner { name: limits.name(by), attempt: matches!(by, Limit::Attempt) }
}

/// Which kind of limit ended an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The attempt's own timeout.
    Attempt,
    /// A deadline: the function's own or, where nobody above enforces it, the ambient one.
    Deadline,
}

/// A limit that lies elsewhere: in a `static`, or in the frame of the call.
impl<L: Limits + ?Sized> Limits for &L {
    #[inline]
    fn attempt(&self) -> Option<Nanos> {
        (**self).attempt()
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        (**self).deadline()
    }

    #[inline]
    fn deadline_span(&self) -> Nanos {
        (**self).deadline_span()
    }

    #[inline]
    fn name(&self, by: Limit) -> &'static str {
        (**self).name(by)
    }

    #[inline]
    fn ended(&self, by: Limit) -> Rejected {
        (**self).ended(by)
    }

    #[inline]
    fn late(&self, by: Limit) {
        (**self).late(by);
    }
}

/// The limit of an attempt beside the deadline of its call.
impl<A: Limits, D: Limits> Limits for (A, D) {
    #[inline]
    fn attempt(&self) -> Option<Nanos> {
        self.0.attempt()
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        self.1.deadline()
    }

    #[inline]
    fn deadline_span(&self) -> Nanos {
        self.1.deadline_span()
    }

    #[inline]
    fn name(&self, by: Limit) -> &'static str {
        match by {
            Limit::Attempt => self.0.name(by),
            Limit::Deadline => self.1.name(by),
        }
    }

    fn ended(&self, by: Limit) -> Rejected {
        match by {
            Limit::Attempt => self.0.ended(by),
            Limit::Deadline => self.1.ended(by),
        }
    }

    fn late(&self, by: Limit) {
        match by {
            Limit::Attempt => self.0.late(by),
            Limit::Deadline => self.1.late(by),
        }
    }
}

pin_project! {
    /// The future of [`attempt`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Attempt<'w, W, F> {
        watched: &'w mut W,
        #[pin]
        body: F,
    }
}

impl<W: Watched, F: Future> Future for Attempt<'_, W, F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        poll_watched(*this.watched, this.body, cx)
    }
}

/// Polls the body with the flag of its permit up.
#[inline]
pub(super) fn poll_watched<W: Watched, F: Future>(
    watched: &mut W,
    body: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<F::Output> {
    watched.running(true);
    #[cfg(feature = "test-util")]
    let watch = super::blocking::PollWatch::start();
    let poll = body.poll(cx);
    #[cfg(feature = "test-util")]
    watch.stop();
    watched.running(false);
    poll
}
