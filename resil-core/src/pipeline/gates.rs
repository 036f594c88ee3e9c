//! The gates of a pipeline: all or nothing.
//!
//! Invariant: a call that one gate refuses leaves every other as it was.

use crate::bulkhead::{Bulkhead, Slot};
use crate::circuit_breaker::{CircuitBreaker, Permit};
use crate::contract::{Judgement, Rejected, Watched};
use crate::rate_limiter::{Cells, RateLimiter};
use crate::time::{Deadline, Nanos};

/// The gates, those that are set.
#[derive(Clone, Copy)]
pub(super) struct Gates<'p> {
    pub(super) circuit_breaker: Option<&'p CircuitBreaker>,
    pub(super) rate_limiter: Option<&'p RateLimiter>,
    pub(super) cost: u32,
    pub(super) bulkhead: Option<&'p Bulkhead>,
}

/// What they gave for one attempt that has not begun: dropped, all of it goes back.
pub(super) struct Passed<'p> {
    slot: Option<Slot<'p>>,
    cells: Option<Cells<'p>>,
    permit: Option<Permit<'p>>,
}

/// What an attempt has that has begun. In the order in which it is given back.
pub(super) struct Admitted<'p> {
    slot: Option<Slot<'p>>,
    begun: Option<Nanos>,
    permit: Option<Permit<'p>>,
}

impl<'p> Gates<'p> {
    pub(super) const NONE: Self =
        Self { circuit_breaker: None, rate_limiter: None, cost: 1, bulkhead: None };

    /// Asks them in turn, blocking where one waits.
    pub(super) fn enter(&self, deadline: Deadline) -> Result<Passed<'p>, Rejected> {
        let permit = self.permit()?;
        let cells = match self.rate_limiter.map(|limiter| limiter.enter(self.cost, deadline)) {
            Some(Err(rejected)) => return Err(refused(permit, rejected)),
            cells => cells.and_then(Result::ok),
        };
        let slot = match self.bulkhead.map(|bulkhead| bulkhead.enter(deadline)) {
            Some(Err(rejected)) => return Err(refused(permit, rejected)),
            slot => slot.and_then(Result::ok),
        };
        Ok(Passed { slot, cells, permit })
    }

    /// Asks them in turn.
    pub(super) async fn enter_async(&self, deadline: Deadline) -> Result<Passed<'p>, Rejected> {
        let permit = self.permit()?;
        let cells = match self.rate_limiter {
            None => None,
            Some(limiter) => match limiter.enter_async(self.cost, deadline).await {
                Ok(cells) => Some(cells),
                Err(rejected) => return Err(refused(permit, rejected)),
            },
        };
        let slot = match self.bulkhead {
            None => None,
            Some(bulkhead) => match bulkhead.enter_async(deadline).await {
                Ok(slot) => Some(slot),
                Err(rejected) => return Err(refused(permit, rejected)),
            },
        };
        Ok(Passed { slot, cells, permit })
    }

    fn permit(&self) -> Result<Option<Permit<'p>>, Rejected> {
        self.circuit_breaker.map(CircuitBreaker::acquire_gated).transpose()
    }
}

/// That another gate refused says nothing about what the breaker watches.
fn refused(permit: Option<Permit<'_>>, rejected: Rejected) -> Rejected {
    if let Some(permit) = permit {
        permit.ignore();
    }
    rejected
}

impl<'p> Passed<'p> {
    /// The attempt is not made after all.
    pub(super) fn give_back(self) {
        if let Some(permit) = self.permit {
            permit.ignore();
        }
    }

    /// From here on nothing is given back, and the attempt's time counts.
    pub(super) fn begin(self) -> Admitted<'p> {
        let Self { slot, cells, mut permit } = self;
        let begun = cells.map(Cells::take);
        let begun = match (&slot, begun) {
            (Some(slot), Some(begun)) => Some(slot.begun(begun)),
            _ => begun,
        };
        if let Some(permit) = &mut permit {
            permit.begin(begun);
        }
        Admitted { slot, begun, permit }
    }
}

impl Admitted<'_> {
    /// The attempt is over: the breaker hears how it went, the place is free.
    pub(super) fn settle(mut self, judgement: Judgement) {
        drop(self.slot.take());
        if let Some(permit) = self.permit.take() {
            permit.settle(judgement);
        }
    }
}

impl Watched for Admitted<'_> {
    fn running(&mut self, running: bool) {
        if let Some(permit) = &mut self.permit {
            permit.running(running);
        }
    }

    fn overdue(&mut self) {
        if let Some(permit) = &mut self.permit {
            permit.overdue();
        }
    }

    fn begun(&self) -> Option<Nanos> {
        self.permit.as_ref().and_then(Watched::begun).or(self.begun)
    }

    fn over(&mut self, end: Nanos) {
        if let Some(permit) = &mut self.permit {
            permit.over(end);
        }
    }
}
