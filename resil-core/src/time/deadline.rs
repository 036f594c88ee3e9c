//! The ambient deadline: the instant by which the running call has to be over, as far as its callers have said.
//!
//! Invariant: an inner deadline never exceeds what is left outside, and leaving a scope restores what was outside,
//! also by unwinding.
//!
//! Who sees to it that a deadline is kept differs. A guarded async function sets it around each poll of its body and drops
//! the body when it is reached. A guarded sync function can end nothing, and looks at the clock when it has control
//! again. One that was carried into another task by [`Deadline::attach`] has nobody above, so each guarded function
//! within sees to it itself.
//!
//! # Synchronisation
//! None: the deadline belongs to one thread, and to a task only while that thread polls it.

use super::{Nanos, now};
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use pin_project_lite::pin_project;

thread_local! {
    static AMBIENT: Cell<Ambient> = const { Cell::new(Ambient::NONE) };
}

/// What is set around the code that runs now.
///
/// Four words without padding: it is saved and restored around every call of a sync body that has a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ambient {
    pub(crate) at: Deadline,
    kept: Kept,
    /// Whose limit it is; nobody's who could be named, if it was carried here.
    owner: Option<&'static str>,
}

/// Who sees to it that the deadline is kept, and what it limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kept(u64);

impl Kept {
    /// Nobody above.
    const BY_NOBODY: Self = Self(0);
    /// A guarded sync function above, once it has control again.
    const AFTERWARDS: Self = Self(1);
    /// A guarded async function above, which drops the running body.
    const AT_ONCE: Self = Self(2);
    /// Beside one of these: it limits one attempt, and not the whole call.
    const ATTEMPT: u64 = 4;

    #[inline]
    const fn of(self, owner: Owner) -> Self {
        Self(self.0 | if owner.attempt { Self::ATTEMPT } else { 0 })
    }
}

/// Whose limit a deadline is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Owner {
    pub(crate) name: &'static str,
    /// It limits one attempt, and not the whole call.
    pub(crate) attempt: bool,
}

impl Owner {
    /// Of a deadline that was carried here.
    const ELSEWHERE: Self = Self { name: "attached", attempt: false };
}

impl Ambient {
    const NONE: Self = Self { at: Deadline::NEVER, kept: Kept::BY_NOBODY, owner: None };

    /// What this thread has to keep to at the moment.
    #[inline]
    pub(crate) fn current() -> Self {
        AMBIENT.get()
    }

    /// Whether a guarded function above drops the running body when the deadline is reached.
    #[inline]
    pub(crate) fn is_enforced(self) -> bool {
        self.kept.0 & Kept::AT_ONCE.0 != 0
    }

    /// Whether a guarded function above answers for the deadline, be it only afterwards.
    #[inline]
    pub(crate) fn is_kept(self) -> bool {
        self.kept != Kept::BY_NOBODY
    }

    /// Whose limit the deadline is.
    pub(crate) fn owner(self) -> Owner {
        let attempt = self.kept.0 & Kept::ATTEMPT != 0;
        self.owner.map_or(Owner::ELSEWHERE, |name| Owner { name, attempt })
    }

    /// Sets `deadline`, or what is set already if that is no later, until the scope is dropped. The caller sees to it that
    /// what runs within is ended by then.
    #[inline]
    pub(crate) fn enforce(self, deadline: Deadline, owner: Owner) -> Scope {
        self.narrow(deadline, owner, Kept::AT_ONCE)
    }

    /// As [`enforce`](Self::enforce), for a caller that can only look at the clock afterwards.
    #[inline]
    pub(crate) fn watch(self, deadline: Deadline, owner: Owner) -> Scope {
        self.narrow(deadline, owner, Kept::AFTERWARDS)
    }

    /// As [`enforce`](Self::enforce), for a caller that does nothing about it.
    #[inline]
    fn carry(self, deadline: Deadline) -> Scope {
        let inner = Self { at: deadline, ..Self::NONE };
        Scope::enter(self, if deadline < self.at { inner } else { self })
    }

