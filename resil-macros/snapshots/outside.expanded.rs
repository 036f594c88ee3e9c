//! A breaker of the function's own around all attempts, and answers by cause.
impl Shop {
    pub(crate) fn sell(&mut self, item: Item) -> Result<u32, Fault> {
        static __RESIL_FALLBACK: ::resil::__private::Fallback = ::resil::__private::Fallback::builder(
                "shop::sell",
            )
            .build();
        ::resil::register!(__RESIL_FALLBACK);
        static __RESIL_RETRY: ::resil::__private::Retry = ::resil::__private::Retry::builder(
                "shop::sell",
            )
            .max_retries(2)
            .backoff(
                ::resil::__private::Backoff::table(
                    &[
                        ::core::time::Duration::from_millis(10),
                        ::core::time::Duration::from_millis(50),
                    ],
                ),
            )
            .build();
        ::resil::register!(__RESIL_RETRY);
        static __RESIL_CIRCUIT_BREAKER: ::resil::__private::CircuitBreaker = {
            use ::resil::__private::CircuitBreaker as __ResilCircuitBreaker;
            __ResilCircuitBreaker::builder("shop::sell")
                .window(50)
                .failure_rate(::resil::__private::Ratio::percent(25))
        }
            .build();
        ::resil::register!(__RESIL_CIRCUIT_BREAKER);
        ::resil::__private::__list_function!(
            "shop::sell", [& __RESIL_FALLBACK, & __RESIL_CIRCUIT_BREAKER, &
            __RESIL_RETRY].breaker_outside()
        );
        let __resil_ended: ::resil::__private::Ended<Result<u32, Fault>> = '__resil_call: {
            let mut __resil_circuit_breaker = match ::resil::CircuitBreaker::acquire(
                &__RESIL_CIRCUIT_BREAKER,
            ) {
                ::core::result::Result::Ok(__resil_permit) => __resil_permit,
                ::core::result::Result::Err(__resil_rejected) => {
                    break '__resil_call ::resil::__private::Ended::Rejected(
                        __resil_rejected,
                    );
                }
            };
            let mut __resil_attempts = ::resil::__private::Retry::start(&__RESIL_RETRY);
            let (__resil_outcome, __resil_verdict) = loop {
                let __resil_wait = {
                    let __resil_outcome: Result<u32, Fault> = ::resil::__private::call(
                        &mut __resil_circuit_breaker,
                        || -> Result<u32, Fault> { self.till.take(&item) },
                    );
                    let __resil_judgement = {
                        use ::resil::__private::Judge as _;
                        (&&&&&&::resil::__private::Probe(&__resil_outcome))
                            .__resil_judge()
                    };
                    let __resil_verdict = match &__resil_outcome {
                        Err(Fault::Busy) => {
                            ::resil::__private::Judgement::ignore(__resil_judgement)
                        }
                        _ => __resil_judgement,
                    };
                    let __resil_outcome = ::resil::__private::Ended::returned(
                        __resil_outcome,
                        __resil_judgement,
                    );
                    match ::resil::__private::Attempts::next(
                        &mut __resil_attempts,
                        __resil_judgement,
                        ::resil::__private::Deadline::NEVER,
                    ) {
                        ::core::option::Option::Some(__resil_wait) => {
                            ::resil::__private::discard((
                                __resil_outcome,
                                __resil_verdict,
                            ));
                            __resil_wait
                        }
                        ::core::option::Option::None => {
                            break (__resil_outcome, __resil_verdict);
                        }
                    }
                };
                ::resil::__private::sleep_blocking(__resil_wait);
            };
            ::resil::__private::Permit::settle(__resil_circuit_breaker, __resil_verdict);
            __resil_outcome
        };
        let __resil_ended = {
            use ::resil::__private::EndedAs as _;
            __resil_ended
                .__resil_pass(&__RESIL_FALLBACK)
                .__resil_cause(&__RESIL_FALLBACK)
        };
        match __resil_ended {
            ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
            ::core::result::Result::Err(
                ::resil::__private::Cause::Error(__resil_cause),
            ) => {
                ::resil::__private::Fallback::ran(
                    &__RESIL_FALLBACK,
                    &::resil::__private::Cause::Error(()),
                );
                match __resil_cause {
                    fault => Err(fault.seen()),
                }
            }
            ::core::result::Result::Err(
                ::resil::__private::Cause::Rejected(__resil_cause),
            ) => {
                ::resil::__private::Fallback::ran(
                    &__RESIL_FALLBACK,
                    &::resil::__private::Cause::<()>::Rejected(__resil_cause),
                );
                Self::closed(__resil_cause)
            }
        }
    }
}
