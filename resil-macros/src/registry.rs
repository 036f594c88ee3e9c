//! `registry! { kind name { option = value, … } … }`: the policies that functions share.
//!
//! Emits one module a kind, in which each policy is a `static` of its own name. Beside each stands a module of the same
//! name with its options, which the attribute compares with its own at compile time.

use crate::diag::{self, Diagnostics};
use crate::policies::source::{self, bad_name};
use crate::policies::{
    self, BreakerSettings, BudgetSettings, BulkheadSettings, KINDS, LimiterSettings, Rules,
    Settings,
};
use crate::syntax::{Entry, List, not_available};
use crate::values::unknown_word;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, LitStr, Token, token};

/// A declared policy.
struct Declared {
    attrs: Vec<Attribute>,
    kind: &'static str,
    name: Ident,
    /// As it was written.
    written: Tokens,
    /// With the options left out, lest a bad one is complained of again.
    stand_in: Tokens,
}

/// What is emitted of a policy: its types, and what builds it and its options.
struct Tokens {
    ty: Ident,
    options_ty: Ident,
    build: TokenStream,
    options: TokenStream,
}

impl Tokens {
    fn of<S: Settings>(settings: &S, rt: &TokenStream, name: &Ident) -> Self {
        let (text, place) = (name.to_string(), name.span());
        let text = quote!(#text);
        Self {
            ty: Ident::new(S::TYPE, Span::call_site()),
            options_ty: Ident::new(S::OPTIONS_TYPE, Span::call_site()),
            build: settings.build(rt, &text, place),
            options: settings.options(rt, &text, place),
        }
    }
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
    let declared = read(trees.collect(), &krate, &mut out);
    // What is right is declared all the same, so that one mistake is not another one wherever the names are used.
    let modules = modules(&krate, &declared, !out.is_empty());
    let errors = out.into_compile_errors();
    quote!(#errors #modules)
}

fn read(tokens: TokenStream, krate: &TokenStream, out: &mut Diagnostics) -> Vec<Declared> {
    let mut declared: Vec<Declared> = Vec::new();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            match entry(input, krate, out) {
                Ok(Some(one)) => {
                    out.take(repeated_name(&one, &declared));
                    declared.push(one);
                }
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
fn entry(
    input: ParseStream<'_>,
    krate: &TokenStream,
    out: &mut Diagnostics,
) -> syn::Result<Option<Declared>> {
    let attrs = input.call(Attribute::parse_outer)?;
    if input.peek(Token![,]) || input.peek(Token![;]) {
        let between: TokenTree = input.parse()?;
        out.push(diag::error(between, "nothing stands between two policies", "remove it"));
        return Ok(None);
    }
    let kind = input
        .call(Ident::parse_any)
        .map_err(|error| expected(error.span(), "the kind of a policy", None))?;
    if kind == "keyed" {
        return Err(not_available(&kind));
    }
    let name = input
        .call(Ident::parse_any)
        .map_err(|_| expected(here(input, &kind), "the name of the policy", Some(&kind)))?;
    if !input.peek(token::Brace) {
        let what = "the options of the policy in braces";
        return Err(expected(here(input, &name), what, Some(&kind)));
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
    let rest = Rest { attrs, name, list: List::read(braces.stream(), out), krate };
    Ok(match kind.unraw().to_string().as_str() {
        BreakerSettings::KIND => Some(rest.of::<BreakerSettings>(out)),
        LimiterSettings::KIND => Some(rest.of::<LimiterSettings>(out)),
        BulkheadSettings::KIND => Some(rest.of::<BulkheadSettings>(out)),
        BudgetSettings::KIND => Some(rest.of::<BudgetSettings>(out)),
        _ => None,
    })
}

/// What of an entry is left when its kind is known.
struct Rest<'a> {
    attrs: Vec<Attribute>,
    name: Ident,
    list: List,
    krate: &'a TokenStream,
}

impl Rest<'_> {
    fn of<S: Settings>(self, out: &mut Diagnostics) -> Declared {
        let Self { attrs, name, mut list, krate } = self;
        if let Some(stray) = list.plain.first() {
            out.push(diag::error(stray, "every option has a name", format!("`{}`", S::EXAMPLE)));
        }
        let of_call = |entry: &mut Entry| S::CALL.iter().any(|key| entry.is(key));
        for entry in list.entries.extract_if(.., of_call) {
            out.push(belongs_to_a_call(S::KIND, &name, &entry.key));
        }
        let (settings, _) = source::settings::<S>(list, &[], out);
        settings.check(&name, &mut Rules::new(&[], out));
        let rt = quote!(#krate::__private);
        let written = Tokens::of(&settings, &rt, &name);
        let stand_in = Tokens::of(&S::stand_in(), &rt, &name);
        Declared { attrs, kind: S::KIND, name, written, stand_in }
    }
}

fn belongs_to_a_call(kind: &str, name: &Ident, option: &Ident) -> syn::Error {
    diag::error(
        option,
        format!("`{option}` belongs to a call, not to what calls share"),
        format!("`#[resilient({kind}(\"{name}\", {option} = …))]` on the function"),
    )
}

/// The next token, or the last one where nothing follows.
fn here(input: ParseStream<'_>, last: &Ident) -> Span {
    if input.is_empty() { last.span() } else { input.span() }
}

fn expected(at: Span, what: &str, kind: Option<&Ident>) -> syn::Error {
    let examples = [
        BreakerSettings::EXAMPLE,
        LimiterSettings::EXAMPLE,
        BulkheadSettings::EXAMPLE,
        BudgetSettings::EXAMPLE,
    ];
    let kind = kind.map(ToString::to_string);
    let of_kind = |example: &&str| kind.as_ref().is_some_and(|kind| example.starts_with(&**kind));
    let example = examples.into_iter().find(of_kind).unwrap_or(examples[0]);
    diag::error_at(at, format!("expected {what}"), format!("`{example}`"))
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
fn repeated_name(one: &Declared, earlier: &[Declared]) -> syn::Result<()> {
    let Declared { attrs, kind, name, .. } = one;
    let is_conditional = |attrs: &[Attribute]| attrs.iter().any(|attr| attr.path().is_ident("cfg"));
    let same =
        |one: &Declared| one.kind == *kind && one.name == *name && !is_conditional(&one.attrs);
    if !is_conditional(attrs) && earlier.iter().any(same) {
        let wrong = format!("there is a `{kind}` called `{name}` already");
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

/// A module for each kind of which there is one.
fn modules(krate: &TokenStream, declared: &[Declared], faulty: bool) -> TokenStream {
    let modules = KINDS.iter().filter_map(|kind| {
        let of_kind: Vec<_> = declared.iter().filter(|one| one.kind == *kind).collect();
        (!of_kind.is_empty()).then(|| module(krate, kind, &of_kind, faulty))
    });
    quote!(#(#modules)*)
}

fn module(krate: &TokenStream, kind: &str, declared: &[&Declared], faulty: bool) -> TokenStream {
    let rt = quote!(#krate::__private);
    let mut seen: Vec<&Ident> = Vec::new();
    let mut statics = TokenStream::new();
    for Declared { attrs, name, written, stand_in, .. } in declared {
        let cfgs: Vec<_> = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
        if cfgs.is_empty() && seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let Tokens { ty, options_ty, build, options } = if faulty { stand_in } else { written };
        let at = name.span().resolved_at(Span::mixed_site());
        statics.extend(quote_spanned! {at=>
            #(#attrs)*
            #[allow(non_upper_case_globals)]
            pub static #name: #krate::#ty = #build;
            #(#cfgs)*
            #krate::register!(#name);
            #(#cfgs)*
            #[doc(hidden)]
            pub mod #name {
                pub const OPTIONS: ::core::option::Option<#rt::#options_ty> =
                    ::core::option::Option::Some(#options);
            }
        });
    }
    let docs = format!(" The {}s.", kind.replace('_', " "));
    let kind = Ident::new(kind, Span::mixed_site());
    quote! {
        pub mod #kind {
            #![doc = #docs]
            #statics
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tokens: TokenStream) -> Vec<String> {
        let mut out = Diagnostics::default();
        read(tokens, &quote!(::resil), &mut out);
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
            rate_limiter gateway { rate = "1/s" }
            rate_limiter quota { burst = 5 }
            bulkhead pool { max_concurrent = 5, queue = 5 }
            bulkhead pool { max_concurrent = 5 }
            retry_budget budget { ratio = 20 }
            rate_limiter costly { rate = "1/s", cost = 5 }
            adaptive_limit later {}
            circuit_braker other {}
            retry twice {}
            circuit_breaker last { failure_rate = "50%" }
            keyed circuit_breaker tenant[String] {}
        });
        assert_eq!(
            said,
            [
                "`window` is at least 1",
                "`Gateway` is not a policy's name",
                "unknown key `opn_for`",
                "there is a `circuit_breaker` called `gateway` already",
                "a limiter without a rate limits nothing, and no rate is a safe guess",
                "`queue` does nothing without `wait`: nobody waits",
                "there is a `bulkhead` called `pool` already",
                "`20` may be a percentage or a fraction",
                "`cost` belongs to a call, not to what calls share",
                "`adaptive_limit` is not available in this version",
                "unknown kind of policy `circuit_braker`",
                "`retry` belongs to a function and is not shared",
                "`keyed` is not available in this version",
            ]
        );
    }
}
