//! The body of a function, token for token.
//!
//! Invariant: nothing of it is parsed, so that what is still being typed survives, each token with its span.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::ext::IdentExt;

/// What stands between the braces.
pub(crate) struct Body {
    /// `#![…]` at its beginning.
    pub(crate) inner_attrs: TokenStream,
    /// Items before the first statement. Whatever is put before the rest stays behind them, where clippy wants it.
    pub(crate) items: TokenStream,
    /// The rest.
    pub(crate) tokens: TokenStream,
    /// Of the braces.
    pub(crate) span: Span,
    /// Every identifier, those in format strings too.
    mentions: HashSet<String>,
}

impl Body {
    pub(crate) fn new(braces: &Group) -> Self {
        let trees: Vec<_> = braces.stream().into_iter().collect();
        let mut mentions = HashSet::new();
        mention(braces.stream(), &mut mentions);
        let attrs = 3 * trees.chunks_exact(3).take_while(|three| is_inner_attr(three)).count();
        let items = attrs + leading_items(&trees[attrs..]);
        let part = |range: std::ops::Range<usize>| trees[range].iter().cloned().collect();
        Self {
            inner_attrs: part(0..attrs),
            items: part(attrs..items),
            tokens: part(items..trees.len()),
            span: braces.span(),
            mentions,
        }
    }

    /// Whether the body names this variable. It may say yes too often, never no.
    pub(crate) fn mentions(&self, name: &Ident) -> bool {
        self.mentions.contains(&name.unraw().to_string())
    }
}

/// Whether these tokens name this variable. It may say yes too often, never no.
pub(crate) fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    let mut mentioned = HashSet::new();
    mention(tokens, &mut mentioned);
    mentioned.contains(&name.unraw().to_string())
}

fn is_punct(tree: &TokenTree, c: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == c)
}

fn is_group(tree: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == delimiter)
}

fn is_inner_attr(three: &[TokenTree]) -> bool {
    is_punct(&three[0], '#') && is_punct(&three[1], '!') && is_group(&three[2], Delimiter::Bracket)
}

/// How many tokens at the beginning are whole items. What is not clearly an item ends the search.
fn leading_items(trees: &[TokenTree]) -> usize {
    let mut end = 0;
    while let Some(length) = item(&trees[end..]) {
        end += length;
    }
    end
}

/// The length of the item that the tokens begin with.
fn item(trees: &[TokenTree]) -> Option<usize> {
    let mut at = 0;
    while is_punct(trees.get(at)?, '#') && is_group(trees.get(at + 1)?, Delimiter::Bracket) {
        at += 2;
    }
    let is_modifier = |tree: &TokenTree| {
        let word = tree.to_string();
        matches!(word.as_str(), "pub" | "async" | "unsafe" | "extern")
            || is_group(tree, Delimiter::Parenthesis)
            || matches!(tree, TokenTree::Literal(_))
    };
    let modifiers = at;
    while is_modifier(trees.get(at)?) {
        at += 1;
    }
    let (word, next) = (trees.get(at)?.to_string(), trees.get(at + 1)?);
    let to_semicolon = |tree: &TokenTree| is_punct(tree, ';');
    let to_braces = |tree: &TokenTree| is_group(tree, Delimiter::Brace);
    let ends: &dyn Fn(&TokenTree) -> bool = match word.as_str() {
        "const" if next.to_string() == "fn" => &to_braces,
        "use" | "const" | "static" | "type"
            if matches!(next, TokenTree::Ident(_) | TokenTree::Punct(_)) =>
        {
            &to_semicolon
        }
        "fn" | "enum" | "impl" | "mod" | "trait" if !is_group(next, Delimiter::Brace) => &to_braces,
        "struct" => &|tree| to_semicolon(tree) || to_braces(tree),
        "macro_rules" if at == modifiers && is_punct(next, '!') => &to_braces,
        _ => return None,
    };
    Some(
        at + 1
            + (0..trees.len() - at)
                .find(|&end| ends(&trees[at + end]) && !is_argument(&trees[at..], end))?,
    )
}

/// Whether the braces at `index` are between `<` and `>`: `impl Trait<{ 1 + 1 }> for Type`.
fn is_argument(trees: &[TokenTree], index: usize) -> bool {
    if !is_group(&trees[index], Delimiter::Brace) {
        return false;
    }
    let mut depth = 0;
    for (at, tree) in trees[..index].iter().enumerate() {
        let arrow = at
            .checked_sub(1)
            .is_some_and(|at| is_punct(&trees[at], '-') || is_punct(&trees[at], '='));
        if is_punct(tree, '<') {
            depth += 1;
        } else if is_punct(tree, '>') && !arrow {
            depth -= 1;
        }
    }
    depth > 0
}

