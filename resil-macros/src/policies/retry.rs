//! `retry`: how often, after which wait, and for which outcomes.

use super::{Row, Rules, Shared};
use crate::diag::{self, Diagnostics};
use crate::syntax::{self, Entry, List, Value};
use crate::values::{
    Backoff, Call, Count, Duration, Jitter, Pattern, Switch, unknown_word, value, word,
};
use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Meta};

pub(super) const OPTIONS: [&str; 14] = [
    "max",
    "max_attempts",
    "max_retries",
    "backoff",
    "jitter",
    "on",
    "abort",
    "on_timeout",
    "on_rejected",
    "within",
    "before",
    "attempt",
    "max_pushback",
    "budget",
];
/// The core's default.
const DEFAULT_MAX: u32 = 3;

/// A function's retry.
#[derive(Debug)]
pub(crate) struct Retry {
    key: Ident,
    settings: Settings,
    /// What is tried again.
    pub(crate) on: Option<Pattern>,
    /// What is never tried again.
    pub(crate) abort: Option<Pattern>,
    /// What is done before each further attempt.
    pub(crate) before: Option<Expr>,
    /// What pays for further attempts.
    pub(crate) budget: Option<Budget>,
}

/// The budget of a retry: always one that is declared elsewhere.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) key: Ident,
    pub(crate) source: Shared,
}

#[derive(FromMeta, Default, Debug)]
#[darling(default)]
struct Settings {
    max: Option<Max>,
    max_attempts: Option<Max>,
    max_retries: Option<Max>,
    backoff: Option<Backoff>,
    jitter: Option<Jitter>,
    on_timeout: Option<Switch>,
    on_rejected: Option<Switch>,
    within: Option<Duration>,
    attempt: Option<Name>,
    max_pushback: Option<Duration>,
    /// Something else was written that could not be read.
    #[darling(skip)]
    incomplete: bool,
}

#[derive(Clone, Debug)]
enum Max {
    Times(Count),
    Unlimited(Ident),
}

#[derive(Debug)]
struct Name(Ident);

