//! Mistakes in a registry; what is right is declared all the same.
mod policies {
    resil::registry! {
        circuit_breaker gateway { window = 10, min_calls = 20 }
        circuit_breaker gateway { opn_for = "1s" }
        circuit_breaker Upper {}
        rate_limiter gateway { rate = "100 per second", cost = 5 }
        rate_limiter quota { burst = 20 }
        bulkhead pool {},
        adaptive_limit later {}
        circuit_braker other {}
        retry twice {}
        circuit_breaker last { failure_rate = 50 }
    }
}

fn main() {
    let _ = (&policies::circuit_breaker::last, &policies::rate_limiter::quota);
}