    #[inline]
    fn narrow(self, deadline: Deadline, owner: Owner, kept: Kept) -> Scope {
        // What nobody kept so far is the caller's to keep, under its name.
        let inner = if deadline < self.at || !self.is_kept() {
            Self { at: self.at.min(deadline), kept: kept.of(owner), owner: Some(owner.name) }
        } else {
            Self { kept: Kept(self.kept.0 & Kept::ATTEMPT | kept.0), ..self }
        };
        Scope::enter(self, inner)
    }
}

/// Restores the ambient deadline when dropped.
pub(crate) struct Scope {
    outer: Ambient,
    bound_to_thread: PhantomData<*const ()>,
}

impl Scope {
    #[inline]
    fn enter(outer: Ambient, inner: Ambient) -> Self {
        AMBIENT.set(inner);
        Self { outer, bound_to_thread: PhantomData }
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        AMBIENT.set(self.outer);
    }
}

/// The instant by which a call has to be over, or never.
///
/// Deadlines are compared by their instants; [`NEVER`](Self::NEVER) is the greatest, and the smaller of two is
/// `a.min(b)`.
///
/// # Examples
/// ```
/// use core::time::Duration;
/// # use resil_core as resil;
/// use resil::time::Deadline;
///
/// let deadline = Deadline::after(Duration::from_secs(1));
/// assert!(!deadline.is_expired());
/// assert!(deadline.remaining() <= Some(Duration::from_secs(1)));
/// assert_eq!(Deadline::current(), Deadline::NEVER);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Deadline(Nanos);

impl Deadline {
    /// There is none.
    pub const NEVER: Self = Self(Nanos::MAX);

    /// The deadline that the running code has to keep to: the soonest that guarded functions above it have set.
    ///
    /// [`NEVER`](Self::NEVER) outside of guarded functions, on another thread, and in a spawned task that was not
    /// [attached](Self::attach).
    ///
    /// # Cost
    /// One thread-local read.
    #[inline]
    pub fn current() -> Self {
        Ambient::current().at
    }

    /// In `span` from now, or the [current](Self::current) one if that is sooner.
    #[inline]
    pub fn after(span: Duration) -> Self {
        Self::at_instant(now().plus(Nanos::from_duration(span))).min(Self::current())
    }

    /// At this reading of the clock.
    #[inline]
    pub const fn at_instant(at: Nanos) -> Self {
        Self(at)
    }

    /// The reading of the clock at which it is reached; `None` for never.
    #[inline]
    pub fn at(self) -> Option<Nanos> {
        (self != Self::NEVER).then_some(self.0)
    }

    /// How long it is until then, zero if it has passed; `None` for never.
    ///
    /// This, and not the instant, is what to pass to another host: clocks differ.
    ///
    /// # Cost
    /// One clock reading; none if there is no deadline.
    #[inline]
    pub fn remaining(self) -> Option<Duration> {
        Some(self.at()?.since(now()).to_duration())
    }

    /// Whether it has been reached.
    ///
    /// # Cost
    /// One clock reading; none if there is no deadline.
    #[inline]
    pub fn is_expired(self) -> bool {
        self.at().is_some_and(|at| now() >= at)
    }

    /// Takes the deadline along into a task of its own.
    ///
    /// Guarded functions within `future` keep to it, and so does what they wait for. The future itself is not ended.
    ///
    /// # Cost
    /// 8 bytes, and one thread-local exchange a poll.
    ///
    /// # Examples
    /// ```
    /// # use resil_core as resil;
    /// use resil::time::Deadline;
    ///
    /// # fn spawn(_: impl Future<Output = ()> + Send + 'static) {}
    /// spawn(Deadline::current().attach(async { /* guarded calls */ }));
    /// ```
    pub fn attach<F: Future>(self, future: F) -> Attached<F> {
        Attached { deadline: self, future }
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at() {
            Some(at) => f.debug_tuple("Deadline").field(&at).finish(),
            None => f.write_str("Deadline::NEVER"),
        }
    }
}

