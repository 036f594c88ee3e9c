//! Lists of `key`, `key = value` and `key(…)`, as every attribute, policy and registry entry has them.
//!
//! Invariant: a bad entry costs itself only. What follows the next comma is read as if nothing had happened.

use crate::diag::{self, Diagnostics};
use crate::values::{Pattern, unknown_word};
use darling::ast::NestedMeta;
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprLit, ExprPath, Lit, Meta, MetaNameValue, Token, token};

/// Keys whose value is a pattern. All others take an expression.
const PATTERNS: [&str; 4] = ["on", "abort", "failure", "ignore"];

/// One entry of a list.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

/// What an [`Entry`] says about its key.
#[derive(Debug)]
pub(crate) enum Value {
    Word,
    Pattern(Pattern),
    Expr(Token![=], Expr),
    List(Group),
}

/// A whole list: literals and paths of two segments or more without a key first, if they are wanted.
#[derive(Default, Debug)]
pub(crate) struct List {
    pub(crate) plain: Vec<Expr>,
    pub(crate) entries: Vec<Entry>,
}

impl Entry {
    pub(crate) fn is(&self, key: &str) -> bool {
        self.key == key
    }

    /// As `darling` reads it.
    fn into_meta(self) -> Meta {
        let path = self.key.into();
        match self.value {
            Value::Word => Meta::Path(path),
            Value::Expr(eq_token, value) => {
                Meta::NameValue(MetaNameValue { path, eq_token, value })
            }
            Value::Pattern(pattern) => Meta::NameValue(MetaNameValue {
                path,
                eq_token: <Token![=]>::default(),
                value: Expr::Verbatim(pattern.into_token_stream()),
            }),
            Value::List(group) => Meta::List(syn::MetaList {
                path,
                delimiter: syn::MacroDelimiter::Paren(token::Paren(group.span())),
                tokens: group.stream(),
            }),
        }
    }

    /// The expression behind `=`; an error that shows `example` where there is none.
    pub(crate) fn expr(self, example: &str) -> syn::Result<Expr> {
        match self.value {
            Value::Expr(_, expr) => Ok(expr),
            _ => Err(shape(&self.key, example)),
        }
    }

    /// The pattern behind `=`; an error that shows an example where there is none.
    pub(crate) fn pattern(self) -> syn::Result<Pattern> {
        match self.value {
            Value::Pattern(pattern) => Ok(pattern),
            _ => Err(shape(&self.key, &format!("{} = Err(MyError::Busy)", self.key))),
        }
    }

    /// An error if something is said about the word.
    pub(crate) fn word(self) -> syn::Result<Ident> {
        match self.value {
            Value::Word => Ok(self.key),
            _ => Err(shape(&self.key, &self.key.to_string())),
        }
    }
}

/// The key is known, but is written in another way.
pub(crate) fn shape(key: &Ident, example: &str) -> syn::Error {
    diag::error(key, format!("`{key}` is written differently"), format!("`{example}`"))
}

impl List {
    /// Reads a whole list.
    pub(crate) fn read(tokens: TokenStream, out: &mut Diagnostics) -> Self {
        let mut list = Self::default();
        let mut parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                if let Err(error) = list.push_next(input) {
                    out.push(error);
                    skip_to_comma(input)?;
                }
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        };
        // The parser reads to the end, whatever comes.
        let end = Parser::parse2(&mut parser, tokens);
        out.take(end);
        list
    }

    fn push_next(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let is_path = input.peek(Token![::]) || input.peek2(Token![::]);
        if (input.peek(Lit) || is_path) && self.entries.is_empty() {
            self.plain.push(input.call(plain)?);
        } else {
            let key = match input.call(Ident::parse_any) {
                Ok(key) => key,
                Err(error) => {
                    let help =
                        "entries are `key`, `key = value` or `key(…)`, with commas between them";
                    return Err(syn::Error::new(
                        error.span(),
                        format!("expected a key\nhelp: {help}"),
                    ));
                }
            };
            let value = value(&key, input)?;
            self.entries.push(Entry { key, value });
        }
        if input.is_empty() || input.peek(Token![,]) {
            return Ok(());
        }
        let next: TokenTree = input.fork().parse()?;
        Err(diag::error(next, "expected a comma before this", "entries are separated by commas"))
    }

    /// Keeps the entries with keys from `known`, once each; all others become errors.
    pub(crate) fn known(self, known: &[&str], later: &[&str], out: &mut Diagnostics) -> Vec<Entry> {
        let mut kept: Vec<Entry> = Vec::new();
        for entry in self.entries {
            let key = entry.key.unraw().to_string();
            if later.contains(&key.as_str()) {
                out.push(not_available(&entry.key));
            } else if !known.contains(&key.as_str()) {
                out.push(unknown_key(&entry.key, known));
            } else if kept.iter().any(|earlier| earlier.is(&key)) {
                out.push(repeated_key(&entry.key));
            } else {
                kept.push(entry);
            }
        }
        kept
    }
}

