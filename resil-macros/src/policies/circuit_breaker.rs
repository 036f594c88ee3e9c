//! `circuit_breaker`: named, by path, or inline.

use super::{Row, Rules, Settings, Source, source};
use crate::diag::{self, Diagnostics};
use crate::syntax::{Entry, Value};
use crate::values::{
    Call, Count, Duration, Growth, Pattern, Ratio, bare, every, unknown_word, value,
};
use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::ops::RangeInclusive;
use syn::{Expr, ExprLit, Lit, Meta};

const WINDOW: RangeInclusive<u32> = 1..=1024;
/// Of time, in nanoseconds: 100 ms to a day.
const SPAN: RangeInclusive<u64> = 100_000_000..=86_400_000_000_000;
const PROBES: RangeInclusive<u32> = 1..=511;
/// The core's default, for the rules that compare with it.
const DEFAULT_WINDOW: u32 = 100;

/// A function's breaker.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    key: Ident,
    pub(crate) source: Source<BreakerSettings>,
    /// What counts as failed for this breaker only.
    pub(crate) failure: Option<Pattern>,
    /// What is no vote for this breaker only.
    pub(crate) ignore: Option<Pattern>,
}

/// What a breaker is set to.
#[derive(FromMeta, Default, Debug)]
#[darling(default)]
pub(crate) struct BreakerSettings {
    window: Option<Window>,
    consecutive: Option<Count>,
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

/// What a breaker counts while closed.
#[derive(Clone, Copy, Debug)]
enum Window {
    Calls(Count),
    Time(Duration),
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
        let (source, own) = Source::read(&key, value, out)?;
        for entry in own {
            if entry.is("failure") {
                failure = out.take(entry.pattern());
            } else {
                ignore = out.take(entry.pattern());
            }
        }
        Some(Self { key, source, failure, ignore })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, rules: &mut Rules<'_>) {
        self.source.check(&self.key, rules);
    }

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        self.source.build(rt, name, self.key.span())
    }
}

impl Settings for BreakerSettings {
    const KIND: &'static str = "circuit_breaker";
    const TYPE: &'static str = "CircuitBreaker";
    const OPTIONS_TYPE: &'static str = "BreakerOptions";
    const EXAMPLE: &'static str =
        "circuit_breaker gateway { window = 100, failure_rate = \"50%\" }";
    const OPTIONS: &'static [&'static str] = &[
        "window",
        "consecutive",
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
    const CALL: &'static [&'static str] = &["failure", "ignore"];
    const LATER: &'static [&'static str] = &[];
    const ELSEWHERE: &'static [(&'static str, &'static str)] = &[
        ("failure_rate_threshold", "failure_rate = \"50%\""),
        ("failure_threshold", "failure_rate = \"50%\""),
        ("consecutive_failures", "consecutive = 5"),
        ("sampling_duration", "window = \"10s\""),
        ("sliding_window_size", "window = 100"),
        ("minimum_number_of_calls", "min_calls = 20"),
        ("minimum_throughput", "min_calls = 20"),
        ("reset_timeout", "open_for = \"10s\""),
        ("break_duration", "open_for = \"10s\""),
        ("wait_duration_in_open_state", "open_for = \"10s\""),
        ("success_threshold", "probes = 3"),
    ];

    fn read(entries: Vec<Entry>, out: &mut Diagnostics) -> Self {
        let (settings, incomplete) = source::options::<Self>(entries, out);
        Self { incomplete, ..settings }
    }

    fn set_incomplete(&mut self) {
        self.incomplete = true;
    }

    fn stand_in() -> Self {
        Self::default()
    }

    fn check(&self, _key: &Ident, rules: &mut Rules<'_>) {
        let (mut calls, mut most) = (None, *WINDOW.end());
        match self.window {
            Some(Window::Calls(window)) => calls = Some(window),
            Some(Window::Time(window)) => {
                rules.must(window.within("window", SPAN));
                most = u32::MAX;
            }
            None => {}
        }
        let counts = [
            (calls, "window", WINDOW),
            (self.consecutive, "consecutive", WINDOW),
            (self.min_calls, "min_calls", 1..=most),
            (self.probes, "probes", PROBES),
        ];
        for (count, name, range) in counts {
            rules.must(count.map_or(Ok(()), |count| count.within(name, range)));
        }
        if let Some(OpenFor::Growing(growth)) = &self.open_for {
            growth.check().into_iter().for_each(|kept| rules.must(kept));
        }
        if !self.incomplete {
            if let Some(consecutive) = self.consecutive {
                self.one_criterion(consecutive).for_each(|error| rules.must(Err(error)));
            } else {
                rules.must(self.min_calls_over_window());
                rules.must(self.slow_rate_needs_slow_call());
            }
            rules.must(self.open_for_over_max());
        }
    }

    fn setters(&self, rt: &TokenStream) -> Vec<TokenStream> {
        let ratio = |ratio: Ratio| ratio.tokens(rt);
        let setters = [
            self.window.map(Window::setter),
            self.consecutive.map(|n| quote!(.consecutive(#n))),
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
        setters.into_iter().flatten().collect()
    }
}

impl BreakerSettings {
    /// One criterion at a time.
    fn one_criterion(&self, consecutive: Count) -> impl Iterator<Item = syn::Error> {
        let written = [
            ("window", self.window.map(Window::span)),
            ("min_calls", self.min_calls.map(|calls| calls.span)),
            ("failure_rate", self.failure_rate.map(|rate| rate.span)),
            ("slow_rate", self.slow_rate.map(|rate| rate.span)),
        ];
        let error = move |(name, span): (&str, Option<_>)| {
            let help = format!("leave it out, or `consecutive = {}`", consecutive.value);
            let wrong = format!("`{name}` has no meaning beside `consecutive`");
            span.map(|span| diag::error_at(span, wrong, help))
        };
        written.into_iter().filter_map(error)
    }

    fn min_calls_over_window(&self) -> syn::Result<()> {
        let window = match self.window {
            Some(Window::Calls(window)) => window.value,
            Some(Window::Time(_)) => return Ok(()),
            None => DEFAULT_WINDOW,
        };
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
}

impl FromMeta for Window {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let expr = value(meta, "100")?;
        Ok(match bare(expr) {
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => Self::Time(Duration::read(expr)?),
            _ => Self::Calls(Count::read(expr)?),
        })
    }
}

impl Window {
    fn span(self) -> Span {
        match self {
            Self::Calls(calls) => calls.span,
            Self::Time(span) => span.span,
        }
    }

    fn setter(self) -> TokenStream {
        match self {
            Self::Calls(calls) => quote!(.window(#calls)),
            Self::Time(span) => quote!(.window_for(#span)),
        }
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
