//! Retry alone, with everything that it can do to arguments.

#[resilient(
    retry(
        max = 4,
        backoff = exponential("20ms", factor = 3, cap = "200ms"),
        jitter = plus_minus("20%"),
        within = "2s",
        on = Err(PayError::Io(_)) | Ok(Receipt { pending: true }),
        abort = Err(error) if error.is_fatal(),
        before = log.push("again"),
        attempt = n,
    ),
    clone(order),
)]
fn charge(log: &mut Vec<&str>, mut order: Order) -> Result<Receipt, PayError> {
    log.push("sent");
    order.attempt = n;
    send(order)
}
