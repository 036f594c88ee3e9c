//! What the macros say when something is wrong.
//!
//! Invariant: every error stands at the token that it is about, says what is wrong and then, after `help:`, what to
//! write instead. Errors are collected, so that one build shows all of them.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::fmt::Display;

/// One error: `wrong` in lower case without a full stop, `help` with the code to write.
pub(crate) fn error(at: impl ToTokens, wrong: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new_spanned(at, format!("{wrong}\nhelp: {help}"))
}

/// As [`error`], at a place instead of at tokens.
pub(crate) fn error_at(span: Span, wrong: impl Display, help: impl Display) -> syn::Error {
    syn::Error::new(span, format!("{wrong}\nhelp: {help}"))
}

/// The errors of one attribute, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Diagnostics(Option<syn::Error>);

impl Diagnostics {
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value, or nothing and one error more.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value if there was no error. Without an error there is a value.
    pub(crate) fn finish<T>(self, value: Option<T>) -> syn::Result<T> {
        match (self.0, value) {
            (None, Some(value)) => Ok(value),
            (Some(error), _) => Err(error),
            (None, None) => unreachable!("a value is missing only where an error says why"),
        }
    }

    /// As `compile_error!`s; nothing if there was none.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0.map(syn::Error::into_compile_error).unwrap_or_default()
    }

    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.0.iter().flatten().map(|error| error.to_string()).collect()
    }
}

/// The candidate that was probably meant, if one is near enough.
pub(crate) fn closest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = word.chars().count().div_ceil(3);
    let near = |candidate: &&str| distance(word, candidate) <= allowed || is_part(word, candidate);
    among.into_iter().filter(near).min_by_key(|candidate| distance(word, candidate))
}

/// `fail` means `failure_rate`; two letters mean nothing.
fn is_part(word: &str, candidate: &str) -> bool {
    word.len() > 2 && (candidate.starts_with(word) || candidate.split('_').any(|part| part == word))
}

/// How many letters are to be added, removed, replaced or swapped with their neighbour.
///
/// # Source
/// Optimal string alignment, a restriction of F. Damerau's distance (1964).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut least =
                (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// `` `a`, `b` and `c` ``.
pub(crate) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn a_slip_of_the_pen_is_understood_and_a_different_word_is_not() {
        let keys = ["retry", "timeout", "circuit_breaker", "failure_rate", "min_calls"];
        for (typed, meant) in [
            ("retyr", "retry"),
            ("tiemout", "timeout"),
            ("circut_breaker", "circuit_breaker"),
            ("breaker", "circuit_breaker"),
            ("failure", "failure_rate"),
            ("min_call", "min_calls"),
        ] {
            assert_eq!(closest(typed, keys), Some(meant), "{typed}");
        }
        assert_eq!(closest("metrics", keys), None);
        assert_eq!(closest("", keys), None);
    }

    #[test]
    fn all_errors_are_kept_in_order() {
        let mut out = Diagnostics::default();
        assert!(out.is_empty());
        assert_eq!(out.take(Ok(1)), Some(1));
        assert_eq!(out.take::<()>(Err(error(quote!(a), "one", "1"))), None);
        out.push(error(quote!(b), "two", "2"));
        assert_eq!(out.messages(), ["one\nhelp: 1", "two\nhelp: 2"]);
        assert_eq!(out.into_compile_errors().to_string().matches("compile_error").count(), 2);
    }

    #[test]
    fn words_are_listed_as_in_a_sentence() {
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