fn mention(tokens: TokenStream, into: &mut HashSet<String>) {
    let trees: Vec<_> = tokens.into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(ident) if !is_member(&trees, at) => {
                into.insert(ident.unraw().to_string());
            }
            TokenTree::Group(group) => mention(group.stream(), into),
            TokenTree::Literal(literal) => mention_in_format(&literal.to_string(), into),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Whether the identifier names a field, a method or part of a path, and so no variable.
fn is_member(trees: &[TokenTree], at: usize) -> bool {
    let is = |back: usize, c| at.checked_sub(back).is_some_and(|at| is_punct(&trees[at], c));
    let after = |ahead: usize, c| trees.get(at + ahead).is_some_and(|tree| is_punct(tree, c));
    let behind_dot = is(1, '.') && !is(2, '.');
    behind_dot || (is(1, ':') && is(2, ':')) || (after(1, ':') && after(2, ':'))
}

/// The names behind each `{` of a format string, and before each `$` in it.
fn mention_in_format(literal: &str, into: &mut HashSet<String>) {
    let is_name = |c: char| c == '_' || c.is_alphanumeric();
    for (at, _) in literal.match_indices(['{', '$', ':', '.']) {
        let after = literal[at + 1..].split(|c: char| !is_name(c)).next().unwrap_or_default();
        into.insert(after.to_owned());
    }
    for (at, _) in literal.match_indices('$') {
        let before = literal[..at].rsplit(|c: char| !is_name(c)).next().unwrap_or_default();
        into.insert(before.to_owned());
    }
    into.remove("");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::TokenStream;
    use quote::{format_ident, quote};

    fn body(tokens: TokenStream) -> Body {
        Body::new(&Group::new(Delimiter::Brace, tokens))
    }

    #[test]
    fn items_are_told_from_statements() {
        for (tokens, items) in [
            (
                quote! { use a::{b, c}; const N: u8 = { 1 }; let x = 1; },
                "use a :: { b , c } ; const N : u8 = { 1 } ;",
            ),
            (
                quote! { #[cfg(x)] pub(crate) async fn f<T>() -> [T; 2] {} f() },
                "# [cfg (x)] pub (crate) async fn f < T > () -> [T ; 2] { }",
            ),
            (
                quote! { struct A; struct B { b: u8 } struct C(u8); A },
                "struct A ; struct B { b : u8 } struct C (u8) ;",
            ),
            (quote! { macro_rules! m { () => {} } m!() }, "macro_rules ! m { () => { } }"),
            (
                quote! { const fn f() {} static S: u8 = 1; S },
                "const fn f () { } static S : u8 = 1 ;",
            ),
            (
                quote! { fn f<T>() -> A<{ 2 }> where T: Copy, { A } impl T<{ 1 }> for L {} f() },
                "fn f < T > () -> A < { 2 } > where T : Copy , { A } impl T < { 1 } > for L { }",
            ),
            (quote! { unsafe { f() }; struct A; }, ""),
            (quote! { async { f() }.await }, ""),
            (quote! { const { f() }; }, ""),
            (quote! { let x = 1; use a::b; }, ""),
            (quote! { (a, b) }, ""),
            (quote! { use a::b }, ""),
            (quote! { fn re }, ""),
        ] {
            assert_eq!(body(tokens).items.to_string(), items);
        }
    }

    #[test]
    fn inner_attributes_are_split_off() {
        let body = body(quote!(#![allow(unused)] #![warn(dead_code)] fn f() {} 1));
        assert_eq!(body.inner_attrs.to_string(), "# ! [allow (unused)] # ! [warn (dead_code)]");
        assert_eq!(body.items.to_string(), "fn f () { }");
        assert_eq!(body.tokens.to_string(), "1");
    }

    #[test]
    fn names_are_found_in_format_strings_too() {
        let body = body(quote! { f(a.b, r#type); println!("{c} {d:?} {0:>e$} {:.f$} {{g}}", "h") });
        for name in ["a", "type", "c", "d", "e", "f"] {
            assert!(body.mentions(&format_ident!("{name}")), "{name}");
        }
        assert!(!body.mentions(&format_ident!("h")));
    }

    #[test]
    fn fields_methods_and_paths_are_no_variables() {
        let body = body(quote! { x.field.method(); module::function::<T>(); ..range; a..=b });
        for name in ["x", "range", "a", "b"] {
            assert!(body.mentions(&format_ident!("{name}")), "{name}");
        }
        for name in ["field", "method", "module", "function"] {
            assert!(!body.mentions(&format_ident!("{name}")), "{name}");
        }
    }
}
