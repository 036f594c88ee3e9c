//! What the attempts of one call are paid from: nothing, or a budget.
//!
//! Invariant: of a call, the first attempt that the gates admit deposits, and no other. Each later one was paid for when it
//! was scheduled; if it is not admitted, that is given back, once.

use crate::contract::{Budget, Stop, Withdrawal};

/// What the attempts of one call are paid from.
///
/// By value and copied: so that attempts need not be in memory for the sake of a path that is hardly ever taken.
pub trait Purse: Copy {
    /// The attempt under way was admitted.
    fn admit(&mut self);
    /// The attempt under way is not made after all.
    fn give_back(&mut self);
    /// Pays for another attempt.
    ///
    /// # Errors
    /// [`Stop::Budget`] if that cannot be paid.
    fn pay(&mut self) -> Result<(), Stop>;
}

/// No budget: every attempt is free.
#[derive(Clone, Copy, Debug)]
pub struct Unbudgeted;

impl Purse for Unbudgeted {
    #[inline]
    fn admit(&mut self) {}

    #[inline]
    fn give_back(&mut self) {}

    #[inline]
    fn pay(&mut self) -> Result<(), Stop> {
        Ok(())
    }
}

/// A budget or none, where that is known only at run time.
impl<P: Purse> Purse for Option<P> {
    fn admit(&mut self) {
        if let Some(purse) = self {
            purse.admit();
        }
    }

    fn give_back(&mut self) {
        if let Some(purse) = self {
            purse.give_back();
        }
    }

    fn pay(&mut self) -> Result<(), Stop> {
        self.as_mut().map_or(Ok(()), P::pay)
    }
}

/// A share in a budget.
#[derive(Debug)]
pub struct Share<'a, B: ?Sized> {
    budget: &'a B,
    due: Due,
}

/// What it means that the attempt under way is admitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    /// It is the first one of its call that is, and no additional load.
    Deposit,
    /// What was withdrawn for it is spent.
    Withdrawal,
    /// It is admitted already, or costs nothing.
    Nothing,
}

impl<'a, B: Budget + ?Sized> Share<'a, B> {
    #[inline]
    pub(super) fn new(budget: &'a B) -> Self {
        Self { budget, due: Due::Deposit }
    }
}

impl<B: ?Sized> Copy for Share<'_, B> {}

impl<B: ?Sized> Clone for Share<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Budget + ?Sized> Purse for Share<'_, B> {
    #[inline]
    fn admit(&mut self) {
        if self.due == Due::Deposit {
            self.budget.deposit();
        }
        self.due = Due::Nothing;
    }

    #[inline]
    fn give_back(&mut self) {
        if self.due == Due::Withdrawal {
            self.due = Due::Nothing;
            self.budget.give_back();
        }
    }

    fn pay(&mut self) -> Result<(), Stop> {
        if self.due == Due::Deposit {
            // Nothing of this call was admitted so far: the attempt to come is no additional load.
            return Ok(());
        }
        self.due = match self.budget.withdraw() {
            Withdrawal::Taken => Due::Withdrawal,
            Withdrawal::Free => Due::Nothing,
            Withdrawal::Refused => return Err(Stop::Budget),
        };
        Ok(())
    }
}
