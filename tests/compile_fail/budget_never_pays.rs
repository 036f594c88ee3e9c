//! Budgets out of which nothing is ever paid, or that would save up more than they can hold.
mod policies {
    resil::registry! {
        retry_budget never { ratio = "0%", min_per_sec = 0 }
        retry_budget fine { ratio = "0%", min_per_sec = 1 }
    }
}

fn main() {}
