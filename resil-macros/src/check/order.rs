//! Rules about `order`.

use crate::diag::{self, Diagnostics};
use crate::policies::{Bulkhead, CircuitBreaker, Policies, RateLimiter, Retry, Row};
use proc_macro2::Ident;

pub(super) fn repeated_in_order(order: Option<&(Ident, Vec<Ident>)>) -> syn::Result<()> {
    let names = order.map(|(_, names)| &names[..]).unwrap_or_default();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            return Err(diag::error(
                name,
                format!("`{name}` is in the order already"),
                "remove one of the two",
            ));
        }
    }
    Ok(())
}

/// The order names exactly the policies that are there, and is one that this version can build.
pub(super) fn order_names_the_policies(
    policies: &Policies,
    key: &Ident,
    order: &[Ident],
) -> syn::Result<()> {
    let present = policies.keys();
    let mut errors = Diagnostics::default();
    for name in order {
        if !present.contains(&name) {
            let wrong = format!("this function has no policy `{name}`");
            let known: Vec<_> = present.iter().map(ToString::to_string).collect();
            let help =
                format!("its policies are {}", diag::listed(known.iter().map(String::as_str)));
            errors.push(diag::error(name, wrong, help));
        }
    }
    for missing in present.iter().filter(|key| !order.contains(key)) {
        let wrong = format!("`order` does not say where `{missing}` goes");
        errors.push(diag::error(key, wrong, format!("`{}`", default_order(policies))));
    }
    if !errors.is_empty() {
        return errors.finish(None);
    }
    if order.len() > present.len() {
        return Ok(()); // `repeated_in_order` speaks of it
    }
    order_not_available(policies, order)
}

/// `retry` and what refuses calls may change places; what limits a call or answers for it may not.
const MOVABLE: [&str; 4] = [Retry::KEY, CircuitBreaker::KEY, RateLimiter::KEY, Bulkhead::KEY];

fn order_not_available(policies: &Policies, order: &[Ident]) -> syn::Result<()> {
    let is_movable = |name: &Ident| MOVABLE.iter().any(|movable| name == movable);
    let differs = |(written, standard): &(&Ident, &Ident)| {
        written != standard && !(is_movable(written) && is_movable(standard))
    };
    match order.iter().zip(policies.keys()).find(differs) {
        None => Ok(()),
        Some((at, _)) => {
            let present = policies.keys();
            let movable = MOVABLE.into_iter().filter(|name| present.iter().any(|key| *key == name));
            let movable: Vec<_> = movable.collect();
            let also = match movable.len() {
                0 | 1 => String::new(),
                _ => format!("; {} may change places", diag::listed(movable)),
            };
            Err(diag::error(
                at,
                "this order is not available in this version",
                format!("`{}`{also}", default_order(policies)),
            ))
        }
    }
}

fn default_order(policies: &Policies) -> String {
    let names: Vec<_> = policies.keys().iter().map(ToString::to_string).collect();
    format!("order = [{}]", names.join(", "))
}
