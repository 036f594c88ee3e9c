//! `circuit_breaker`: named, by path, or inline.

use super::{Row, Rules};
use crate::diag::{self, Diagnostics};
use crate::syntax::{self, Entry, List, Value};
use crate::values::{
    Call, Count, Duration, Growth, Pattern, Ratio, bare, every, unknown_word, value,
};
use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprLit, ExprPath, Lit, LitStr, Meta, Path};

/// The options of a breaker, inline or in a registry.
pub(crate) const OPTIONS: [&str; 10] = [
    "window",
    "min_calls",
    "failure_rate",
    "slow_call",
    "slow_rate",
    "open_for",
    "jitter",
    "max_open_for",
    "probes",
    "probe_timeout",
];
/// The options of later versions.
pub(crate) const LATER: [&str; 1] = ["consecutive"];

const WINDOW: std::ops::RangeInclusive<u32> = 1..=1024;
const PROBES: std::ops::RangeInclusive<u32> = 1..=511;
/// The core's default, for the rules that compare with it.
const DEFAULT_WINDOW: u32 = 100;

/// A function's breaker.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    key: Ident,
    pub(crate) source: Source,
    /// What counts as failed for this breaker only.
    pub(crate) failure: Option<Pattern>,
    /// What is no vote for this breaker only.
    pub(crate) ignore: Option<Pattern>,
}

/// Where the breaker is.
#[derive(Debug)]
pub(crate) enum Source {
    /// In the registry, under this name, spanned where it was written.
    Named(Ident),
    /// Behind this path of two segments or more.
    Path(Path),
    /// In the function itself.
    Inline(Box<Settings>),
}

/// What a breaker is set to.
#[derive(FromMeta, Default, Debug)]
#[darling(default)]
pub(crate) struct Settings {
    window: Option<Count>,
    min_calls: Option<Count>,
    failure_rate: Option<Ratio>,
    pub(crate) slow_call: Option<Duration>,
    slow_rate: Option<Ratio>,
    open_for: Option<OpenFor>,
    jitter: Option<Ratio>,
    max_open_for: Option<Duration>,
    probes: Option<Count>,
    probe_timeout: Option<Duration>,
    /// Something else was written that could not be read.
    #[darling(skip)]
    incomplete: bool,
}

/// How long a breaker stays open.
#[derive(Debug)]
enum OpenFor {
    Always(Duration),
    Growing(Growth),
}

