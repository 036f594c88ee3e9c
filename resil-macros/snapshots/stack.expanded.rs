//! The example at the beginning of the design.
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
    const _: () = {
        let __resil_rate_limiter = {
            struct quota;
            impl quota {
                const OPTIONS: ::core::option::Option<
                    ::resil::__private::LimiterOptions,
                > = ::core::option::Option::None;
            }
            {
                use crate::policies::rate_limiter::*;
                quota::OPTIONS
            }
        };
        ::core::assert!(
            ::resil::__private::wait_below(::resil::__private::limiter_wait(__resil_rate_limiter),
            ::core::time::Duration::from_secs(1)),
            "a call that waits as long as `quota` lets it has no time left: the `deadline` is there first\nhelp: a `deadline` above the `wait` of `quota`, or `allow(wait_reaches_deadline)`"
        );
    };
    const _: () = {
        let __resil_bulkhead = {
            struct pool;
            impl pool {
                const OPTIONS: ::core::option::Option<
                    ::resil::__private::BulkheadOptions,
                > = ::core::option::Option::None;
            }
            {
                use crate::policies::bulkhead::*;
                pool::OPTIONS
            }
        };
        ::core::assert!(
            ::resil::__private::wait_below(::resil::__private::bulkhead_wait(__resil_bulkhead),
            ::core::time::Duration::from_secs(1)),
            "a call that waits as long as `pool` lets it has no time left: the `deadline` is there first\nhelp: a `deadline` above the `wait` of `pool`, or `allow(wait_reaches_deadline)`"
        );
    };
    const _: () = {
        let __resil_rate_limiter = {
            struct quota;
            impl quota {
                const OPTIONS: ::core::option::Option<
                    ::resil::__private::LimiterOptions,
                > = ::core::option::Option::None;
            }
            {
                use crate::policies::rate_limiter::*;
                quota::OPTIONS
            }
        };
        let __resil_bulkhead = {
            struct pool;
            impl pool {
                const OPTIONS: ::core::option::Option<
                    ::resil::__private::BulkheadOptions,
                > = ::core::option::Option::None;
            }
            {
                use crate::policies::bulkhead::*;
                pool::OPTIONS
            }
        };
        ::core::assert!(
            ::resil::__private::waits_below(::resil::__private::limiter_wait(__resil_rate_limiter),
            ::resil::__private::bulkhead_wait(__resil_bulkhead),
            ::core::time::Duration::from_secs(1)),
            "a call that waits at both, limiter and bulkhead, has no time left: the `deadline` is there first\nhelp: a longer `deadline`, a shorter `wait` in one of the two, or `allow(waits_reach_deadline)`"
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
        .budget_named("budget")
        .build();
    ::resil::register!(__RESIL_RETRY);
    static __RESIL_TIMEOUT: ::resil::__private::Timeout = ::resil::__private::Timeout::builder(
            ::core::concat!(::core::module_path!(), "::charge"),
        )
        .after(::core::time::Duration::from_millis(200))
        .build();
    ::resil::register!(__RESIL_TIMEOUT);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::charge"), [& __RESIL_FALLBACK, &
        __RESIL_DEADLINE, & __RESIL_RETRY, & crate ::policies::retry_budget::budget, &
        crate ::policies::circuit_breaker::gateway, & crate
        ::policies::rate_limiter::quota, & crate ::policies::bulkhead::pool, &
        __RESIL_TIMEOUT].asynchronous()
    );
    let __resil_ended: ::resil::__private::Ended<Result<Receipt, PayError>> = {
        let __resil_deadline = ::resil::__private::DeadlineLimit::start(
            &__RESIL_DEADLINE,
        );
        let mut __resil_attempts = ::resil::__private::Retry::start_within_budget::<
            ::resil::__private::RetryBudget,
        >(&__RESIL_RETRY, &crate::policies::retry_budget::budget);
        let mut __resil_held = ::core::option::Option::None;
        '__resil_attempts: loop {
            let __resil_wait = '__resil_attempt: {
                let __resil_rejected = '__resil_refused: {
                    let mut __resil_circuit_breaker = match ::resil::CircuitBreaker::acquire_gated(
                        &crate::policies::circuit_breaker::gateway,
                    ) {
                        ::core::result::Result::Ok(__resil_permit) => __resil_permit,
                        ::core::result::Result::Err(__resil_rejected) => {
                            break '__resil_refused __resil_rejected;
                        }
                    };
                    let __resil_rate_limiter = match ::resil::RateLimiter::enter_async(
                            &crate::policies::rate_limiter::quota,
                            1,
                            ::resil::__private::Limits::deadline(&__resil_deadline),
                        )
                        .await
                    {
                        ::core::result::Result::Ok(__resil_cells) => __resil_cells,
                        ::core::result::Result::Err(__resil_rejected) => {
                            ::resil::__private::Permit::ignore(__resil_circuit_breaker);
                            break '__resil_refused __resil_rejected;
                        }
                    };
                    let __resil_bulkhead = match ::resil::Bulkhead::enter_async(
                            &crate::policies::bulkhead::pool,
                            ::resil::__private::Limits::deadline(&__resil_deadline),
                        )
                        .await
                    {
                        ::core::result::Result::Ok(__resil_slot) => __resil_slot,
                        ::core::result::Result::Err(__resil_rejected) => {
                            ::resil::__private::Permit::ignore(__resil_circuit_breaker);
                            break '__resil_refused __resil_rejected;
                        }
                    };
                    if let ::core::option::Option::Some(__resil_outcome) = __resil_held {
                        if ::resil::__private::overdue(
                            &mut __resil_attempts,
                            ::resil::__private::Limits::deadline(&__resil_deadline),
                        ) {
                            ::resil::__private::Permit::ignore(__resil_circuit_breaker);
                            break '__resil_attempts __resil_outcome;
                        }
                        __resil_held = ::core::option::Option::Some(__resil_outcome);
                    }
                    ::resil::__private::release(__resil_held);
                    let __resil_begun = ::resil::__private::Cells::take(
                        __resil_rate_limiter,
                    );
                    let __resil_begun = ::resil::__private::Slot::begun(
                        &__resil_bulkhead,
                        __resil_begun,
                    );
                    ::resil::__private::Permit::begin(
                        &mut __resil_circuit_breaker,
                        ::core::option::Option::Some(__resil_begun),
                    );
                    ::resil::__private::Attempts::admitted(&mut __resil_attempts);
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
                    ::core::mem::drop(__resil_bulkhead);
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
                            break '__resil_attempt __resil_wait;
                        }
                        ::core::option::Option::None => {
                            break '__resil_attempts __resil_outcome;
                        }
                    }
                };
                match ::resil::__private::Attempts::refused(
                    &mut __resil_attempts,
                    __resil_rejected,
                    ::resil::__private::Limits::deadline(&__resil_deadline),
                ) {
                    ::core::option::Option::Some(__resil_wait) => __resil_wait,
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
            };
            ::resil::__private::sleep(__resil_wait).await;
            if let ::core::option::Option::Some(__resil_outcome) = __resil_held {
                if ::resil::__private::overdue(
                    &mut __resil_attempts,
                    ::resil::__private::Limits::deadline(&__resil_deadline),
                ) {
                    break __resil_outcome;
                }
                __resil_held = ::core::option::Option::Some(__resil_outcome);
            }
        }
    };
    let __resil_ended = {
        use ::resil::__private::EndedAs as _;
        __resil_ended.__resil_pass(&__RESIL_FALLBACK).__resil_cause(&__RESIL_FALLBACK)
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
