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

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;
    use std::str::FromStr;

    fn flat(tokens: &TokenStream) -> String {
        tokens.to_string().split_whitespace().collect()
    }

    /// Bodies as an editor hands them over while they are typed: groups are closed, nothing else is finished.
    const HALF_TYPED: [&str; 9] = [
        "let x = self.",
        "foo()",
        "let",
        "match x {}",
        "fn re",
        "",
        "client.send(order).",
        "use std::",
        "if let Some(x) = ",
    ];

    #[test]
    fn mc24_a_half_typed_body_goes_out_as_it_is() {
        for typed in HALF_TYPED {
            let body = TokenStream::from_str(typed).expect("groups are closed");
            for asyncness in [quote!(), quote!(async)] {
                for policies in [
                    quote!(retry(max = 3)),
                    quote!(circuit_breaker = "gateway", retry, fallback = |_| Ok(0)),
                ] {
                    let item = quote!(pub #asyncness fn f(&self, x: u8) -> Result<u8, E> { #body });
                    let expanded = flat(&guarded(policies, &item));
                    assert!(expanded.contains(&flat(&body)), "{typed}: {expanded}");
                    assert!(
                        expanded.contains("fnf(&self,") && expanded.contains("x:u8)->Result<u8,E>"),
                        "{expanded}"
                    );
                    assert!(!expanded.contains("compile_error"), "{typed}: {expanded}");
                }
            }
        }
    }

    #[test]
    fn mc24_a_bad_attribute_leaves_the_item_as_it_was() {
        let item = quote!(#[doc = "d"] async fn f(mut a: Vec<u8>) -> u8 { let x = a. });
        for arguments in [quote!(retry(ma), nothing), quote!(timeout = 200), quote!(retry(max = 0))]
        {
            let out = flat(&guarded(arguments, &item));
            assert!(out.ends_with(&flat(&item)), "{out}");
            assert!(out.starts_with("::core::compile_error!"), "{out}");
        }
    }

    #[test]
    fn mc24_what_is_no_function_yet_goes_out_beside_one_error() {
        for item in [
            "fn",
            "pub async fn f",
            "fn f()",
            "impl X { fn f() {} }",
            "struct S;",
            "",
            "fn f() -> {}",
        ] {
            let item = TokenStream::from_str(item).expect("groups are closed");
            let out = flat(&guarded(quote!(retry), &item));
            assert!(out.ends_with(&flat(&item)), "{out}");
            assert_eq!(out.matches("compile_error").count(), 1, "{out}");
        }
    }

    #[test]
    fn a_panic_of_ours_asks_for_a_report() {
        let item = quote!(
            fn f() {}
        );
        let out = or_as_it_was(&item, || panic!("this test makes it panic"));
        assert!(out.to_string().contains("this is a bug in resil, please report"));
        assert!(flat(&out).ends_with("fnf(){}"));
    }
}
