//! Gates of the function's own around all attempts, and one that each of them passes.

#[resilient(
    order = [bulkhead, circuit_breaker, retry, rate_limiter],
    bulkhead(max_concurrent = 8, wait = "50ms"),
    circuit_breaker = "gateway",
    retry(max = 3),
    rate_limiter("quota", cost = order.lines()),
)]
fn charge(order: &Order) -> Result<Receipt, PayError> {
    send(order)
}
