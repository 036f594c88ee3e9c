//! `registry! { kind name { option = value, … } … }`: the policies that functions share.
//!
//! Emits one module a kind, in which each policy is a `static` of its own name. Beside a breaker stands a module of the
//! same name with its options, which the attribute compares with its own at compile time.

use crate::diag::{self, Diagnostics};
use crate::policies::circuit_breaker::{self, Settings, bad_name};
use crate::policies::{self, Row, Rules};
use crate::syntax::{List, not_available};
use crate::values::unknown_word;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, LitStr, token};

/// The kinds of this version, and how an entry is written.
const KINDS: [&str; 1] = [policies::CircuitBreaker::KEY];
const EXAMPLE: &str = "`circuit_breaker gateway { window = 100, failure_rate = \"50%\" }`";

/// A declared breaker.
struct Declared {
    attrs: Vec<Attribute>,
    name: Ident,
    settings: Settings,
}

/// `crate_path` in parentheses, as the wrapper in `resil` puts it, and then the entries.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.into_iter();
    let krate = if let Some(TokenTree::Group(group)) = trees.next() {
        group.stream()
    } else {
        quote!(::resil)
    };
    let mut out = Diagnostics::default();
    let declared = read(trees.collect(), &mut out);
    let mut rules = Rules::new(&[], &mut out);
    for (index, one) in declared.iter().enumerate() {
        one.settings.check(&mut rules);
        rules.must(repeated_name(one, &declared[..index]));
    }
    // What is right is declared all the same, so that one mistake is not another one wherever the names are used.
    let module = module(&krate, &declared, !out.is_empty());
    let errors = out.into_compile_errors();
    quote!(#errors #module)
}

fn read(tokens: TokenStream, out: &mut Diagnostics) -> Vec<Declared> {
    let mut declared = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match entry(input, out) {
                Ok(Some(one)) => declared.push(one),
                Ok(None) => {}
                Err(error) => {
                    out.push(error);
                    skip_to_next(input)?;
                }
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        out.push(error);
    }
    declared
}

/// One entry; nothing if its name or kind is no good.
fn entry(input: ParseStream<'_>, out: &mut Diagnostics) -> syn::Result<Option<Declared>> {
    let attrs = input.call(Attribute::parse_outer)?;
    let kind = input
        .call(Ident::parse_any)
        .map_err(|error| expected(error.span(), "the kind of a policy"))?;
    if kind == "keyed" {
        return Err(not_available(&kind));
    }
    let name = input
        .call(Ident::parse_any)
        .map_err(|_| expected(here(input, &kind), "the name of the policy"))?;
    if !input.peek(token::Brace) {
        return Err(expected(here(input, &name), "the options of the policy in braces"));
    }
    let braces: Group = input.step(|cursor| match cursor.token_tree() {
        Some((TokenTree::Group(group), rest)) => Ok((group, rest)),
        _ => Err(cursor.error("expected braces")),
    })?;
    if let Err(error) = kind_of(&kind) {
        out.push(error);
        return Ok(None);
    }
    let checked = bad_name(&LitStr::new(&name.to_string(), name.span()));
    if out.take(checked).is_none() {
        return Ok(None);
    }
    let list = List::read(braces.stream(), out);
    if let Some(stray) = list.plain.first() {
        out.push(diag::error(stray, "every option has a name", EXAMPLE));
    }
    let entries = list.known(&circuit_breaker::OPTIONS, &circuit_breaker::LATER, out);
    Ok(Some(Declared { attrs, name, settings: Settings::read(entries, out) }))
}

/// The next token, or the last one where nothing follows.
fn here(input: ParseStream<'_>, last: &Ident) -> Span {
    if input.is_empty() { last.span() } else { input.span() }
}

fn expected(at: Span, what: &str) -> syn::Error {
    diag::error_at(at, format!("expected {what}"), EXAMPLE)
}

