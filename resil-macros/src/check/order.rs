//! Rules about `order`.

use crate::diag::{self, Diagnostics};
use crate::policies::Policies;
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
        errors.push(diag::error(key, wrong, format!("`{}`", default_order(policies, false))));
    }
    if !errors.is_empty() {
        return errors.finish(None);
    }
    if order.len() > present.len() {
        return Ok(()); // `repeated_in_order` speaks of it
    }
    order_not_available(policies, order)
}

fn order_not_available(policies: &Policies, order: &[Ident]) -> syn::Result<()> {
    let written: Vec<_> = order.iter().map(ToString::to_string).collect();
    let standard = default_order(policies, false);
    let swapped = default_order(policies, true);
    let text = format!("order = [{}]", written.join(", "));
    if text == standard || text == swapped {
        return Ok(());
    }
    let at = order.iter().zip(policies.keys()).find(|(written, standard)| written != standard);
    let at = at.map_or(&order[0], |(written, _)| written);
    let also = if swapped == standard { String::new() } else { format!(", or `{swapped}`") };
    Err(diag::error(
        at,
        "this order is not available in this version",
        format!("`{standard}`{also}"),
    ))
}

/// The default order, or the one with the breaker around all attempts.
fn default_order(policies: &Policies, swapped: bool) -> String {
    let mut names: Vec<_> = policies.keys().iter().map(ToString::to_string).collect();
    let at = |name: &str, names: &[String]| names.iter().position(|known| known == name);
    if let (true, Some(retry), Some(breaker)) =
        (swapped, at("retry", &names), at("circuit_breaker", &names))
    {
        names.swap(retry, breaker);
    }
    format!("order = [{}]", names.join(", "))
}
