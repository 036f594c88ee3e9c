//! The macros of `resil`: the attribute, the registry and the derive. Tokens in, tokens out.
//!
//! Stages, each of which imports only earlier ones:
//!
//! ```text
//! diag, values, syntax, policies  ←  args, body, target  ←  plan  ←  check  ←  emit
//! ```
//!
//! Nothing is parsed in `check`, decided in `emit` or refused in `plan`. On error the user's item goes out as it came
//! in, beside the errors.

mod args;
mod body;
mod check;
mod classify;
mod diag;
mod emit;
mod fallback;
mod plan;
mod policies;
mod registry;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod stages;
mod syntax;
mod target;
mod values;

use proc_macro::TokenStream;

/// Guards a function by the policies that are named in the parentheses.
#[proc_macro_attribute]
pub fn resilient(args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::guarded(args.into(), &item.into()).into()
}

/// Behind `resil::registry!`, which adds the path of `resil` in front.
#[doc(hidden)]
#[proc_macro]
pub fn __registry(tokens: TokenStream) -> TokenStream {
    let nothing = proc_macro2::TokenStream::new();
    fallback::or_as_it_was(&nothing, || Ok(registry::expand(tokens.into()))).into()
}

/// Says what the variants of an error mean to the policies.
#[proc_macro_derive(Classify, attributes(resil))]
pub fn classify(input: TokenStream) -> TokenStream {
    let nothing = proc_macro2::TokenStream::new();
    fallback::or_as_it_was(&nothing, || Ok(classify::expand(input.into()))).into()
}
