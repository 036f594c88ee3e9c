//! A registry.
pub mod circuit_breaker {
    //! The circuit breakers.
    /// Everything that talks to the gateway.
    #[allow(non_upper_case_globals)]
    pub static gateway: ::resil::CircuitBreaker = {
        use ::resil::__private::CircuitBreaker as __ResilCircuitBreaker;
        __ResilCircuitBreaker::builder("gateway")
            .window(100)
            .min_calls(20)
            .failure_rate(::resil::__private::Ratio::percent(50))
            .open_for(::core::time::Duration::from_secs(30))
            .probes(5)
    }
        .build();
    ::resil::register!(gateway);
    #[doc(hidden)]
    pub mod gateway {
        pub const OPTIONS: ::core::option::Option<::resil::__private::BreakerOptions> = ::core::option::Option::Some(
            {
                use ::resil::__private::CircuitBreaker as __ResilCircuitBreaker;
                __ResilCircuitBreaker::builder("gateway")
                    .window(100)
                    .min_calls(20)
                    .failure_rate(::resil::__private::Ratio::percent(50))
                    .open_for(::core::time::Duration::from_secs(30))
                    .probes(5)
            }
                .options(),
        );
    }
    #[cfg(feature = "mail")]
    #[allow(non_upper_case_globals)]
    pub static mail: ::resil::CircuitBreaker = {
        use ::resil::__private::CircuitBreaker as __ResilCircuitBreaker;
        __ResilCircuitBreaker::builder("mail")
            .slow_call(::core::time::Duration::from_millis(1500))
            .open_for_exponential(
                ::core::time::Duration::from_secs(5),
                2,
                ::core::time::Duration::from_secs(300),
            )
            .open_jitter(::resil::__private::Ratio::percent(20))
    }
        .build();
    #[cfg(feature = "mail")]
    ::resil::register!(mail);
    #[cfg(feature = "mail")]
    #[doc(hidden)]
    pub mod mail {
        pub const OPTIONS: ::core::option::Option<::resil::__private::BreakerOptions> = ::core::option::Option::Some(
            {
                use ::resil::__private::CircuitBreaker as __ResilCircuitBreaker;
                __ResilCircuitBreaker::builder("mail")
                    .slow_call(::core::time::Duration::from_millis(1500))
                    .open_for_exponential(
                        ::core::time::Duration::from_secs(5),
                        2,
                        ::core::time::Duration::from_secs(300),
                    )
                    .open_jitter(::resil::__private::Ratio::percent(20))
            }
                .options(),
        );
    }
}
pub mod rate_limiter {
    //! The rate limiters.
    #[allow(non_upper_case_globals)]
    pub static quota: ::resil::RateLimiter = {
        use ::resil::__private::RateLimiter as __ResilRateLimiter;
        __ResilRateLimiter::builder("quota")
            .rate(
                ::resil::__private::Rate::new(
                    10,
                    ::core::time::Duration::from_millis(250),
                ),
            )
            .burst(20)
            .wait(::core::time::Duration::from_millis(50))
            .start(::resil::__private::Start::Empty)
    }
        .build();
    ::resil::register!(quota);
    #[doc(hidden)]
    pub mod quota {
        pub const OPTIONS: ::core::option::Option<::resil::__private::LimiterOptions> = ::core::option::Option::Some(
            {
                use ::resil::__private::RateLimiter as __ResilRateLimiter;
                __ResilRateLimiter::builder("quota")
                    .rate(
                        ::resil::__private::Rate::new(
                            10,
                            ::core::time::Duration::from_millis(250),
                        ),
                    )
                    .burst(20)
                    .wait(::core::time::Duration::from_millis(50))
                    .start(::resil::__private::Start::Empty)
            }
                .options(),
        );
    }
}
pub mod bulkhead {
    //! The bulkheads.
    #[allow(non_upper_case_globals)]
    pub static pool: ::resil::Bulkhead = {
        use ::resil::__private::Bulkhead as __ResilBulkhead;
        __ResilBulkhead::builder("pool")
            .max_concurrent(64)
            .wait(::core::time::Duration::from_millis(10))
            .queue(32)
    }
        .build();
    ::resil::register!(pool);
    #[doc(hidden)]
    pub mod pool {
        pub const OPTIONS: ::core::option::Option<::resil::__private::BulkheadOptions> = ::core::option::Option::Some(
            {
                use ::resil::__private::Bulkhead as __ResilBulkhead;
                __ResilBulkhead::builder("pool")
                    .max_concurrent(64)
                    .wait(::core::time::Duration::from_millis(10))
                    .queue(32)
            }
                .options(),
        );
    }
}
pub mod retry_budget {
    //! The retry budgets.
    #[allow(non_upper_case_globals)]
    pub static budget: ::resil::RetryBudget = {
        use ::resil::__private::RetryBudget as __ResilRetryBudget;
        __ResilRetryBudget::builder("budget")
            .ratio(::resil::__private::Ratio::percent(20))
            .min_per_sec(10)
    }
        .build();
    ::resil::register!(budget);
    #[doc(hidden)]
    pub mod budget {
        pub const OPTIONS: ::core::option::Option<::resil::__private::BudgetOptions> = ::core::option::Option::Some(
            {
                use ::resil::__private::RetryBudget as __ResilRetryBudget;
                __ResilRetryBudget::builder("budget")
                    .ratio(::resil::__private::Ratio::percent(20))
                    .min_per_sec(10)
            }
                .options(),
        );
    }
}
