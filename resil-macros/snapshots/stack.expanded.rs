//! The example at the beginning of the design, as far as this version has it.
async fn charge(client: &Client, order: &Order) -> Result<Receipt, PayError> {
    const _: () = {
        let __resil_circuit_breaker = {
            struct gateway;
            impl gateway {
                const OPTIONS: ::core::option::Option<
                    ::resil::__private::BreakerOptions,
                > = ::core::option::Option::None;
            }
            {
                use crate::policies::circuit_breaker::*;
                gateway::OPTIONS
            }
        };
        ::core::assert!(
            ::resil::__private::slow_call_below(__resil_circuit_breaker,
            ::core::time::Duration::from_millis(200)),
            "no call of `gateway` is ever slow: `timeout` ends it before `slow_call` is reached\nhelp: a `timeout` above the `slow_call` of `gateway`, or `allow(slow_call_reaches_timeout)`"
        );
    };
    static __RESIL_FALLBACK: ::resil::__private::Fallback = ::resil::__private::Fallback::builder(
            ::core::concat!(::core::module_path!(), "::charge"),
        )
        .build();
    ::resil::register!(__RESIL_FALLBACK);
    static __RESIL_DEADLINE: ::resil::__private::DeadlineLimit = ::resil::__private::DeadlineLimit::builder(
            ::core::concat!(::core::module_path!(), "::charge"),
        )
        .after(::core::time::Duration::from_secs(1))
        .build();
    ::resil::register!(__RESIL_DEADLINE);
    static __RESIL_RETRY: ::resil::__private::Retry = ::resil::__private::Retry::builder(
            ::core::concat!(::core::module_path!(), "::charge"),
        )
        .max_attempts(3)
        .backoff(
            ::resil::__private::Backoff::exponential(
                ::core::time::Duration::from_millis(20),
                ::core::time::Duration::from_millis(200),
            ),
        )
        .jitter(::resil::__private::Jitter::Full)
        .build();
    ::resil::register!(__RESIL_RETRY);
    static __RESIL_TIMEOUT: ::resil::__private::Timeout = ::resil::__private::Timeout::builder(
            ::core::concat!(::core::module_path!(), "::charge"),
        )
        .after(::core::time::Duration::from_millis(200))
        .build();
    ::resil::register!(__RESIL_TIMEOUT);
    let __resil_ended: ::resil::__private::Ended<Result<Receipt, PayError>> = {
        let __resil_deadline = ::resil::__private::DeadlineLimit::start(
            &__RESIL_DEADLINE,
        );
        let mut __resil_attempts = ::resil::__private::Retry::start(&__RESIL_RETRY);
        let mut __resil_held = ::core::option::Option::None;
        '__resil_attempts: loop {
            let __resil_wait = '__resil_attempt: {
                let mut __resil_circuit_breaker = match ::resil::CircuitBreaker::acquire(
                    &crate::policies::circuit_breaker::gateway,
                ) {
                    ::core::result::Result::Ok(__resil_permit) => __resil_permit,
                    ::core::result::Result::Err(__resil_rejected) => {
                        match ::resil::__private::Attempts::refused(
                            &mut __resil_attempts,
                            __resil_rejected,
                            ::resil::__private::Limits::deadline(&__resil_deadline),
                        ) {
                            ::core::option::Option::Some(__resil_wait) => {
                                break '__resil_attempt __resil_wait;
                            }
                            ::core::option::Option::None => {
                                match __resil_held {
                                    ::core::option::Option::Some(__resil_outcome) => {
                                        break '__resil_attempts __resil_outcome;
                                    }
                                    ::core::option::Option::None => {
                                        break '__resil_attempts ::resil::__private::Ended::Rejected(
                                            __resil_rejected,
                                        );
                                    }
                                }
                            }
                        }
                    }
                };
                ::resil::__private::release(&mut __resil_held);
                let __resil_outcome: ::core::result::Result<
                    Result<Receipt, PayError>,
                    ::resil::__private::Rejected,
                > = ::resil::__private::limited(
                        &mut __resil_circuit_breaker,
                        (
                            ::resil::__private::Timeout::limit(&__RESIL_TIMEOUT),
                            &__resil_deadline,
                        ),
                        async {
                            if let ::core::option::Option::Some(__resil_edge) = ::resil::__private::edge::<
                                Result<Receipt, PayError>,
                            >() {
                                return __resil_edge;
                            }
                            let answer = client.post(order).await?;
                            Ok(answer.receipt)
                        },
                    )
                    .await;
                let __resil_judgement = match &__resil_outcome {
                    ::core::result::Result::Ok(__resil_outcome) => {
                        let __resil_judgement = {
                            use ::resil::__private::Judge as _;
                            (&&&&&&::resil::__private::Probe(__resil_outcome))
                                .__resil_judge()
                        };
                        match __resil_outcome {
                            Err(PayError::Declined) => {
                                ::resil::__private::Judgement::ignore(__resil_judgement)
                            }
                            Err(PayError::Io(_)) => {
                                ::resil::__private::Judgement::retry(__resil_judgement)
                            }
                            _ => {
                                ::resil::__private::Judgement::unlisted(__resil_judgement)
                            }
                        }
                    }
                    ::core::result::Result::Err(__resil_rejected) => {
                        ::resil::__private::Attempts::judge(
                            &__resil_attempts,
                            __resil_rejected,
                        )
                    }
                };
                ::resil::__private::Permit::settle(
                    __resil_circuit_breaker,
                    __resil_judgement,
                );
                let __resil_outcome = match __resil_outcome {
                    ::core::result::Result::Ok(__resil_outcome) => {
                        ::resil::__private::Ended::returned(
                            __resil_outcome,
                            __resil_judgement,
                        )
                    }
                    ::core::result::Result::Err(__resil_rejected) => {
                        ::resil::__private::Ended::Rejected(__resil_rejected)
                    }
                };
                match ::resil::__private::Attempts::next(
                    &mut __resil_attempts,
                    __resil_judgement,
                    ::resil::__private::Limits::deadline(&__resil_deadline),
                ) {
                    ::core::option::Option::Some(__resil_wait) => {
                        __resil_held = ::core::option::Option::Some(__resil_outcome);
                        __resil_wait
                    }
                    ::core::option::Option::None => {
                        break '__resil_attempts __resil_outcome;
                    }
                }
            };
            ::resil::__private::sleep(__resil_wait).await;
            if let ::core::option::Option::Some(__resil_outcome) = ::resil::__private::overdue(
                &mut __resil_held,
                &mut __resil_attempts,
                ::resil::__private::Limits::deadline(&__resil_deadline),
            ) {
                break __resil_outcome;
            }
        }
    };
    let __resil_ended = {
        use ::resil::__private::EndedAs as _;
        __resil_ended.__resil_cause()
    };
    match __resil_ended {
        ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
        ::core::result::Result::Err(__resil_cause) => {
            ::resil::__private::Fallback::ran(&__RESIL_FALLBACK, &__resil_cause);
            match __resil_cause {
                _cause => Ok(Receipt::queued(order)),
            }
        }
    }
}
