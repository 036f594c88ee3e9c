//! A breaker of the function's own around all attempts, and answers by cause.

impl Shop {
    #[resilient(
        order = [fallback, circuit_breaker, retry],
        circuit_breaker(window = 50, failure_rate = 0.25, ignore = Err(Fault::Busy)),
        retry(max_retries = 2, backoff = table("10ms", "50ms")),
        fallback(rejected = Self::closed, error = |fault| Err(fault.seen())),
        name = "shop::sell",
    )]
    pub(crate) fn sell(&mut self, item: Item) -> Result<u32, Fault> {
        self.till.take(&item)
    }
}
