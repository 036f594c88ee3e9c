//! What is matched against the outcome of an attempt: `Err(PayError::Io(_))`, `Ok(r) if r.is_stale()`.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Pat, Token};

/// A Rust pattern with an optional guard.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pat: Pat,
    guard: Option<(Token![if], Expr)>,
}

impl Parse for Pattern {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(token) => Some((token, input.parse()?)),
            None => None,
        };
        Ok(Self { pat, guard })
    }
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
    fn equality_is_that_of_the_text() {
        let a: Pattern = parse_quote!(Err(E::Io(_)));
        assert!(a.equals(&parse_quote!(Err(E::Io(_)))));
        assert!(!a.equals(&parse_quote!(Err(E::Io(_)) if true)));
    }
}