impl Row for Retry {
    const KEY: &'static str = "retry";

    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self> {
        let list = match value {
            Value::Word => List::default(),
            Value::List(group) => List::read(group.stream(), out),
            Value::Expr(..) | Value::Pattern(_) => {
                out.push(syntax::shape(&key, EXAMPLE));
                return None;
            }
        };
        if let Some(stray) = list.plain.first() {
            out.push(diag::error(
                stray,
                "every option of `retry` has a name",
                format!("`{EXAMPLE}`"),
            ));
        }
        let (mut on, mut abort, mut before, mut budget) = (None, None, None, None);
        let mut rest = Vec::new();
        for entry in list.known(&OPTIONS, &[], out) {
            match entry.key.to_string().as_str() {
                "on" => on = out.take(entry.pattern()),
                "abort" => abort = out.take(entry.pattern()),
                "before" => before = out.take(entry.expr("before = refresh(token)")),
                "budget" => budget = out.take(Budget::read(entry)),
                _ => rest.push(entry),
            }
        }
        let (settings, complete) = syntax::options::<Settings>(rest, out);
        let settings = Settings { incomplete: !complete, ..settings };
        Some(Self { key, settings, on, abort, before, budget })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, rules: &mut Rules<'_>) {
        let Settings {
            max, max_attempts, max_retries, backoff, jitter, attempt, incomplete, ..
        } = &self.settings;
        rules.must(self.both_max());
        for written in [max, max_attempts, max_retries].into_iter().flatten() {
            if let Max::Times(count) = written {
                check_max(*count, max_retries.is_none(), rules);
            }
        }
        match backoff {
            Some(Backoff::Linear(growth) | Backoff::Exponential(growth)) => {
                growth.check().into_iter().for_each(|kept| rules.must(kept));
            }
            Some(Backoff::By { word, .. }) if attempt.is_none() && !incomplete => {
                rules.must(Err(by_needs_attempt(word)));
            }
            _ => {}
        }
        // Else `max_one` has said it.
        if rules.is_silenced("max_one") {
            rules.must(self.budget_needs_retries());
        }
        if let (Some(Jitter::Word("Decorrelated", word)), false) = (jitter, incomplete) {
            rules.must(decorrelated_needs_growth(word, backoff.as_ref()));
        }
    }

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        let settings = &self.settings;
        let duration = |name: &str, duration: Option<Duration>| {
            let name = Ident::new(name, Span::call_site());
            duration.map(|duration| quote!(.#name(#duration)))
        };
        let switch = |name: &str, switch: Option<Switch>| {
            let name = Ident::new(name, Span::call_site());
            switch.map(|Switch(on)| quote!(.#name(#on)))
        };
        let setters = [
            self.max_setter(),
            settings
                .backoff
                .as_ref()
                .map(|backoff| backoff.tokens(rt))
                .map(|b| quote!(.backoff(#b))),
            settings.jitter.as_ref().map(|jitter| jitter.tokens(rt)).map(|j| quote!(.jitter(#j))),
            duration("within", settings.within),
            switch("on_timeout", settings.on_timeout),
            switch("on_rejected", settings.on_rejected),
            duration("max_pushback", settings.max_pushback),
            self.budget
                .as_ref()
                .map(|budget| budget.source.shown())
                .map(|b| quote!(.budget_named(#b))),
        ];
        let setters = setters.into_iter().flatten();
        Some((quote!(#rt::Retry), quote!(#rt::Retry::builder(#name) #(#setters)* .build())))
    }
}

const EXAMPLE: &str = "retry(max = 3, backoff = exponential(\"50ms\", cap = \"1s\"))";

/// How many attempts there are at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempts {
    AtMost(u32),
    Unlimited,
}

impl Retry {
    /// How many attempts there are at most, as far as it is written.
    pub(crate) fn attempts(&self) -> Attempts {
        let Settings { max, max_attempts, max_retries, within, .. } = &self.settings;
        match (max.as_ref().or(max_attempts.as_ref()), max_retries) {
            (Some(Max::Times(count)), _) => Attempts::AtMost(count.value),
            (None, Some(Max::Times(count))) => Attempts::AtMost(count.value.saturating_add(1)),
            (None, None) if within.is_none() => Attempts::AtMost(DEFAULT_MAX),
            _ => Attempts::Unlimited,
        }
    }

    /// Until when an attempt may begin.
    pub(crate) fn within(&self) -> Option<Duration> {
        self.settings.within
    }

    /// The expression of `backoff = by(expr)`.
    pub(crate) fn by(&self) -> Option<&Expr> {
        match &self.settings.backoff {
            Some(Backoff::By { expr, .. }) => Some(expr),
            _ => None,
        }
    }

    /// Whether an attempt that timed out is made again. Written, or else what the plan says.
    pub(crate) fn on_timeout(&self) -> Option<bool> {
        self.settings.on_timeout.map(|Switch(on)| on)
    }

    /// What `on_timeout` is where it is not written.
    pub(crate) fn default_on_timeout(&mut self, on: bool) {
        self.settings.on_timeout.get_or_insert(Switch(on));
    }

    /// The name that the body knows the attempt's number by.
    pub(crate) fn attempt(&self) -> Option<&Ident> {
        self.settings.attempt.as_ref().map(|Name(name)| name)
    }

    /// `unlimited`, where it was written and nothing of `retry` itself ends it.
    pub(crate) fn endless(&self) -> Option<&Ident> {
        let Settings { max, max_attempts, max_retries, within, .. } = &self.settings;
        let written = [max, max_attempts, max_retries].into_iter().flatten().next()?;
        match written {
            Max::Unlimited(word) if within.is_none() => Some(word),
            _ => None,
        }
    }

    fn budget_needs_retries(&self) -> syn::Result<()> {
        match &self.budget {
            Some(budget) if self.attempts() == Attempts::AtMost(1) => Err(diag::error(
                &budget.key,
                "nothing is ever taken from this budget: there is one attempt",
                "`max = 2` or more, or leave the budget out",
            )),
            _ => Ok(()),
        }
    }

    fn max_setter(&self) -> Option<TokenStream> {
        let Settings { max, max_attempts, max_retries, within, .. } = &self.settings;
        match (max.as_ref().or(max_attempts.as_ref()), max_retries) {
            (Some(Max::Times(count)), _) => Some(quote!(.max_attempts(#count))),
            (None, Some(Max::Times(count))) => Some(quote!(.max_retries(#count))),
            (Some(Max::Unlimited(_)), _) | (None, Some(Max::Unlimited(_))) => {
                // Without `within` there is a deadline: `unlimited_needs_end` has seen to it.
                let by_deadline = within.is_none();
                Some(if by_deadline {
                    quote!(.unlimited_until_deadline())
                } else {
                    quote!(.unlimited())
                })
            }
            (None, None) => None,
        }
    }

    fn both_max(&self) -> syn::Result<()> {
        let Settings { max, max_attempts, max_retries, .. } = &self.settings;
        let named = [("max", max), ("max_attempts", max_attempts), ("max_retries", max_retries)];
        let written: Vec<_> =
            named.iter().filter_map(|(name, max)| Some((name, max.as_ref()?))).collect();
        match written[..] {
            [(first, _), (second, max), ..] => Err(diag::error(
                max,
                format!("`{first}` already says how often"),
                format!(
                    "leave out `{second}`; `max` counts the first call, `max_retries` does not"
                ),
            )),
            _ => Ok(()),
        }
    }
}

impl Budget {
    fn read(entry: Entry) -> syn::Result<Self> {
        let key = entry.key.clone();
        if matches!(entry.value, Value::List(_)) {
            return Err(diag::error(
                key,
                "a retry budget is shared, and is declared where others find it",
                "`retry_budget budget { ratio = \"20%\" }` in the registry, and `budget = \"budget\"` here",
            ));
        }
        let expr = entry.expr("budget = \"budget\"")?;
        Ok(Self { source: Shared::read(&key, &expr)?, key })
    }
}

fn check_max(count: Count, counts_first: bool, rules: &mut Rules<'_>) {
    match (count.value, counts_first) {
        (0, true) => rules.must(Err(max_zero(count))),
        (1, true) => rules.should("max_one", Err(max_one(count, "max = 1", "max = 2"))),
        (0, false) => {
            rules.should("max_one", Err(max_one(count, "max_retries = 0", "max_retries = 1")));
        }
        _ => {}
    }
}

fn max_zero(count: Count) -> syn::Error {
    diag::error(
        count,
        "with `max = 0` the function would never be called",
        "`max` counts the first call: `max = 3` is one call and up to two retries",
    )
}

fn max_one(count: Count, written: &str, more: &str) -> syn::Error {
    diag::error(
        count,
        format!("`{written}` never retries"),
        format!("`{more}` or more; or leave out `retry`; or `allow(max_one)`"),
    )
}

fn by_needs_attempt(word: &Ident) -> syn::Error {
    diag::error(
        word,
        "`by` computes the wait from the attempt's number, and that has no name",
        "`retry(attempt = n, backoff = by(Duration::from_millis(10) * n))`",
    )
}

fn decorrelated_needs_growth(word: &Ident, backoff: Option<&Backoff>) -> syn::Result<()> {
    match backoff {
        None | Some(Backoff::Linear(_) | Backoff::Exponential(_)) => Ok(()),
        Some(_) => Err(diag::error(
            word,
            "`decorrelated` replaces a growth, and this backoff does not grow",
            "`jitter = full`, or `backoff = exponential(\"50ms\", cap = \"1s\")`",
        )),
    }
}

impl FromMeta for Max {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let expr = value(meta, "3")?;
        match Call::read(expr) {
            Some(call) if call.name == "unlimited" => Ok(Self::Unlimited(call.name.clone())),
            Some(call) => Err(unknown_word(call.name, "number", &["unlimited"]).into()),
            None => Ok(Self::Times(Count::read(expr)?)),
        }
    }
}

impl ToTokens for Max {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Times(count) => count.to_tokens(tokens),
            Self::Unlimited(word) => word.to_tokens(tokens),
        }
    }
}

impl FromMeta for Name {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        Ok(Self(word(value(meta, "n")?, "attempt = n")?.clone()))
    }
}
