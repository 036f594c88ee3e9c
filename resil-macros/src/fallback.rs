//! From attribute and item to what goes out, whatever happens on the way.
//!
//! Invariant: the user's item always goes out: guarded, or as it came in beside the errors, so that one mistake is one
//! error. A panic of ours is an error too, which asks for a report.

use crate::args::Args;
use crate::check;
use crate::diag::Diagnostics;
use crate::emit;
use crate::plan::Plan;
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `#[resilient(args)] item`.
pub(crate) fn guarded(args: TokenStream, item: &TokenStream) -> TokenStream {
    or_as_it_was(item, || function(args, item.clone()))
}

/// What `expand` makes of it, or the errors and the item as it came in.
pub(crate) fn or_as_it_was(
    item: &TokenStream,
    expand: impl FnOnce() -> Result<TokenStream, Diagnostics>,
) -> TokenStream {
    let errors = match catch_unwind(AssertUnwindSafe(expand)) {
        Ok(Ok(expansion)) => return expansion,
        Ok(Err(errors)) => errors.into_compile_errors(),
        Err(_) => bug(),
    };
    quote!(#errors #item)
}

fn bug() -> TokenStream {
    quote! {
        ::core::compile_error! {
            "this is a bug in resil, please report it together with the attribute and the signature below it"
        }
    }
}

fn function(args: TokenStream, item: TokenStream) -> Result<TokenStream, Diagnostics> {
    let mut out = Diagnostics::default();
    let args = Args::read(args, &mut out);
    let target = out.take(Target::read(item));
    let Some(target) = target else { return Err(out) };
    let understood = out.is_empty();
    let plan = Plan::new(args, target);
    check::present(&plan, &mut out);
    if understood {
        check::absent(&plan, &mut out);
    }
    if out.is_empty() { Ok(emit::function(&plan)) } else { Err(out) }
}
