//! The policies that functions share.

resil::registry! {
    /// Everything that talks to the payment gateway shares this breaker.
    circuit_breaker gateway { window = 100, failure_rate = "50%", min_calls = 20, open_for = "30s", probes = 5 }
    rate_limiter    quota   { rate = "100/s", burst = 20 }
    bulkhead        pool    { max_concurrent = 64, wait = "10ms" }
    retry_budget    budget  { ratio = "20%", min_per_sec = 10 }
}