pin_project! {
    /// A future that runs under a deadline from elsewhere: what [`Deadline::attach`] returns.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Attached<F> {
        deadline: Deadline,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Attached<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _scope = Ambient::current().carry(*this.deadline);
        this.future.poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::future::poll_fn;
    use core::pin::pin;
    use core::task::Waker;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const SOON: Deadline = Deadline::at_instant(Nanos(5));
    const LATE: Deadline = Deadline::at_instant(Nanos(9));
    const CALL: Owner = Owner { name: "call", attempt: false };
    const ATTEMPT: Owner = Owner { name: "attempt", attempt: true };

    #[test]
    fn a_scope_narrows_and_restores() {
        assert_eq!(Deadline::current(), Deadline::NEVER);
        let outer = Ambient::current().enforce(SOON, CALL);
        {
            let _inner = Ambient::current().carry(LATE);
            assert_eq!(Deadline::current(), SOON, "an inner deadline never exceeds the outer");
            assert!(Ambient::current().is_enforced(), "and who enforces it is unchanged");
        }
        assert_eq!(Deadline::current(), SOON);
        drop(outer);
        assert_eq!(Deadline::current(), Deadline::NEVER);
    }

    #[test]
    fn whoever_enforces_a_deadline_enforces_the_carried_one_too() {
        let _carried = Ambient::current().carry(SOON);
        assert!(!Ambient::current().is_enforced());
        let _inner = Ambient::current().enforce(LATE, CALL);
        assert_eq!(Deadline::current(), SOON);
        assert!(Ambient::current().is_enforced());
    }

    #[test]
    fn a_sync_function_answers_for_what_it_cannot_enforce() {
        let _outer = Ambient::current().enforce(LATE, CALL);
        let _inner = Ambient::current().watch(SOON, ATTEMPT);
        let inner = Ambient::current();
        assert_eq!((inner.at, inner.owner()), (SOON, ATTEMPT));
        assert!(inner.is_kept() && !inner.is_enforced());
        let _innermost = Ambient::current().watch(LATE, CALL);
        assert_eq!(Ambient::current().owner(), ATTEMPT, "the sooner one's");
    }

    #[test]
    fn t04_a_carried_deadline_is_named_after_who_keeps_it() {
        let _carried = Ambient::current().carry(SOON);
        let carried = Ambient::current();
        assert_eq!((carried.is_kept(), carried.owner()), (false, Owner::ELSEWHERE));
        for scope in [Ambient::watch, Ambient::enforce] {
            let _scope = scope(carried, LATE, CALL);
            let here = Ambient::current();
            assert_eq!((here.at, here.owner(), here.is_kept()), (SOON, CALL, true));
        }
    }

    #[test]
    fn unwinding_restores() {
        let unwound = catch_unwind(|| {
            let _scope = Ambient::current().enforce(SOON, CALL);
            panic!("in the body");
        });
        assert!(unwound.is_err());
        assert_eq!(Deadline::current(), Deadline::NEVER);
    }

    #[test]
    fn never_has_no_instant_and_nothing_left_to_measure() {
        assert_eq!(Deadline::NEVER.at(), None);
        assert_eq!(Deadline::NEVER.remaining(), None);
        assert!(!Deadline::NEVER.is_expired());
        assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
        assert_eq!(SOON.min(LATE), SOON);
        assert_eq!(LATE.min(Deadline::NEVER), LATE);
    }

    #[test]
    fn what_is_made_inside_is_clipped() {
        let outer = Deadline::after(Duration::from_secs(1));
        let _scope = Ambient::current().enforce(outer, CALL);
        assert_eq!(Deadline::after(Duration::from_secs(3_600)), outer);
    }

    #[test]
    fn an_attached_deadline_is_there_during_polls_only() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut seen = None;
        let mut task = pin!(LATE.attach(poll_fn(|_| {
            seen = Some((Deadline::current(), Ambient::current().is_enforced()));
            Poll::<()>::Pending
        })));
        assert!(task.as_mut().poll(&mut cx).is_pending());
        assert_eq!(Deadline::current(), Deadline::NEVER);
        let _outer = Ambient::current().enforce(SOON, CALL);
        assert!(task.as_mut().poll(&mut cx).is_pending());
        assert_eq!(seen, Some((SOON, true)), "the sooner of the two");
    }

    #[test]
    fn a_panicking_poll_leaves_nothing_behind() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut task = pin!(SOON.attach(async { panic!("in the task") }));
        let poll = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(&mut cx)));
        assert!(poll.is_err());
        assert_eq!(Deadline::current(), Deadline::NEVER);
    }
}
