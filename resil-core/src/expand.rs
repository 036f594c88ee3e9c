//! What the expansion of `#[resilient]` calls beside the policies themselves.
//!
//! Invariant: nothing here decides anything. What is rare is out of line, so that the guarded function stays small.

mod compared;

pub use compared::{
    bulkhead_wait, cost_within_burst, limiter_wait, slow_call_below, wait_below, waits_below,
};

use crate::contract::{Classify, Judgement, carries_refusal};
use crate::retry::{Attempts, purse::Purse};
use crate::time::Deadline;
use core::error::Error;
use core::marker::PhantomData;
use core::time::Duration;

/// A way out of an async block that is never taken: it tells the compiler what the block returns.
#[inline]
pub const fn edge<R>() -> Option<R> {
    None
}

/// Drops the outcome of an attempt that will be made again.
#[cold]
#[inline(never)]
pub fn discard<R>(outcome: R) {
    drop(outcome);
}

/// Drops the outcome that was kept for the case that a gate refuses the next attempt: it was admitted.
///
/// Takes it by value, as everything does that has to do with it: an async function keeps room beside its body for what was ever borrowed.
#[inline]
pub fn release<R>(held: Option<R>) {
    if let Some(outcome) = held {
        discard(outcome);
    }
}

/// Whether `deadline` has passed before the next attempt begins: the call ends with the outcome that it has.
#[cold]
#[inline(never)]
pub fn overdue<P: Purse>(attempts: &mut Attempts<'_, P>, deadline: Deadline) -> bool {
    let over = deadline.is_expired();
    if over {
        attempts.out_of_time();
    }
    over
}

/// An argument that each attempt gets a copy of, and the last one itself.
#[derive(Debug)]
pub struct Spare<T>(Option<T>);

impl<T: Clone> Spare<T> {
    /// Puts the argument aside.
    #[inline]
    pub const fn new(argument: T) -> Self {
        Self(Some(argument))
    }

    /// A copy if there may be `more` attempts, else the argument.
    ///
    /// # Panics
    /// If it was given away before; the last attempt is the last.
    #[inline]
    pub fn give(&mut self, more: bool) -> T {
        let argument = if more { self.0.clone() } else { self.0.take() };
        argument.expect("given away once, to the last attempt")
    }
}

/// Asks a type whether it knows failures: a `Result` does. For all others the trait beside it answers.
#[derive(Debug)]
pub struct Fails<R>(PhantomData<R>);

impl<T, E> Fails<Result<T, E>> {
    /// It does.
    pub const KNOWN: bool = true;
}

/// Asks a type whether it classifies itself. For all that do not the trait beside it answers.
#[derive(Debug)]
pub struct Classifies<R>(PhantomData<R>);

impl<R: Classify> Classifies<R> {
    /// It does.
    pub const KNOWN: bool = true;
}

/// The answer where the type has none of its own, which would come first.
pub trait Unknown {
    /// It does not.
    const KNOWN: bool = false;
}

impl<R> Unknown for Fails<R> {}
impl<R> Unknown for Classifies<R> {}

/// A field that says how long its error asks to be left alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how long to wait",
    label = "`retry_after` names a field of this type",
    note = "help: a field of type `Duration` or `Option<Duration>`"
)]
pub trait Hint {
    /// The wait, if there is one.
    fn hint(&self) -> Option<Duration>;
}

impl Hint for Duration {
    fn hint(&self) -> Option<Duration> {
        Some(*self)
    }
}

impl<T: Hint> Hint for Option<T> {
    fn hint(&self) -> Option<Duration> {
        self.as_ref().and_then(T::hint)
    }
}

/// The judgement with the wait that was found in a field.
pub const fn with_hint(judgement: Judgement, hint: Option<Duration>) -> Judgement {
    match hint {
        Some(wait) => judgement.after(wait),
        None => judgement,
    }
}

/// A field of an error, to be looked into for a refusal.
#[derive(Debug)]
pub struct Carried<'a, F>(pub &'a F);

/// Looks into a [`Carried`] field, as far as its type lets us: see the contract's `Judge` for how it is chosen.
pub trait Carry {
    /// Whether the field is a refusal, or an error that hides one.
    fn __resil_carries_refusal(&self) -> bool;
}

impl<F: Error> Carry for &&&Carried<'_, F> {
    fn __resil_carries_refusal(&self) -> bool {
        carries_refusal(self.0.source())
    }
}

impl<'e, F: AsRef<dyn Error + Send + Sync + 'e>> Carry for &&Carried<'_, F> {
    fn __resil_carries_refusal(&self) -> bool {
        carries_refusal(self.0.as_ref().source())
    }
}

impl<'e, F: AsRef<dyn Error + 'e>> Carry for &Carried<'_, F> {
    fn __resil_carries_refusal(&self) -> bool {
        carries_refusal(self.0.as_ref().source())
    }
}

impl<F> Carry for Carried<'_, F> {
    fn __resil_carries_refusal(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn a_spare_is_cloned_until_it_is_given_away() {
        let argument = Rc::new(());
        let mut spare = Spare::new(Rc::clone(&argument));
        drop(spare.give(true));
        let copy = spare.give(true);
        assert_eq!(Rc::strong_count(&argument), 3);
        let last = spare.give(false);
        assert_eq!(Rc::strong_count(&argument), 3);
        drop((copy, last));
        assert_eq!(Rc::strong_count(&argument), 1);
    }

    #[test]
    fn what_is_held_is_released() {
        let held = Some(Rc::new(()));
        let watch = held.clone();
        release(held);
        release(None::<Rc<()>>);
        assert_eq!(watch.map(|watch| Rc::strong_count(&watch)), Some(1));
    }

    #[test]
    #[allow(clippy::needless_borrow)] // as deep as the expansion goes
    fn a_refusal_is_found_in_fields_of_every_error_type() {
        let refused = crate::Rejected::new(crate::Reason::CircuitOpen, "gateway");
        let boxed: Box<dyn Error + Send + Sync> = refused.into();
        let unsend: Box<dyn Error> = refused.into();
        let io = std::io::Error::from(refused);
        assert!((&&&&Carried(&refused)).__resil_carries_refusal());
        assert!((&&&&Carried(&io)).__resil_carries_refusal());
        assert!((&&&&Carried(&boxed)).__resil_carries_refusal());
        assert!((&&&&Carried(&unsend)).__resil_carries_refusal());
        assert!(!(&&&&Carried(&7)).__resil_carries_refusal());
        assert!(!(&&&&Carried(&std::fmt::Error)).__resil_carries_refusal());
    }
}
