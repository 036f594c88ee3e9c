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
