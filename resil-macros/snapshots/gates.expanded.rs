//! Gates of the function's own around all attempts, and one that each of them passes.
fn charge(order: &Order) -> Result<Receipt, PayError> {
    static __RESIL_RETRY: ::resil::__private::Retry = ::resil::__private::Retry::builder(
            ::core::concat!(::core::module_path!(), "::charge"),
        )
        .max_attempts(3)
        .build();
    ::resil::register!(__RESIL_RETRY);
    static __RESIL_BULKHEAD: ::resil::__private::Bulkhead = {
        use ::resil::__private::Bulkhead as __ResilBulkhead;
        __ResilBulkhead::builder(::core::concat!(::core::module_path!(), "::charge"))
            .max_concurrent(8)
            .wait(::core::time::Duration::from_millis(50))
    }
        .build();
    ::resil::register!(__RESIL_BULKHEAD);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::charge"), [& __RESIL_BULKHEAD, & crate
        ::policies::circuit_breaker::gateway, & __RESIL_RETRY, & crate
        ::policies::rate_limiter::quota].breaker_outside()
    );
    let __resil_bulkhead = match ::resil::Bulkhead::enter(
        &__RESIL_BULKHEAD,
        ::resil::__private::Deadline::NEVER,
    ) {
        ::core::result::Result::Ok(__resil_slot) => __resil_slot,
        ::core::result::Result::Err(__resil_rejected) => {
            return <Result<
                Receipt,
                PayError,
            > as ::resil::__private::FromRejected>::__resil_reject(__resil_rejected);
        }
    };
    let mut __resil_circuit_breaker = match ::resil::CircuitBreaker::acquire_gated(
        &crate::policies::circuit_breaker::gateway,
    ) {
        ::core::result::Result::Ok(__resil_permit) => __resil_permit,
        ::core::result::Result::Err(__resil_rejected) => {
            return <Result<
                Receipt,
                PayError,
            > as ::resil::__private::FromRejected>::__resil_reject(__resil_rejected);
        }
    };
    let mut __resil_attempts = ::resil::__private::Retry::start(&__RESIL_RETRY);
    let mut __resil_held = ::core::option::Option::None;
    let (__resil_outcome, __resil_verdict) = '__resil_attempts: loop {
        let __resil_wait = '__resil_attempt: {
            let __resil_rejected = '__resil_refused: {
                let __resil_rate_limiter = match ::resil::RateLimiter::enter(
                    &crate::policies::rate_limiter::quota,
                    ::resil::__private::call(&mut (), || -> u32 { order.lines() }),
                    ::resil::__private::Deadline::NEVER,
                ) {
                    ::core::result::Result::Ok(__resil_cells) => __resil_cells,
                    ::core::result::Result::Err(__resil_rejected) => {
                        break '__resil_refused __resil_rejected;
                    }
                };
                ::resil::__private::release(__resil_held);
                let __resil_begun = ::resil::__private::Cells::take(
                    __resil_rate_limiter,
                );
                ::resil::__private::Permit::begin(
                    &mut __resil_circuit_breaker,
                    ::core::option::Option::Some(__resil_begun),
                );
                let __resil_outcome: Result<Receipt, PayError> = ::resil::__private::call(
                    &mut __resil_circuit_breaker,
                    || -> Result<Receipt, PayError> { send(order) },
                );
                let __resil_judgement = {
                    use ::resil::__private::Judge as _;
                    (&&&&&&::resil::__private::Probe(&__resil_outcome)).__resil_judge()
                };
                let __resil_verdict = __resil_judgement;
                match ::resil::__private::Attempts::next(
                    &mut __resil_attempts,
                    __resil_judgement,
                    ::resil::__private::Deadline::NEVER,
                ) {
                    ::core::option::Option::Some(__resil_wait) => {
                        __resil_held = ::core::option::Option::Some((
                            __resil_outcome,
                            __resil_verdict,
                        ));
                        break '__resil_attempt __resil_wait;
                    }
                    ::core::option::Option::None => {
                        break '__resil_attempts (__resil_outcome, __resil_verdict);
                    }
                }
            };
            match ::resil::__private::Attempts::refused(
                &mut __resil_attempts,
                __resil_rejected,
                ::resil::__private::Deadline::NEVER,
            ) {
                ::core::option::Option::Some(__resil_wait) => __resil_wait,
                ::core::option::Option::None => {
                    match __resil_held {
                        ::core::option::Option::Some(__resil_outcome) => {
                            break '__resil_attempts __resil_outcome;
                        }
                        ::core::option::Option::None => {
                            ::resil::__private::Permit::ignore(__resil_circuit_breaker);
                            return <Result<
                                Receipt,
                                PayError,
                            > as ::resil::__private::FromRejected>::__resil_reject(
                                __resil_rejected,
                            );
                        }
                    }
                }
            }
        };
        ::resil::__private::sleep_blocking(__resil_wait);
    };
    ::resil::__private::Permit::settle(__resil_circuit_breaker, __resil_verdict);
    ::core::mem::drop(__resil_bulkhead);
    __resil_outcome
}
