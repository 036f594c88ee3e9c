//! A guarded function: what fails is tried again, and what keeps failing is left alone for a while.
use resil::{Rejected, resilient};

mod policies {
    resil::registry! { circuit_breaker gateway { window = 10, min_calls = 5, open_for = "10s" } }
}

#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("the gateway is down")]
    Down,
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

#[resilient(retry(max = 3, backoff = constant("10ms"), attempt = n), circuit_breaker = "gateway")]
fn charge(order: u32) -> Result<&'static str, PayError> {
    let up = order == 1 || (order == 2 && n == 3);
    up.then_some("charged").ok_or(PayError::Down)
}

fn main() {
    (1..=4).for_each(|order| println!("order {order}: {:?}", charge(order)));
}
