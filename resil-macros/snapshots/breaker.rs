//! A named breaker, a sync function, and a body with an early return.

#[resilient(circuit_breaker = "gateway")]
pub fn charge(order: &Order) -> Result<Receipt, PayError> {
    if order.is_empty() {
        return Err(PayError::Empty);
    }
    let answer = send(order)?;
    Ok(answer.receipt)
}
