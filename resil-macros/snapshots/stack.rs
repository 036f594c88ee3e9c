//! The example at the beginning of the design.

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
async fn charge(client: &Client, order: &Order) -> Result<Receipt, PayError> {
    let answer = client.post(order).await?;
    Ok(answer.receipt)
}