impl Row for CircuitBreaker {
    const KEY: &'static str = "circuit_breaker";

    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self> {
        let (mut failure, mut ignore) = (None, None);
        let source = match value {
            Value::Word => Source::Inline(Box::default()),
            Value::Expr(_, expr) => out.take(by_name(&expr))?,
            Value::Pattern(_) => return None,
            Value::List(group) => {
                let list = List::read(group.stream(), out);
                let name = out.take(first_name(&list.plain))?;
                let mut rest = Vec::new();
                let known: Vec<_> = OPTIONS.iter().copied().chain(["failure", "ignore"]).collect();
                for entry in list.known(&known, &LATER, out) {
                    match entry.key.to_string().as_str() {
                        "failure" => failure = out.take(entry.pattern()),
                        "ignore" => ignore = out.take(entry.pattern()),
                        _ => rest.push(entry),
                    }
                }
                match (name, rest.first()) {
                    (Some(_), Some(entry)) => {
                        out.push(named_and_inline(&entry.key));
                        return None;
                    }
                    (Some(name), None) => Source::Named(name),
                    (None, _) => Source::Inline(Box::new(Settings::read(rest, out))),
                }
            }
        };
        Some(Self { key, source, failure, ignore })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, rules: &mut Rules<'_>) {
        if let Source::Inline(settings) = &self.source {
            settings.check(rules);
        }
    }

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        match &self.source {
            Source::Inline(settings) => {
                Some((quote!(#rt::CircuitBreaker), settings.build(rt, name, self.key.span())))
            }
            Source::Named(_) | Source::Path(_) => None,
        }
    }
}

impl Settings {
    /// From the entries of a list whose keys are all among [`OPTIONS`].
    pub(crate) fn read(entries: Vec<Entry>, out: &mut Diagnostics) -> Self {
        let (mut kept, mut faulty) = (Vec::new(), false);
        for entry in entries {
            match &entry.value {
                Value::Expr(_, expr) if entry.is("window") && is_duration(expr) => {
                    faulty = true;
                    out.push(diag::error(
                        expr,
                        "a window of time is not available in this version",
                        "`window = 100` keeps the last 100 calls",
                    ));
                }
                _ => kept.push(entry),
            }
        }
        let (settings, complete) = syntax::options::<Self>(kept, out);
        Self { incomplete: !complete || faulty, ..settings }
    }

    pub(crate) fn check(&self, rules: &mut Rules<'_>) {
        let counts = [
            (self.window, "window", WINDOW),
            (self.min_calls, "min_calls", 1..=*WINDOW.end()),
            (self.probes, "probes", PROBES),
        ];
        for (count, name, range) in counts {
            rules.must(count.map_or(Ok(()), |count| count.within(name, range)));
        }
        if let Some(OpenFor::Growing(growth)) = &self.open_for {
            growth.check().into_iter().for_each(|kept| rules.must(kept));
        }
        if !self.incomplete {
            rules.must(self.min_calls_over_window());
            rules.must(self.slow_rate_needs_slow_call());
            rules.must(self.open_for_over_max());
        }
    }

    fn min_calls_over_window(&self) -> syn::Result<()> {
        let window = self.window.map_or(DEFAULT_WINDOW, |window| window.value);
        match self.min_calls {
            Some(min_calls) if min_calls.value > window && WINDOW.contains(&window) => {
                Err(diag::error(
                    min_calls,
                    format!("`min_calls` is never reached in a window of {window} calls"),
                    format!("`min_calls = {window}` or less, or a larger `window`"),
                ))
            }
            _ => Ok(()),
        }
    }

    fn slow_rate_needs_slow_call(&self) -> syn::Result<()> {
        match (self.slow_rate, self.slow_call) {
            (Some(rate), None) => Err(diag::error_at(
                rate.span,
                "`slow_rate` does nothing without `slow_call`",
                "say which calls are slow, such as `slow_call = \"500ms\"`",
            )),
            _ => Ok(()),
        }
    }

    fn open_for_over_max(&self) -> syn::Result<()> {
        let first = match &self.open_for {
            Some(OpenFor::Always(wait)) => wait,
            Some(OpenFor::Growing(growth)) => &growth.base,
            None => return Ok(()),
        };
        match self.max_open_for {
            Some(max) if max.ns < first.ns => Err(diag::error_at(
                max.span,
                "`max_open_for` is shorter than `open_for`",
                "a longer `max_open_for`, or leave it out",
            )),
            _ => Ok(()),
        }
    }

    /// The const expression that builds it; the catalogue shows `at` as its place.
    pub(crate) fn build(&self, rt: &TokenStream, name: &TokenStream, at: Span) -> TokenStream {
        let builder = self.builder(rt, name, at);
        quote!(#builder.build())
    }

    /// The const expression of its options, for rules that compare two policies.
    pub(crate) fn options(&self, rt: &TokenStream, name: &TokenStream, at: Span) -> TokenStream {
        let builder = self.builder(rt, name, at);
        quote!(#builder.options())
    }

    fn builder(&self, rt: &TokenStream, name: &TokenStream, at: Span) -> TokenStream {
        let ratio = |ratio: Ratio| ratio.tokens(rt);
        let setters = [
            self.window.map(|n| quote!(.window(#n))),
            self.min_calls.map(|n| quote!(.min_calls(#n))),
            self.failure_rate.map(ratio).map(|r| quote!(.failure_rate(#r))),
            self.slow_call.map(|d| quote!(.slow_call(#d))),
            self.slow_rate.map(ratio).map(|r| quote!(.slow_rate(#r))),
            self.open_for.as_ref().map(OpenFor::setter),
            self.jitter.map(ratio).map(|r| quote!(.open_jitter(#r))),
            self.max_open_for.map(|d| quote!(.max_open_for(#d))),
            self.probes.map(|n| quote!(.probes(#n))),
            self.probe_timeout.map(|d| quote!(.probe_timeout(#d))),
        ];
        let setters = setters.into_iter().flatten();
        // The whole call stands at `at`, and the path of ours does not: so the builder sees that place as its caller's.
        let builder = quote_spanned!(at=> __ResilCircuitBreaker::builder(#name));
        quote!({
            use #rt::CircuitBreaker as __ResilCircuitBreaker;
            #builder #(#setters)*
        })
    }
}

impl FromMeta for OpenFor {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        const EXAMPLE: &str = "exponential(\"5s\", factor = 2, cap = \"5m\")";
        let expr = value(meta, "\"10s\"")?;
        let Some(call) = Call::read(expr) else { return Ok(Self::Always(Duration::read(expr)?)) };
        if call.name != "exponential" {
            return Err(unknown_word(call.name, "kind of wait", &["exponential"]).into());
        }
        let mut out = Diagnostics::default();
        let growth = Growth::exponential(&call, EXAMPLE, &mut out).map(Self::Growing);
        out.finish(growth).map_err(every)
    }
}

impl OpenFor {
    fn setter(&self) -> TokenStream {
        match self {
            Self::Always(wait) => quote!(.open_for(#wait)),
            Self::Growing(Growth { base, factor, cap, .. }) => {
                let factor = factor.map_or(quote!(2), ToTokens::into_token_stream);
                quote!(.open_for_exponential(#base, #factor, #cap))
            }
        }
    }
}

/// Whether it is meant as a span of time.
fn is_duration(expr: &Expr) -> bool {
    matches!(bare(expr), Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))
}

/// What stands behind `circuit_breaker =`.
fn by_name(expr: &Expr) -> syn::Result<Source> {
    match bare(expr) {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => bad_name(name).map(Source::Named),
        Expr::Path(ExprPath { qself: None, path, .. }) => Ok(match path.get_ident() {
            Some(name) => Source::Named(name.clone()),
            None => Source::Path(path.clone()),
        }),
        other => Err(diag::error(
            other,
            "expected the name of a circuit breaker",
            "`circuit_breaker = \"gateway\"`, or the path of a `static`",
        )),
    }
}

/// The literal before the options, if there is one.
fn first_name(plain: &[Lit]) -> syn::Result<Option<Ident>> {
    match plain {
        [] => Ok(None),
        [Lit::Str(name)] => bad_name(name).map(Some),
        [Lit::Str(_), other, ..] | [other, ..] => Err(diag::error(
            other,
            "expected one name, in quotes",
            "`circuit_breaker(\"gateway\", failure = …, ignore = …)`",
        )),
    }
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

fn named_and_inline(key: &Ident) -> syn::Error {
    diag::error(
        key,
        format!("`{key}` belongs to the breaker's declaration, and this one is named"),
        format!("write `{key}` in the registry, or leave the name out"),
    )
}
