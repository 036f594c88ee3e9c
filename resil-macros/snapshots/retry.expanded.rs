//! Retry alone, with everything that it can do to arguments.
fn charge(log: &mut Vec<&str>, order: Order) -> Result<Receipt, PayError> {
    static __RESIL_RETRY: ::resil::__private::Retry = ::resil::__private::Retry::builder(
            ::core::concat!(::core::module_path!(), "::charge"),
        )
        .max_attempts(4)
        .backoff(
            ::resil::__private::Backoff::exponential(
                    ::core::time::Duration::from_millis(20),
                    ::core::time::Duration::from_millis(200),
                )
                .factor(3),
        )
        .jitter(
            ::resil::__private::Jitter::PlusMinus(::resil::__private::Ratio::percent(20)),
        )
        .within(::core::time::Duration::from_secs(2))
        .build();
    ::resil::register!(__RESIL_RETRY);
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::charge"), [& __RESIL_RETRY]
    );
    let mut __resil_spare_order = ::resil::__private::Spare::new(order);
    let mut __resil_attempts = ::resil::__private::Retry::start(&__RESIL_RETRY);
    loop {
        let __resil_wait = {
            let log = &mut *log;
            let mut order = ::resil::__private::Spare::give(
                &mut __resil_spare_order,
                ::resil::__private::Attempts::number(&__resil_attempts) < 4,
            );
            let n = ::resil::__private::Attempts::number(&__resil_attempts);
            let __resil_outcome: Result<Receipt, PayError> = ::resil::__private::call(
                &mut (),
                || -> Result<Receipt, PayError> {
                    log.push("sent");
                    order.attempt = n;
                    send(order)
                },
            );
            let __resil_judgement = {
                let __resil_judgement = {
                    use ::resil::__private::Judge as _;
                    (&&&&&&::resil::__private::Probe(&__resil_outcome)).__resil_judge()
                };
                match &__resil_outcome {
                    Err(error) if error.is_fatal() => {
                        ::resil::__private::Judgement::abort(__resil_judgement)
                    }
                    Err(PayError::Io(_)) | Ok(Receipt { pending: true }) => {
                        ::resil::__private::Judgement::retry(__resil_judgement)
                    }
                    _ => ::resil::__private::Judgement::unlisted(__resil_judgement),
                }
            };
            match ::resil::__private::Attempts::next(
                &mut __resil_attempts,
                __resil_judgement,
                ::resil::__private::Deadline::NEVER,
            ) {
                ::core::option::Option::Some(__resil_wait) => {
                    ::resil::__private::discard(__resil_outcome);
                    __resil_wait
                }
                ::core::option::Option::None => break __resil_outcome,
            }
        };
        ::resil::__private::sleep_blocking(__resil_wait);
        ::resil::__private::call(
            &mut (),
            || {
                log.push("again");
            },
        );
    }
}
