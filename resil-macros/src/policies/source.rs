//! Where a policy is that functions share: in the registry, behind a path, or in the function itself.
//!
//! Invariant: how a shared policy is named, and in which words a wrong name is refused, is the same for every kind.

use super::Rules;
use crate::diag::{self, Diagnostics};
use crate::syntax::{self, Entry, List, Value};
use crate::values::bare;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit, ExprPath, Lit, LitStr, Path};

/// A kind of policy that functions share, and what one of that kind is set to.
pub(crate) trait Settings: Sized {
    /// Its name in a registry.
    const KIND: &'static str;
    /// Its type in the core.
    const TYPE: &'static str;
    /// The type of its options in the core.
    const OPTIONS_TYPE: &'static str;
    /// A declaration in a registry.
    const EXAMPLE: &'static str;
    /// The options, inline or in a registry.
    const OPTIONS: &'static [&'static str];
    /// What belongs to a call, and never to a declaration.
    const CALL: &'static [&'static str];
    /// The options of later versions.
    const LATER: &'static [&'static str];

    /// What options are called elsewhere, and what to write here.
    const ELSEWHERE: &'static [(&'static str, &'static str)];

    /// From the entries of a list whose keys are all among the options.
    fn read(entries: Vec<Entry>, out: &mut Diagnostics) -> Self;

    /// Something else was written that could not be read: what seems to be missing may be that.
    fn set_incomplete(&mut self);

    /// What a literal in the place of a name is meant as.
    fn meant(_literal: &Lit) -> Option<String> {
        None
    }

    /// What stands in for a declaration that something is wrong with.
    fn stand_in() -> Self;

    /// The rules that need nothing but these options; what is missing is said at `key`.
    fn check(&self, key: &Ident, rules: &mut Rules<'_>);

    /// The calls on the core's builder, each with its dot; `rt` is where the core's types are.
    fn setters(&self, rt: &TokenStream) -> Vec<TokenStream>;

    /// The const expression that builds it; the catalogue shows `at` as its place.
    fn build(&self, rt: &TokenStream, name: &TokenStream, at: Span) -> TokenStream {
        let builder = builder(self, rt, name, at);
        quote!(#builder.build())
    }

    /// The const expression of its options, for rules that compare two policies.
    fn options(&self, rt: &TokenStream, name: &TokenStream, at: Span) -> TokenStream {
        let builder = builder(self, rt, name, at);
        quote!(#builder.options())
    }
}

fn builder<S: Settings>(
    settings: &S,
    rt: &TokenStream,
    name: &TokenStream,
    at: Span,
) -> TokenStream {
    let ty = Ident::new(S::TYPE, Span::call_site());
    let ours = format_ident!("__Resil{}", S::TYPE);
    let setters = settings.setters(rt);
    // The whole call stands at `at`, and the path of ours does not: so the builder sees that place as its caller's.
    let builder = quote_spanned!(at=> #ours::builder(#name));
    quote!({
        use #rt::#ty as #ours;
        #builder #(#setters)*
    })
}

/// A policy that is declared elsewhere.
#[derive(Clone, Debug)]
pub(crate) enum Shared {
    /// In the registry, under this name, spanned where it was written.
    Named(Ident),
    /// Behind this path of two segments or more.
    Path(Path),
}

/// Where the policy of a function is.
#[derive(Debug)]
pub(crate) enum Source<S> {
    Shared(Shared),
    /// In the function itself.
    Inline(Box<S>),
}

/// What is set in a list. What is neither an option of this kind nor in `own` becomes an error; the entries in `own` come
/// back.
pub(crate) fn settings<S: Settings>(
    mut list: List,
    own: &[&str],
    out: &mut Diagnostics,
) -> (S, Vec<Entry>) {
    let written = list.entries.len() + list.plain.len();
    list.entries.retain(|entry| match S::ELSEWHERE.iter().find(|(word, _)| entry.is(word)) {
        Some((word, meant)) => {
            let wrong = format!("a `{}` has no `{word}`", S::KIND);
            out.push(diag::error(&entry.key, wrong, format!("`{meant}`")));
            false
        }
        None => true,
    });
    let known: Vec<_> = S::OPTIONS.iter().chain(own).copied().collect();
    let entries = list.known(&known, S::LATER, out);
    let complete = entries.len() == written;
    let is_own = |entry: &Entry| own.iter().any(|key| entry.is(key));
    let (own, options) = entries.into_iter().partition(is_own);
    let mut settings = S::read(options, out);
    if !complete {
        settings.set_incomplete();
    }
    (settings, own)
}

impl<S: Settings> Source<S> {
    /// Reads what is behind the key of a policy that may be shared. The entries that belong to a call come back: what they
    /// say is about this function, whosever the policy is.
    pub(crate) fn read(
        key: &Ident,
        value: Value,
        out: &mut Diagnostics,
    ) -> Option<(Self, Vec<Entry>)> {
        let mut list = match value {
            Value::Word => List::default(),
            Value::Expr(_, expr) => {
                let shared = out.take(shared::<S>(key, &expr))?;
                return Some((Self::Shared(shared), vec![]));
            }
            Value::Pattern(_) => return None,
            Value::List(group) => List::read(group.stream(), out),
        };
        let name = out.take(first_name::<S>(key, &mut list))?;
        let Some(shared) = name else {
            let (settings, own) = settings(list, S::CALL, out);
            return Some((Self::Inline(Box::new(settings)), own));
        };
        let is_option = |entry: &&Entry| S::OPTIONS.iter().any(|option| entry.is(option));
        if let Some(option) = list.entries.iter().find(is_option) {
            out.push(named_and_inline(key, &option.key));
            return None;
        }
        Some((Self::Shared(shared), list.known(S::CALL, S::LATER, out)))
    }

    pub(crate) fn inline(&self) -> Option<&S> {
        match self {
            Self::Inline(settings) => Some(settings),
            Self::Shared(_) => None,
        }
    }

    pub(crate) fn shared(&self) -> Option<&Shared> {
        match self {
            Self::Shared(shared) => Some(shared),
            Self::Inline(_) => None,
        }
    }

    /// The rules of what is set inline.
    pub(crate) fn check(&self, key: &Ident, rules: &mut Rules<'_>) {
        if let Some(settings) = self.inline() {
            settings.check(key, rules);
        }
    }

    /// The type and the building expression of what is set inline.
    pub(crate) fn build(
        &self,
        rt: &TokenStream,
        name: &TokenStream,
        at: Span,
    ) -> Option<(TokenStream, TokenStream)> {
        let ty = Ident::new(S::TYPE, Span::call_site());
        Some((quote!(#rt::#ty), self.inline()?.build(rt, name, at)))
    }
}

impl Shared {
    /// What stands behind `key =`.
    pub(crate) fn read(key: &Ident, expr: &Expr) -> syn::Result<Self> {
        match bare(expr) {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => bad_name(name).map(Self::Named),
            Expr::Path(ExprPath { qself: None, path, .. }) => match path.get_ident() {
                Some(name) => in_lower_case(key, name).map(Self::Named),
                None => Ok(Self::Path(path.clone())),
            },
            Expr::Field(field) => Err(diag::error(
                field,
                "expected the name of a policy, or the path of a `static`",
                "what belongs to a value is used by hand: `let guard = policy.acquire()?;`",
            )),
            other => Err(diag::error(
                other,
                "expected the name of a policy",
                format!("`{key} = \"shared\"` where a registry has it, or the path of a `static`"),
            )),
        }
    }

    /// How it is written, for people.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Named(name) => name.to_string(),
            Self::Path(path) => path.to_token_stream().to_string().replace(' ', ""),
        }
    }
}

/// The name or path, or what is meant instead, where that can be guessed.
fn shared<S: Settings>(key: &Ident, expr: &Expr) -> syn::Result<Shared> {
    let meant = match bare(expr) {
        Expr::Lit(literal) => S::meant(&literal.lit),
        _ => None,
    };
    match meant {
        Some(meant) => Err(diag::error(
            expr,
            "a policy of the function's own gives its options by name",
            format!("`{meant}`"),
        )),
        None => Shared::read(key, expr),
    }
}

/// What stands before the options, if it names a policy: a literal, a path, or a word that is hardly meant as an option.
fn first_name<S: Settings>(key: &Ident, list: &mut List) -> syn::Result<Option<Shared>> {
    if let Some(second) = list.plain.get(1) {
        let help = format!("`{key}(\"shared\", …)`, the name first");
        return Err(diag::error(second, "expected one name", help));
    }
    if let Some(one) = list.plain.pop() {
        return shared::<S>(key, &one).map(Some);
    }
    let Some(Entry { key: word, value: Value::Word }) = list.entries.first() else {
        return Ok(None);
    };
    let mut known = S::OPTIONS.iter().chain(S::CALL).chain(S::LATER).copied();
    let is_key = diag::closest(&word.to_string(), &mut known).is_some();
    if is_key || S::ELSEWHERE.iter().any(|(other, _)| word == other) {
        return Ok(None);
    }
    let name = in_lower_case(key, word)?;
    list.entries.remove(0);
    Ok(Some(Shared::Named(name)))
}

/// In a registry there are only such names; a `static` of this module is meant, perhaps.
fn in_lower_case(key: &Ident, name: &Ident) -> syn::Result<Ident> {
    let text = name.to_string();
    if text.contains(|c: char| c.is_uppercase()) {
        return Err(diag::error(
            name,
            format!("a registry has no `{text}`: its names are in lower case"),
            format!("`{key} = self::{text}` for a `static` of this module"),
        ));
    }
    Ok(name.clone())
}

/// The name as an identifier, spanned at the literal.
pub(crate) fn bad_name(name: &LitStr) -> syn::Result<Ident> {
    let text = name.value();
    let letters = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_'));
    if !letters {
        let wrong = format!("`{}` is not a policy's name", text.escape_debug());
        return Err(diag::error(
            name,
            wrong,
            "lower-case letters, digits and `_`, such as `\"gateway\"`",
        ));
    }
    if syn::parse_str::<Ident>(&text).is_ok() {
        Ok(Ident::new(&text, name.span()))
    } else {
        let wrong = format!("`{text}` is a keyword of Rust, and no policy can have that name");
        Err(diag::error(name, wrong, "another name, in the registry and here"))
    }
}

fn named_and_inline(policy: &Ident, option: &Ident) -> syn::Error {
    diag::error(
        option,
        format!("`{option}` belongs to the declaration of the `{policy}`, and this one is named"),
        format!("write `{option}` in the registry, or leave the name out"),
    )
}

/// The options as `darling` builds them, and whether something else was written that could not be read.
pub(super) fn options<T: darling::FromMeta + Default>(
    entries: Vec<Entry>,
    out: &mut Diagnostics,
) -> (T, bool) {
    let (settings, complete) = syntax::options::<T>(entries, out);
    (settings, !complete)
}
