//! What an expansion asserts over the options that `registry!` leaves beside a policy.
//!
//! Invariant: what is not known, as of a hand-written `static`, is never complained of.

use crate::bulkhead::BulkheadOptions;
use crate::circuit_breaker::BreakerOptions;
use crate::rate_limiter::LimiterOptions;
use crate::time::Nanos;
use core::time::Duration;

/// Whether calls can be slow before `limit` ends them; always, where slowness does not count.
pub const fn slow_call_below(options: Option<BreakerOptions>, limit: Duration) -> bool {
    match options {
        Some(BreakerOptions { slow_call, .. }) => {
            slow_call.0 == Nanos::MAX.0 || slow_call.0 < Nanos::from_duration(limit).0
        }
        None => true,
    }
}

/// Whether there can be so many cells at once.
pub const fn cost_within_burst(options: Option<LimiterOptions>, cost: u32) -> bool {
    match options {
        Some(options) => cost <= options.most_at_once(),
        None => true,
    }
}

/// How long a limiter has a call wait at most.
pub const fn limiter_wait(options: Option<LimiterOptions>) -> Duration {
    match options {
        Some(options) => options.wait.to_duration(),
        None => Duration::ZERO,
    }
}

/// How long a bulkhead has a call wait at most.
pub const fn bulkhead_wait(options: Option<BulkheadOptions>) -> Duration {
    match options {
        Some(options) if options.longest_queue() > 0 => options.wait.to_duration(),
        _ => Duration::ZERO,
    }
}

/// Whether a call that waits so long has time left.
pub const fn wait_below(wait: Duration, deadline: Duration) -> bool {
    Nanos::from_duration(wait).0 < Nanos::from_duration(deadline).0
}

/// Whether a call that waits twice has time left. Of a wait that leaves none by itself [`wait_below`] speaks.
pub const fn waits_below(first: Duration, second: Duration, deadline: Duration) -> bool {
    !wait_below(first, deadline)
        || !wait_below(second, deadline)
        || wait_below(first.saturating_add(second), deadline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulkhead::Bulkhead;
    use crate::cell::Rate;
    use crate::circuit_breaker::CircuitBreaker;
    use crate::rate_limiter::RateLimiter;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_slow_call_is_below_a_longer_limit_only() {
        let options = CircuitBreaker::builder("test").slow_call(ms(200)).options();
        assert!(slow_call_below(Some(options), ms(201)));
        assert!(!slow_call_below(Some(options), ms(200)));
        let without = CircuitBreaker::builder("test").options();
        assert!(slow_call_below(Some(without), Duration::MAX));
        assert!(slow_call_below(None, Duration::from_nanos(1)));
    }

    #[test]
    fn l05_a_cost_is_within_what_one_shard_lets_pass() {
        let builder = RateLimiter::builder("test").rate(Rate::per_second(100)).burst(10);
        assert!(cost_within_burst(Some(builder.options()), 10));
        assert!(!cost_within_burst(Some(builder.options()), 11));
        assert!(!cost_within_burst(Some(builder.shards(2).options()), 6));
        assert!(cost_within_burst(None, u32::MAX));
        assert_eq!(limiter_wait(Some(builder.wait(ms(10)).options())), ms(10));
        assert_eq!(limiter_wait(None), Duration::ZERO);
    }

    #[test]
    fn who_may_not_queue_does_not_wait() {
        let builder = Bulkhead::builder("test").max_concurrent(1).wait(ms(10));
        assert_eq!(bulkhead_wait(Some(builder.options())), ms(10));
        assert_eq!(bulkhead_wait(Some(builder.queue(0).options())), Duration::ZERO);
        assert_eq!(bulkhead_wait(Some(builder.max_concurrent(0).options())), Duration::ZERO);
        assert_eq!(bulkhead_wait(None), Duration::ZERO);
    }

    #[test]
    fn waits_are_compared_alone_and_together() {
        assert!(wait_below(ms(9), ms(10)));
        assert!(!wait_below(ms(10), ms(10)));
        assert!(waits_below(ms(4), ms(5), ms(10)));
        assert!(!waits_below(ms(5), ms(5), ms(10)));
        assert!(waits_below(ms(10), ms(5), ms(10)), "one alone is another rule's");
        assert!(waits_below(ms(5), Duration::MAX, ms(10)), "the same");
    }
}
