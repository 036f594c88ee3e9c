//! A generic function that asks its error type, in a crate that has `resil` under another name.
unsafe fn count<'a, T: Read + 'a, E>(mut from: T, limit: usize) -> Result<usize, E>
where
    E: From<facade::resil::Rejected>,
    E: facade::resil::Classify,
{
    #![allow(clippy::unused)]
    facade::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::count"), [& statics::GATEWAY]
    );
    let mut __resil_circuit_breaker = match facade::resil::CircuitBreaker::acquire(
        &statics::GATEWAY,
    ) {
        ::core::result::Result::Ok(__resil_permit) => __resil_permit,
        ::core::result::Result::Err(__resil_rejected) => {
            return <Result<
                usize,
                E,
            > as facade::resil::__private::FromRejected>::__resil_reject(
                __resil_rejected,
            );
        }
    };
    let __resil_outcome: Result<usize, E> = facade::resil::__private::call(
        &mut __resil_circuit_breaker,
        || -> Result<usize, E> { from.count(limit) },
    );
    let __resil_judgement = {
        let __resil_judgement = facade::resil::Classify::classify(&__resil_outcome);
        match &__resil_outcome {
            Ok(0) => facade::resil::__private::Judgement::fail(__resil_judgement),
            _ => __resil_judgement,
        }
    };
    facade::resil::__private::Permit::settle(__resil_circuit_breaker, __resil_judgement);
    __resil_outcome
}
