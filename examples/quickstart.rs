//! A guarded function: what fails is tried again, and what keeps failing is left alone for a while.
mod policies {
    resil::registry! { circuit_breaker gateway { window = 10, min_calls = 5, open_for = "10s" } }
}

#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("the gateway is down")]
    Down,
    #[error(transparent)]
    Rejected(#[from] resil::Rejected),
}

#[resil::resilient(retry(max = 3, attempt = n), circuit_breaker = "gateway")]
fn fetch(page: u32) -> Result<String, FetchError> {
    let up = page == 1 || (page == 2 && n == 3);
    up.then(|| format!("there, try {n}")).ok_or(FetchError::Down)
}

fn main() {
    for page in 1..=4 {
        let outcome = fetch(page).map_err(|error| error.to_string());
        println!("page {page}: {outcome:?}");
    }
}
