//! A breaker on trial: whether a guarded call gives back what it took.

use crate::{World, breaker_of, counts};
use resil::{Kind, Permit, State, catalog};
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// What comes of a future.
///
/// # Errors
/// Its panic.
pub async fn caught<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// What the two probes came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Then {
    /// So many places are free.
    Free(usize),
    /// One succeeded, and that decides.
    Closed,
    /// Both failed.
    Open,
}

/// A half-open breaker that wants two probes, both of which would have to fail.
#[derive(Debug)]
pub struct Trial<'a> {
    world: &'a World,
    name: &'a str,
    /// How often the test itself asked the breaker.
    pub asked: u64,
}

impl<'a> Trial<'a> {
    /// Opens it and waits until it may be tried: window 2, `min_calls` 2, open for 1 s, two probes, 100 %.
    ///
    /// # Panics
    /// If it is not as the test thinks.
    pub async fn begin(world: &'a World, name: &'a str) -> Self {
        for _ in 0..2 {
            breaker_of(name).acquire().unwrap().failure();
        }
        world.sleep("1001ms").await;
        Self { world, name, asked: 2 }
    }

    /// The call under test is over, and so many attempts of it were admitted or refused.
    ///
    /// # Panics
    /// If a place is missing, also in a bulkhead of that name, a call is in no counter or in two, or the breaker cannot be closed.
    pub async fn is_over(mut self, asked: u64, then: Then) {
        if let Some(bulkhead) = catalog().find(Kind::Bulkhead, self.name) {
            let bulkhead = bulkhead.bulkhead().expect("a bulkhead");
            assert_eq!((bulkhead.in_flight(), bulkhead.waiting()), (0, 0));
        }
        let breaker = breaker_of(self.name);
        match then {
            Then::Closed => assert_eq!(breaker.state(), State::Closed),
            Then::Open => assert_eq!(breaker.state(), State::Open),
            Then::Free(free) => {
                assert_eq!(breaker.state(), State::HalfOpen);
                let places: Vec<_> =
                    std::iter::from_fn(|| breaker.acquire().ok()).take(3).collect();
                assert_eq!(places.len(), free);
                self.asked += places.len() as u64 + 1;
                places.into_iter().for_each(Permit::ignore);
            }
        }
        let total =
            |counted: Vec<(_, u64)>| counted.into_iter().map(|(_, value)| value).sum::<u64>();
        let counted = counts(Kind::CircuitBreaker, self.name);
        assert_eq!(total(counted.clone()), self.asked + asked, "each in one counter: {counted:?}");

        while breaker.state() != State::Closed {
            if breaker.retry_after().is_some() {
                self.world.sleep("1001ms").await;
            }
            breaker.acquire().expect("it can be tried").success();
        }
    }
}