/// The options as `darling` builds them, and whether these are all that were written: what is wrong with one leaves the
/// others standing.
pub(crate) fn options<T: darling::FromMeta + Default>(
    entries: Vec<Entry>,
    out: &mut Diagnostics,
) -> (T, bool) {
    let written = entries.len();
    let metas = entries.into_iter().map(|entry| NestedMeta::Meta(entry.into_meta()));
    let mut sound = Vec::new();
    for meta in metas {
        match T::from_list(std::slice::from_ref(&meta)) {
            Ok(_) => sound.push(meta),
            Err(errors) => out.push(errors.into()),
        }
    }
    let complete = sound.len() == written;
    // Each was read once already, so that nothing can be wrong with all of them.
    (T::from_list(&sound).unwrap_or_default(), complete)
}

fn value(key: &Ident, input: ParseStream<'_>) -> syn::Result<Value> {
    if input.peek(Token![=]) {
        let eq: Token![=] = input.parse()?;
        if input.is_empty() || input.peek(Token![,]) {
            return Err(diag::error(
                eq,
                format!("`{key}` has no value"),
                "write one behind the `=`",
            ));
        }
        let value = if PATTERNS.contains(&key.to_string().as_str()) {
            input.parse().map(Value::Pattern)
        } else {
            input.parse().map(|expr| Value::Expr(eq, expr))
        };
        // What is missing has no place of its own.
        return value.map_err(|error| if input.is_empty() { unfinished(key, eq) } else { error });
    }
    if input.peek(token::Brace) || input.peek(token::Bracket) {
        let group: TokenTree = input.fork().parse()?;
        return Err(diag::error(
            group,
            format!("what is said about `{key}` stands in parentheses"),
            format!("`{key}(…)`"),
        ));
    }
    if input.peek(token::Paren) {
        return input.step(|cursor| match cursor.token_tree() {
            Some((TokenTree::Group(group), rest)) => Ok((Value::List(group), rest)),
            _ => Err(cursor.error("expected parentheses")),
        });
    }
    Ok(Value::Word)
}

/// A literal or a path, and nothing behind it.
fn plain(input: ParseStream<'_>) -> syn::Result<Expr> {
    if input.peek(Lit) {
        Ok(Expr::Lit(ExprLit { attrs: Vec::new(), lit: input.parse()? }))
    } else {
        Ok(Expr::Path(input.parse::<ExprPath>()?))
    }
}

fn unfinished(key: &Ident, eq: Token![=]) -> syn::Error {
    diag::error(eq, format!("the value of `{key}` is not finished"), "finish it, or remove the key")
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

fn unknown_key(key: &Ident, known: &[&str]) -> syn::Error {
    unknown_word(key, "key", known)
}

fn repeated_key(key: &Ident) -> syn::Error {
    diag::error(key, format!("`{key}` is written twice"), "remove this one or the one before")
}

/// What a later version has.
pub(crate) fn not_available(word: &Ident) -> syn::Error {
    diag::error(word, format!("`{word}` is not available in this version"), "remove it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn read(tokens: TokenStream) -> (Vec<String>, Vec<String>) {
        let mut out = Diagnostics::default();
        let list = List::read(tokens, &mut out);
        let kept = list.known(&["a", "b", "on", "crate"], &["later"], &mut out);
        (kept.into_iter().map(|entry| entry.key.to_string()).collect(), out.messages())
    }

    #[test]
    fn every_shape_of_an_entry_is_read() {
        let (kept, said) =
            read(quote!(a, b = x | y, on = Err(E::A::<B, C>(_)) | None if x > 1, crate = ::r,));
        assert_eq!(kept, ["a", "b", "on", "crate"]);
        assert_eq!(said, [""; 0]);
    }

    #[test]
    fn a_bad_entry_costs_only_itself() {
        let (kept, said) =
            read(quote!(a = , b(1) junk more, on = =, 5 6, a { b }, later = 3, crate));
        assert_eq!(kept, ["b", "crate"]);
        assert!(
            said.contains(&"what is said about `a` stands in parentheses\nhelp: `a(…)`".to_owned())
        );
        let starts: Vec<_> =
            said.iter().map(|said| said.lines().next().unwrap_or_default()).collect();
        assert_eq!(starts[0], "`a` has no value");
        assert_eq!(starts[1], "expected a comma before this");
        assert_eq!(starts.last(), Some(&"`later` is not available in this version"));
    }

    #[test]
    fn unknown_and_repeated_keys_are_named() {
        let (kept, said) = read(quote!(a, a, crat = x));
        assert_eq!(kept, ["a"]);
        assert_eq!(said[0], "`a` is written twice\nhelp: remove this one or the one before");
        assert_eq!(said[1], "unknown key `crat`\nhelp: did you mean `crate`?");
    }
}
