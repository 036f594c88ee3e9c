//! A generic function that asks its error type, in a crate that has `resil` under another name.

#[resilient(crate = facade::resil, classify, circuit_breaker = statics::GATEWAY, failure = Ok(0))]
unsafe fn count<'a, T: Read + 'a, E>(mut from: T, limit: usize) -> Result<usize, E>
where
    E: From<facade::resil::Rejected>,
{
    #![allow(clippy::unused)]
    from.count(limit)
}
