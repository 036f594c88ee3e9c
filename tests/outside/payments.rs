//! One guarded call, and what each of its policies is there for.

use resil::resilient;
use std::collections::VecDeque;
use std::io;
use std::sync::Mutex;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum PayError {
    #[error("the connection broke")]
    Io(#[from] io::Error),
    #[error("the card was declined")]
    Declined,
    #[error("the gateway's answer makes no sense")]
    Nonsense,
    #[error(transparent)]
    Rejected(#[from] resil::Rejected),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Receipt {
    order: u32,
    queued: bool,
}

impl Receipt {
    fn queued(order: &Order) -> Self {
        Self { order: order.0, queued: true }
    }
}

pub struct Order(pub u32);

/// What the gateway does next.
#[derive(Clone, Copy)]
pub enum Act {
    Pay,
    Break,
    Decline,
    Babble,
    Hang,
}

/// A gateway that does as it is told, and pays when it is told no more.
#[derive(Default)]
pub struct Client {
    acts: Mutex<VecDeque<Act>>,
    calls: Mutex<u32>,
}

impl Client {
    pub fn told(acts: &[Act]) -> Self {
        Self { acts: Mutex::new(acts.iter().copied().collect()), calls: Mutex::default() }
    }

    pub fn calls(&self) -> u32 {
        *self.calls.lock().unwrap()
    }

    async fn pay(&self, order: &Order) -> Result<Receipt, PayError> {
        *self.calls.lock().unwrap() += 1;
        let act = self.acts.lock().unwrap().pop_front().unwrap_or(Act::Pay);
        match act {
            Act::Pay => Ok(Receipt { order: order.0, queued: false }),
            Act::Break => Err(io::Error::other("reset").into()),
            Act::Decline => Err(PayError::Declined),
            Act::Babble => Err(PayError::Nonsense),
            Act::Hang => {
                tokio::time::sleep(Duration::from_secs(60)).await;
                unreachable!("nobody waits that long")
            }
        }
    }
}

#[resilient(
    deadline = "1s",
    retry(max = 3, backoff = exponential("20ms", cap = "200ms"), jitter = full, budget = "budget", on = Err(PayError::Io(_))),
    circuit_breaker = "gateway",
    rate_limiter = "quota",
    bulkhead = "pool",
    timeout = "200ms",
    ignore = Err(PayError::Declined),
    fallback = |_cause| Ok(Receipt::queued(order)),
)]
pub async fn charge(client: &Client, order: &Order) -> Result<Receipt, PayError> {
    client.pay(order).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::{
        bulkhead::pool, circuit_breaker::gateway, rate_limiter::quota, retry_budget::budget,
    };
    use resil::{Kind, State, catalog};
    use tokio::time::Instant;

    fn as_new() {
        gateway.reset();
        quota.reset();
    }

    fn counted(kind: Kind, name: &str, counter: &str) -> u64 {
        catalog().find(kind, name).unwrap().counter(counter).unwrap()
    }

    /// One test, since the policies are those of the whole process.
    #[tokio::test(start_paused = true)]
    async fn it_behaves_as_written() {
        let queued = || Receipt { order: 7, queued: true };
        let order = Order(7);

        // A good call is the call.
        let client = Client::default();
        assert_eq!(charge(&client, &order).await.unwrap(), Receipt { order: 7, queued: false });
        assert_eq!(client.calls(), 1);

        // A broken connection is tried again; three attempts in all, and then the fallback answers.
        let client = Client::told(&[Act::Break, Act::Break]);
        assert!(!charge(&client, &order).await.unwrap().queued);
        assert_eq!(client.calls(), 3);
        let client = Client::told(&[Act::Break; 4]);
        assert_eq!(charge(&client, &order).await.unwrap(), queued());
        assert_eq!(client.calls(), 3);

        // What `on` does not name is a failure, not tried again.
        let client = Client::told(&[Act::Babble]);
        assert_eq!(charge(&client, &order).await.unwrap(), queued());
        assert_eq!(client.calls(), 1);

        // A declined card is an answer: neither tried again, nor a failure, nor the fallback's affair.
        let failures = gateway.window().failures;
        let client = Client::told(&[Act::Decline]);
        assert!(matches!(charge(&client, &order).await, Err(PayError::Declined)));
        assert_eq!((client.calls(), gateway.window().failures), (1, failures));

        // An attempt that hangs is ended after 200 ms, and tried again; within a second all is over.
        let client = Client::told(&[Act::Hang; 3]);
        let begun = Instant::now();
        assert_eq!(charge(&client, &order).await.unwrap(), queued());
        let took = begun.elapsed();
        assert_eq!(client.calls(), 3);
        assert!(took >= Duration::from_millis(600) && took <= Duration::from_secs(1), "{took:?}");

        // 20 calls may pass at once; the others are refused, and that is not the gateway's fault.
        as_new();
        let client = Client::default();
        for call in 1..=25 {
            assert_eq!(charge(&client, &order).await.unwrap().queued, call > 20, "call {call}");
        }
        assert_eq!(
            (client.calls(), gateway.window().calls, gateway.window().failures),
            (20, 20, 0)
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert!(!charge(&client, &order).await.unwrap().queued, "a hundred a second: one in 10 ms");

        // 64 at a time; the next one waits 10 ms for a place, and what it took of the limiter is given back.
        as_new();
        let inside: Vec<_> = (0..64).map(|_| pool.acquire().unwrap()).collect();
        let left = quota.available();
        let begun = Instant::now();
        assert!(charge(&client, &order).await.unwrap().queued);
        assert_eq!(begun.elapsed(), Duration::from_millis(10));
        assert!(quota.available() >= left);
        drop(inside);
        assert!(!charge(&client, &order).await.unwrap().queued);
        assert_eq!(pool.in_flight(), 0);

        // Of 20 calls 10 fail: the breaker opens for 30 s, then lets at most 5 probes through. After three
        // good ones half of them cannot fail any more, and it closes.
        as_new();
        let acts: Vec<_> =
            (0..20).map(|n| if n % 2 == 0 { Act::Babble } else { Act::Pay }).collect();
        let client = Client::told(&acts);
        for _ in 0..20 {
            let _ = charge(&client, &order).await;
        }
        // The twentieth was a success; the rate is evaluated with the outcome that completes `min_calls`.
        assert_eq!(gateway.state(), State::Open);
        assert!(charge(&client, &order).await.unwrap().queued);
        assert_eq!(client.calls(), 20, "the refused call did not reach the gateway");
        tokio::time::sleep(Duration::from_millis(30_001)).await;
        for _ in 0..3 {
            assert_eq!(
                gateway.state(),
                if client.calls() == 20 { State::Open } else { State::HalfOpen }
            );
            assert!(!charge(&client, &order).await.unwrap().queued);
        }
        assert_eq!(gateway.state(), State::Closed);

        // Retries are a part of the calls. When everything breaks, most calls are made once.
        gateway.disable();
        quota.disable();
        let client = Client::told(&[Act::Break; 2_000]);
        let calls = 500;
        for _ in 0..calls {
            assert!(charge(&client, &order).await.unwrap().queued);
        }
        let retries = client.calls() - calls;
        assert!(retries < calls / 2, "{retries} retries of {calls} calls");
        assert!(counted(Kind::RetryBudget, budget.name(), "refused") > 0);
    }
}
