//! The same calls with one attribute each.

use super::{Bare, Order, Price, ShopError};
use resil::resilient;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The bare calls, guarded; and the last known prices, for when the upstream cannot be asked.
pub(crate) struct Guarded {
    upstream: Bare,
    known: Mutex<HashMap<u32, u32>>,
}

impl Guarded {
    pub(crate) fn new(upstream: Bare) -> Self {
        Self { upstream, known: Mutex::default() }
    }

    /// Reads a product's price; the last known one if need be.
    #[resilient(
        deadline = "1s",
        retry(max = 3, backoff = exponential("50ms", cap = "200ms"), jitter = equal, budget = "retries"),
        circuit_breaker = "upstream",
        timeout = "100ms",
        fallback = |cause| self.last_known(product).ok_or_else(|| cause.into_error()),
    )]
    pub(crate) async fn price(&self, product: u32) -> Result<Price, ShopError> {
        let price = self.upstream.price(product).await?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(product, price.cents);
        Ok(price)
    }

    /// Charges an order. Nothing can stand in for that: when it is refused, the customer knows at once. It may be tried again,
    /// since an order is put under its number: an attempt that had come through after all does nothing twice.
    #[resilient(
        deadline = "1s",
        retry(max = 3, backoff = exponential("50ms", cap = "200ms"), jitter = equal, budget = "retries"),
        circuit_breaker = "upstream",
        timeout = "100ms",
    )]
    pub(crate) async fn checkout(&self, order: Order) -> Result<(), ShopError> {
        self.upstream.checkout(order).await
    }

    /// Looks for products. Searches are dear: who finds no place soon is told so, instead of slowing down all others.
    #[resilient(
        deadline = "1s",
        circuit_breaker = "upstream",
        bulkhead = "searches",
        timeout = "300ms"
    )]
    pub(crate) async fn search(&self, word: u32) -> Result<(), ShopError> {
        self.upstream.search(word).await
    }

    /// Asks the carrier what sending so much costs, no more often than was agreed.
    #[resilient(
        deadline = "1s",
        circuit_breaker = "upstream",
        rate_limiter = "quotes",
        timeout = "100ms"
    )]
    pub(crate) async fn quote(&self, weight: u32) -> Result<(), ShopError> {
        self.upstream.quote(weight).await
    }

    fn last_known(&self, product: u32) -> Option<Price> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&product).map(|&cents| Price { cents, stale: true })
    }
}
