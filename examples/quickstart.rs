//! A guarded function: what fails is tried again, and what keeps failing is left alone for a while.
mod policies {
    resil::registry! { circuit_breaker gateway { window = 10, min_calls = 5, open_for = "10s" } }
}

#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("the gateway is down")]
    Down,
    #[error(transparent)]
    Rejected(#[from] resil::Rejected),
}

#[resil::resilient(retry(max = 3, attempt = n), circuit_breaker = "gateway")]
fn charge(order: u32) -> Result<String, PayError> {
    let up = order == 1 || (order == 2 && n == 3);
    up.then(|| format!("paid, try {n}")).ok_or(PayError::Down)
}

fn main() {
    for order in 1..=4 {
        let outcome = charge(order).map_err(|error| error.to_string());
        println!("order {order}: {outcome:?}");
    }
}