fn kind_of(kind: &Ident) -> syn::Result<()> {
    let written = kind.unraw().to_string();
    if KINDS.contains(&written.as_str()) {
        Ok(())
    } else if policies::LATER.contains(&written.as_str()) {
        Err(not_available(kind))
    } else if policies::ORDER.contains(&written.as_str()) {
        Err(diag::error(
            kind,
            format!("`{written}` belongs to a function and is not shared"),
            "write it in `#[resilient(…)]`",
        ))
    } else {
        Err(unknown_word(kind, "kind of policy", &KINDS))
    }
}

/// Those that are under a `cfg` may be meant to stand for each other.
fn repeated_name(Declared { attrs, name, .. }: &Declared, earlier: &[Declared]) -> syn::Result<()> {
    let is_conditional = |attrs: &[Attribute]| attrs.iter().any(|attr| attr.path().is_ident("cfg"));
    let same = |one: &Declared| one.name == *name && !is_conditional(&one.attrs);
    if !is_conditional(attrs) && earlier.iter().any(same) {
        let wrong = format!("there is a circuit breaker `{name}` already");
        return Err(diag::error(name, wrong, "another name, or remove one of the two"));
    }
    Ok(())
}

fn skip_to_next(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() {
        let braces = input.peek(token::Brace);
        input.parse::<TokenTree>()?;
        if braces {
            break;
        }
    }
    Ok(())
}

/// The module of the breakers. With errors about, options are left out, lest a bad one is complained of again.
fn module(krate: &TokenStream, declared: &[Declared], faulty: bool) -> TokenStream {
    if declared.is_empty() {
        return TokenStream::new();
    }
    let rt = quote!(#krate::__private);
    let mut seen: Vec<&Ident> = Vec::new();
    let mut statics = TokenStream::new();
    for Declared { attrs, name, settings } in declared {
        let cfgs: Vec<_> = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
        if cfgs.is_empty() && seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let text = name.to_string();
        let text = quote!(#text);
        let defaults = Settings::default();
        let settings = if faulty { &defaults } else { settings };
        let place = name.span();
        let (build, options) =
            (settings.build(&rt, &text, place), settings.options(&rt, &text, place));
        let at = place.resolved_at(Span::mixed_site());
        statics.extend(quote_spanned! {at=>
            #(#attrs)*
            #[allow(non_upper_case_globals)]
            pub static #name: #krate::CircuitBreaker = #build;
            #(#cfgs)*
            #krate::register!(#name);
            #(#cfgs)*
            #[doc(hidden)]
            pub mod #name {
                pub const OPTIONS: ::core::option::Option<#rt::BreakerOptions> =
                    ::core::option::Option::Some(#options);
            }
        });
    }
    let kind = Ident::new(policies::CircuitBreaker::KEY, Span::mixed_site());
    quote! {
        pub mod #kind {
            //! The circuit breakers.
            #statics
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tokens: TokenStream) -> Vec<String> {
        let mut out = Diagnostics::default();
        let declared = read(tokens, &mut out);
        let mut rules = Rules::new(&[], &mut out);
        for (index, one) in declared.iter().enumerate() {
            one.settings.check(&mut rules);
            rules.must(repeated_name(one, &declared[..index]));
        }
        out.messages()
            .iter()
            .map(|said| said.lines().next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn every_mistake_is_said_at_once() {
        let said = said(quote! {
            circuit_breaker gateway { window = 0, min_calls = 200 }
            circuit_breaker Gateway {}
            circuit_breaker gateway { opn_for = "1s" }
            rate_limiter quota { rate = "1/s" }
            circuit_braker other {}
            retry twice {}
            circuit_breaker last { failure_rate = "50%" }
            keyed circuit_breaker tenant[String] {}
        });
        assert_eq!(
            said,
            [
                "`Gateway` is not a policy's name",
                "unknown key `opn_for`",
                "`rate_limiter` is not available in this version",
                "unknown kind of policy `circuit_braker`",
                "`retry` belongs to a function and is not shared",
                "`keyed` is not available in this version",
                "`window` is at least 1",
                "there is a circuit breaker `gateway` already",
            ]
        );
    }
}
