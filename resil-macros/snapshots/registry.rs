//! A registry.

resil::registry! {
    /// Everything that talks to the gateway.
    circuit_breaker gateway { window = 100, failure_rate = "50%", min_calls = 20, open_for = "30s", probes = 5 }
    #[cfg(feature = "mail")]
    circuit_breaker mail { slow_call = "1.5s", open_for = exponential("5s", cap = "5m"), jitter = 0.2 }
    rate_limiter quota { rate = "10/250ms", burst = 20, wait = "50ms", start = empty }
    bulkhead pool { max_concurrent = 64, wait = "10ms", queue = 32 }
    retry_budget budget { ratio = "20%", min_per_sec = 10 }
}
