//! Rules about `order`.

use crate::diag::{self, Diagnostics};
use crate::policies::{BudgetSettings, Policies, Settings};
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

/// The order names exactly the policies that are there, and leaves those where they are that stand at its ends.
pub(super) fn order_names_the_policies(
    policies: &Policies,
    key: &Ident,
    order: &[Ident],
) -> syn::Result<()> {
    let present = policies.keys();
    let mut errors = Diagnostics::default();
    for name in order {
        if name == BudgetSettings::KIND {
            let wrong = "a retry budget has no place in the order: it belongs to `retry`";
            errors.push(diag::error(name, wrong, "remove it"));
        } else if !present.contains(&name) {
            let wrong = format!("this function has no policy `{name}`");
            let known: Vec<_> = present.iter().map(ToString::to_string).collect();
            let help =
                format!("its policies are {}", diag::listed(known.iter().map(String::as_str)));
            errors.push(diag::error(name, wrong, help));
        }
    }
    for missing in present.iter().filter(|key| !order.contains(key)) {
        let wrong = format!("`order` does not say where `{missing}` goes");
        errors.push(diag::error(key, wrong, format!("`{}`", completed(&present, order))));
    }
    if !errors.is_empty() {
        return errors.finish(None);
    }
    if order.len() > present.len() {
        return Ok(()); // `repeated_in_order` speaks of it
    }
    order_keeps_the_ends(order)
}

/// What is about the whole call stands outside of what is about an attempt, and between them all else is free.
fn order_keeps_the_ends(order: &[Ident]) -> syn::Result<()> {
    let mut kept: Vec<_> = order.iter().collect();
    kept.sort_by_key(|name| end(name).map_or(MIDDLE, |(place, _)| place));
    for (name, kept_there) in order.iter().zip(&kept) {
        if let Some((_, why)) = end(name).filter(|_| name != *kept_there) {
            return Err(diag::error(name, why, format!("`{}`", listed(&kept))));
        }
    }
    Ok(())
}

/// The place of all that may stand in any order.
const MIDDLE: u8 = 2;

/// Where this one stands, and why, if that is at one of the ends.
fn end(name: &Ident) -> Option<(u8, &'static str)> {
    match name.to_string().as_str() {
        "fallback" => Some((0, "`fallback` answers for the whole call: it stands outermost")),
        "deadline" => Some((
            1,
            "`deadline` is the time of the whole call: only `fallback` stands outside of it",
        )),
        "timeout" => {
            Some((3, "`timeout` is the time of one attempt, gates excluded: it stands innermost"))
        }
        _ => None,
    }
}

/// The order as it is written, with what is missing before what it is outside of by default.
fn completed(present: &[&Ident], order: &[Ident]) -> String {
    let mut names: Vec<_> = order.iter().filter(|name| present.contains(name)).collect();
    for (index, missing) in present.iter().enumerate() {
        if !names.contains(missing) {
            let inside = &present[index + 1..];
            let before = names.iter().position(|name| inside.contains(name));
            names.insert(before.unwrap_or(names.len()), missing);
        }
    }
    listed(&names)
}

fn listed(names: &[&Ident]) -> String {
    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
    format!("order = [{}]", names.join(", "))
}
