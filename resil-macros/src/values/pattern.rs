//! What is matched against the outcome of an attempt: `Err(PayError::Io(_))`, `Ok(r) if r.is_stale()`.

use crate::diag;
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Pat, PatIdent, Token};

/// A Rust pattern with an optional guard.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pat: Pat,
    guard: Option<(Token![if], Expr)>,
}

impl Parse for Pattern {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        not_a_closure(input)?;
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(token) => Some((token, input.parse()?)),
            None => None,
        };
        Ok(Self { pat, guard })
    }
}

/// `|e| …` would be read as a pattern that binds `e`, and then as nonsense.
fn not_a_closure(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    let Ok(bar) = ahead.parse::<Token![|]>() else { return Ok(()) };
    let binds = match Pat::parse_single(&ahead) {
        Ok(Pat::Ident(name)) => is_binding(&name),
        Ok(Pat::Wild(_)) => true,
        _ => false,
    };
    if binds && ahead.peek(Token![|]) {
        let help = "the outcome itself is matched: `Err(e) if e.is_transient()`";
        return Err(diag::error(bar, "this takes a pattern, not a closure", help));
    }
    Ok(())
}

/// Whether this names the value, instead of a constant to compare it with.
fn is_binding(name: &PatIdent) -> bool {
    name.subpat.is_none()
        && name.ident.to_string().starts_with(|c: char| c.is_lowercase() || c == '_')
}

/// As it stands left of `=>`.
impl ToTokens for Pattern {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.pat.to_tokens(tokens);
        if let Some((token, guard)) = &self.guard {
            token.to_tokens(tokens);
            guard.to_tokens(tokens);
        }
    }
}

impl Pattern {
    /// The name that is all there is to this pattern, so that it matches everything.
    pub(crate) fn mere_name(&self) -> Option<&Ident> {
        match (&self.pat, &self.guard) {
            (Pat::Ident(name), None) if is_binding(name) => Some(&name.ident),
            _ => None,
        }
    }

    /// Whether both are the same text.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.to_token_stream().to_string() == other.to_token_stream().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn what_stands_left_of_an_arm_is_a_pattern() {
        let same =
            |pattern: Pattern, text: &str| assert_eq!(pattern.to_token_stream().to_string(), text);
        same(parse_quote!(Err(E::Io(_) | E::Slow)), "Err (E :: Io (_) | E :: Slow)");
        same(parse_quote!(|None| Some(0)), "| None | Some (0)");
        same(parse_quote!(Ok(r) if r.status >= 500), "Ok (r) if r . status >= 500");
        same(parse_quote!(_), "_");
    }

    #[test]
    fn a_closure_is_no_pattern_and_a_name_alone_is_hardly_one() {
        for closure in ["|e| e.is_io()", "|_| true", "|error| true"] {
            let said = syn::parse_str::<Pattern>(closure).expect_err(closure).to_string();
            assert!(said.starts_with("this takes a pattern, not a closure"), "{said}");
        }
        let mere = |text: &str| {
            syn::parse_str::<Pattern>(text).map(|pattern| pattern.mere_name().is_some())
        };
        assert!(matches!(mere("is_transient"), Ok(true)));
        for text in ["None", "_", "e if e.is_err()", "Err(e)", "x @ Some(_)", "|None| Some(0)"] {
            assert!(matches!(mere(text), Ok(false)), "{text}");
        }
    }

    #[test]
    fn equality_is_that_of_the_text() {
        let a: Pattern = parse_quote!(Err(E::Io(_)));
        assert!(a.equals(&parse_quote!(Err(E::Io(_)))));
        assert!(!a.equals(&parse_quote!(Err(E::Io(_)) if true)));
    }
}
