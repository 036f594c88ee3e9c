//! The policies that the shop's functions share.

resil::registry! {
    /// Everything that talks to the upstream: when most of it fails, all of it stops for a moment.
    circuit_breaker upstream {
        window = 20,
        min_calls = 20,
        failure_rate = "65%",
        open_for = "300ms",
        probes = 3,
    }

    /// As many searches as the upstream's search engine bears at a time; more would slow down all of them.
    bulkhead searches { max_concurrent = 8, wait = "60ms", queue = 12 }

    /// What the contract with the carrier allows; who asks for more is cut off for a while.
    rate_limiter quotes { rate = "20/s", burst = 4, wait = "80ms" }

    /// Retries of all functions together: a part of the calls, however ill the upstream is.
    retry_budget retries { ratio = "20%", min_per_sec = 2, ttl = "2s" }
}
