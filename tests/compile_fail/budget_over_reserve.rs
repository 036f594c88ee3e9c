//! Budgets that would save up more retries than can be counted.
mod policies {
    resil::registry! {
        retry_budget fast { min_per_sec = 10_000 }
        retry_budget long { ttl = "1d" }
        retry_budget short { ttl = "1ms" }
    }
}

fn main() {}
