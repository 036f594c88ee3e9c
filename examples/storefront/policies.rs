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
}
