//! Time in sync functions: what came late is looked at when it is there.
fn alone(conn: &mut Conn) -> io::Result<impl Iterator<Item = u8>> {
    static __RESIL_TIMEOUT: ::resil::__private::Timeout = ::resil::__private::Timeout::builder(
            ::core::concat!(::core::module_path!(), "::alone"),
        )
        .after(::core::time::Duration::from_millis(200))
        .build();
    ::resil::register!(__RESIL_TIMEOUT);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::alone"), [& __RESIL_TIMEOUT]
    );
    let __resil_timed = ::resil::__private::call_limited(
        &mut (),
        ::resil::__private::Timeout::limit(&__RESIL_TIMEOUT),
        || -> io::Result<_> { conn.get() },
    );
    let (__resil_outcome, _) = {
        use ::resil::__private::TimedAs as _;
        __resil_timed.__resil_keep()
    };
    match __resil_outcome {
        ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
        ::core::result::Result::Err(__resil_rejected) => {
            <io::Result<
                _,
            > as ::resil::__private::FromRejected>::__resil_reject(__resil_rejected)
        }
    }
}
fn whole(conn: &mut Conn) -> io::Result<u32> {
    static __RESIL_DEADLINE: ::resil::__private::DeadlineLimit = ::resil::__private::DeadlineLimit::builder(
            ::core::concat!(::core::module_path!(), "::whole"),
        )
        .after(::core::time::Duration::from_secs(1))
        .build();
    ::resil::register!(__RESIL_DEADLINE);
    static __RESIL_TIMEOUT: ::resil::__private::Timeout = ::resil::__private::Timeout::builder(
            ::core::concat!(::core::module_path!(), "::whole"),
        )
        .after(::core::time::Duration::from_millis(200))
        .build();
    ::resil::register!(__RESIL_TIMEOUT);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::whole"), [& __RESIL_DEADLINE, &
        __RESIL_TIMEOUT]
    );
    let __resil_deadline = ::resil::__private::DeadlineLimit::start(&__RESIL_DEADLINE);
    let __resil_timed = ::resil::__private::call_limited(
        &mut ::resil::__private::Begun(
            ::resil::__private::CallDeadline::begun(&__resil_deadline),
        ),
        (::resil::__private::Timeout::limit(&__RESIL_TIMEOUT), &__resil_deadline),
        || -> io::Result<u32> { conn.count() },
    );
    let (__resil_outcome, _) = {
        use ::resil::__private::TimedAs as _;
        __resil_timed.__resil_keep()
    };
    match __resil_outcome {
        ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
        ::core::result::Result::Err(__resil_rejected) => {
            <io::Result<
                u32,
            > as ::resil::__private::FromRejected>::__resil_reject(__resil_rejected)
        }
    }
}
fn dropped(conn: &mut Conn) -> u32 {
    static __RESIL_FALLBACK: ::resil::__private::Fallback = ::resil::__private::Fallback::builder(
            ::core::concat!(::core::module_path!(), "::dropped"),
        )
        .build();
    ::resil::register!(__RESIL_FALLBACK);
    static __RESIL_TIMEOUT: ::resil::__private::Timeout = ::resil::__private::Timeout::builder(
            ::core::concat!(::core::module_path!(), "::dropped"),
        )
        .after(::core::time::Duration::from_millis(200))
        .build();
    ::resil::register!(__RESIL_TIMEOUT);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::dropped"), [& __RESIL_FALLBACK, &
        __RESIL_TIMEOUT]
    );
    let __resil_ended: ::resil::__private::Ended<u32> = {
        let __resil_timed = ::resil::__private::call_limited(
            &mut (),
            ::resil::__private::Timeout::limit(&__RESIL_TIMEOUT),
            || -> u32 { conn.count() },
        );
        let __resil_outcome = {
            use ::resil::__private::TimedAs as _;
            __resil_timed.__resil_end()
        };
        let __resil_judgement = match &__resil_outcome {
            ::core::result::Result::Ok(__resil_outcome) => {
                use ::resil::__private::Judge as _;
                (&&&&&&::resil::__private::Probe(__resil_outcome)).__resil_judge()
            }
            ::core::result::Result::Err(__resil_rejected) => {
                ::resil::__private::Judgement::ended(__resil_rejected, false)
            }
        };
        match __resil_outcome {
            ::core::result::Result::Ok(__resil_outcome) => {
                ::resil::__private::Ended::returned(__resil_outcome, __resil_judgement)
            }
            ::core::result::Result::Err(__resil_rejected) => {
                ::resil::__private::Ended::Rejected(__resil_rejected)
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
            0
        }
    }
}
fn stack(conn: &mut Conn) -> Result<u32, PayError> {
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
            "a call of `gateway` that is slow has failed already: `timeout` comes no later than `slow_call`\nhelp: a `timeout` above the `slow_call` of `gateway`, or `allow(slow_call_reaches_timeout)`"
        );
    };
    static __RESIL_DEADLINE: ::resil::__private::DeadlineLimit = ::resil::__private::DeadlineLimit::builder(
            ::core::concat!(::core::module_path!(), "::stack"),
        )
        .after(::core::time::Duration::from_secs(1))
        .build();
    ::resil::register!(__RESIL_DEADLINE);
    static __RESIL_RETRY: ::resil::__private::Retry = ::resil::__private::Retry::builder(
            ::core::concat!(::core::module_path!(), "::stack"),
        )
        .max_attempts(3)
        .on_timeout(false)
        .build();
    ::resil::register!(__RESIL_RETRY);
    static __RESIL_TIMEOUT: ::resil::__private::Timeout = ::resil::__private::Timeout::builder(
            ::core::concat!(::core::module_path!(), "::stack"),
        )
        .after(::core::time::Duration::from_millis(200))
        .build();
    ::resil::register!(__RESIL_TIMEOUT);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::stack"), [& __RESIL_DEADLINE, &
        __RESIL_RETRY, & crate ::policies::circuit_breaker::gateway, & __RESIL_TIMEOUT]
    );
    let __resil_deadline = ::resil::__private::DeadlineLimit::start(&__RESIL_DEADLINE);
    let mut __resil_attempts = ::resil::__private::Retry::start(&__RESIL_RETRY);
    let mut __resil_held = ::core::option::Option::None;
    let __resil_outcome = '__resil_attempts: loop {
        let __resil_wait = '__resil_attempt: {
            let __resil_rejected = '__resil_refused: {
                let mut __resil_circuit_breaker = match ::resil::CircuitBreaker::acquire(
                    &crate::policies::circuit_breaker::gateway,
                ) {
                    ::core::result::Result::Ok(__resil_permit) => __resil_permit,
                    ::core::result::Result::Err(__resil_rejected) => {
                        break '__resil_refused __resil_rejected;
                    }
                };
                ::resil::__private::release(__resil_held);
                let conn = &mut *conn;
                let __resil_timed = ::resil::__private::call_limited(
                    &mut __resil_circuit_breaker,
                    (
                        ::resil::__private::Timeout::limit(&__RESIL_TIMEOUT),
                        &__resil_deadline,
                    ),
                    || -> Result<u32, PayError> { conn.count() },
                );
                let (__resil_outcome, __resil_late) = {
                    use ::resil::__private::TimedAs as _;
                    __resil_timed.__resil_keep()
                };
                let __resil_judgement = match &__resil_outcome {
                    ::core::result::Result::Ok(_) if __resil_late => {
                        ::resil::__private::Judgement::FAILURE
                    }
                    ::core::result::Result::Ok(__resil_outcome) => {
                        use ::resil::__private::Judge as _;
                        (&&&&&&::resil::__private::Probe(__resil_outcome))
                            .__resil_judge()
                    }
                    ::core::result::Result::Err(__resil_rejected) => {
                        ::resil::__private::Attempts::judge(
                            &__resil_attempts,
                            __resil_rejected,
                        )
                    }
                };
                let __resil_verdict = match &__resil_outcome {
                    ::core::result::Result::Ok(__resil_outcome) if !__resil_late => {
                        match __resil_outcome {
                            Ok(0) => {
                                ::resil::__private::Judgement::fail(__resil_judgement)
                            }
                            _ => __resil_judgement,
                        }
                    }
                    _ => __resil_judgement,
                };
                ::resil::__private::Permit::settle(
                    __resil_circuit_breaker,
                    __resil_verdict,
                );
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
                            return <Result<
                                u32,
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
        match ::resil::__private::Timed::or_ended(
            ::resil::__private::call_limited(
                &mut (),
                &__resil_deadline,
                || {
                    refresh(conn);
                },
            ),
        ) {
            ::core::result::Result::Ok(()) => {}
            ::core::result::Result::Err(__resil_rejected) => {
                ::resil::__private::Attempts::out_of_time(&mut __resil_attempts);
                match __resil_held {
                    ::core::option::Option::Some(__resil_outcome) => {
                        break '__resil_attempts __resil_outcome;
                    }
                    ::core::option::Option::None => {
                        return <Result<
                            u32,
                            PayError,
                        > as ::resil::__private::FromRejected>::__resil_reject(
                            __resil_rejected,
                        );
                    }
                }
            }
        }
        if let ::core::option::Option::Some(__resil_outcome) = __resil_held {
            if ::resil::__private::overdue(
                &mut __resil_attempts,
                ::resil::__private::Limits::deadline(&__resil_deadline),
            ) {
                break __resil_outcome;
            }
            __resil_held = ::core::option::Option::Some(__resil_outcome);
        }
    };
    match __resil_outcome {
        ::core::result::Result::Ok(__resil_outcome) => __resil_outcome,
        ::core::result::Result::Err(__resil_rejected) => {
            <Result<
                u32,
                PayError,
            > as ::resil::__private::FromRejected>::__resil_reject(__resil_rejected)
        }
    }
}
