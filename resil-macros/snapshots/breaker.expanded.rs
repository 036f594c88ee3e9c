//! A named breaker, a sync function, and a body with an early return.
pub fn charge(order: &Order) -> Result<Receipt, PayError> {
    ::resil::__private::__list_function!(
        ::core::concat!(::core::module_path!(), "::charge"), [& crate
        ::policies::circuit_breaker::gateway]
    );
    let mut __resil_circuit_breaker = match ::resil::CircuitBreaker::acquire(
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
    let __resil_outcome: Result<Receipt, PayError> = ::resil::__private::call(
        &mut __resil_circuit_breaker,
        || -> Result<Receipt, PayError> {
            if order.is_empty() {
                return Err(PayError::Empty);
            }
            let answer = send(order)?;
            Ok(answer.receipt)
        },
    );
    let __resil_judgement = {
        use ::resil::__private::Judge as _;
        (&&&&&&::resil::__private::Probe(&__resil_outcome)).__resil_judge()
    };
    ::resil::__private::Permit::settle(__resil_circuit_breaker, __resil_judgement);
    __resil_outcome
}
