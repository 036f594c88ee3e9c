//! `rate_limiter`: how many calls in which time; named, by path, or inline.

use super::{Row, Rules, Settings, Source, source};
use crate::diag::{self, Diagnostics};
use crate::syntax::{Entry, Value};
use crate::values::{Count, Duration, Rate, bare, unknown_word, value, word};
use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Expr, ExprLit, ExprUnary, Lit, LitInt, Meta, UnOp};

/// Beyond that a limit is so scattered that it is none.
const SHARDS: std::ops::RangeInclusive<u32> = 1..=8;

/// A function's rate limiter.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    key: Ident,
    pub(crate) source: Source<LimiterSettings>,
    /// The cells that an attempt takes; one where nothing is written.
    pub(crate) cost: Option<Expr>,
}

/// What a rate limiter is set to.
#[derive(FromMeta, Default, Debug)]
#[darling(default)]
pub(crate) struct LimiterSettings {
    rate: Option<Rate>,
    burst: Option<Count>,
    #[darling(with = Duration::or_none)]
    pub(crate) wait: Option<Duration>,
    start: Option<Start>,
    shards: Option<Count>,
    /// Something else was written that could not be read.
    #[darling(skip)]
    incomplete: bool,
}

/// How many cells there are at the beginning.
#[derive(Clone, Copy, Debug)]
enum Start {
    Full,
    Empty,
}

impl Row for RateLimiter {
    const KEY: &'static str = "rate_limiter";

    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self> {
        let (source, own) = Source::read(&key, value, out)?;
        let cost = own.into_iter().next().and_then(|entry| {
            let cost = out.take(entry.expr("cost = items.len() as u32"))?;
            out.take(is_cost(&cost))?;
            Some(cost)
        });
        Some(Self { key, source, cost })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, rules: &mut Rules<'_>) {
        self.source.check(&self.key, rules);
        rules.must(self.cost_zero());
        rules.must(self.cost_over_burst());
    }

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        self.source.build(rt, name, self.key.span())
    }
}

impl RateLimiter {
    /// The cost, where it is written as a number.
    pub(crate) fn written_cost(&self) -> Option<Count> {
        let int = written(self.cost.as_ref()?)?;
        Some(Count { value: int.base10_parse().ok()?, span: int.span() })
    }

    fn cost_zero(&self) -> syn::Result<()> {
        match self.written_cost() {
            Some(cost) if cost.value == 0 => Err(diag::error(
                cost,
                "a call that costs nothing is never limited",
                "`cost = 1`, or leave out the `rate_limiter`",
            )),
            _ => Ok(()),
        }
    }

    /// Of a named limiter the compiler is asked.
    fn cost_over_burst(&self) -> syn::Result<()> {
        let settings = self.source.inline();
        let most = settings.and_then(LimiterSettings::cells_at_once);
        match (self.written_cost(), most, settings) {
            (Some(cost), Some(most), Some(settings)) if u64::from(cost.value) > most => {
                let burst = u64::from(cost.value) * u64::from(settings.parts());
                Err(diag::error(
                    cost,
                    format!("this call never passes: at most {most} cells pass at once"),
                    format!("a `cost` of {most} or less, or `burst = {burst}` or more"),
                ))
            }
            _ => Ok(()),
        }
    }
}

/// The number that a cost is written as.
fn written(cost: &Expr) -> Option<&LitInt> {
    match bare(cost) {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => Some(int),
        _ => None,
    }
}

/// What surely is no number of cells; the rest is for the compiler.
fn is_cost(cost: &Expr) -> syn::Result<()> {
    let example = "a number such as `cost = 5`, or an expression of type `u32`";
    match bare(cost) {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => match int.base10_parse::<u32>() {
            Ok(_) => Ok(()),
            Err(_) => Err(diag::error(int, "this number is far too large", example)),
        },
        Expr::Lit(other) => Err(diag::error(other, "a cost is a number of cells", example)),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. })
            if matches!(bare(expr), Expr::Lit(_)) =>
        {
            Err(diag::error(cost, "a cost cannot be negative", example))
        }
        _ => Ok(()),
    }
}

impl Settings for LimiterSettings {
    const KIND: &'static str = "rate_limiter";
    const TYPE: &'static str = "RateLimiter";
    const OPTIONS_TYPE: &'static str = "LimiterOptions";
    const EXAMPLE: &'static str = "rate_limiter quota { rate = \"100/s\", burst = 20 }";
    const OPTIONS: &'static [&'static str] = &["rate", "burst", "wait", "start", "shards"];
    const CALL: &'static [&'static str] = &["cost"];
    const LATER: &'static [&'static str] = &["key"];
    const ELSEWHERE: &'static [(&'static str, &'static str)] = &[
        ("limit", "rate = \"100/s\""),
        ("limit_for_period", "rate = \"100/s\""),
        ("limit_refresh_period", "rate = \"100/s\""),
        ("permits", "rate = \"100/s\""),
        ("per", "rate = \"100/s\""),
        ("per_second", "rate = \"100/s\""),
        ("period", "rate = \"100/s\""),
        ("capacity", "burst = 20"),
        ("max_wait", "wait = \"50ms\""),
        ("timeout", "wait = \"50ms\""),
        ("timeout_duration", "wait = \"50ms\""),
    ];

    fn read(entries: Vec<Entry>, out: &mut Diagnostics) -> Self {
        let (settings, incomplete) = source::options::<Self>(entries, out);
        Self { incomplete, ..settings }
    }

    fn set_incomplete(&mut self) {
        self.incomplete = true;
    }

    fn meant(literal: &Lit) -> Option<String> {
        let Lit::Str(text) = literal else { return None };
        text.value().contains('/').then(|| format!("rate_limiter(rate = {})", text.token()))
    }

    fn stand_in() -> Self {
        let rate = Rate { permits: 1, per_ns: 1_000_000_000, span: Span::call_site() };
        Self { rate: Some(rate), ..Self::default() }
    }

    fn check(&self, key: &Ident, rules: &mut Rules<'_>) {
        rules.must(self.limiter_needs_rate(key));
        let counts = [(self.burst, "burst", 1..=u32::MAX), (self.shards, "shards", SHARDS)];
        for (count, name, range) in counts {
            rules.must(count.map_or(Ok(()), |count| count.within(name, range)));
        }
        if !self.incomplete {
            rules.must(self.burst_in_equal_shards());
            rules.must(self.burst_takes_years());
        }
    }

    fn setters(&self, rt: &TokenStream) -> Vec<TokenStream> {
        let setters = [
            self.rate.map(|rate| rate.tokens(rt)).map(|r| quote!(.rate(#r))),
            self.burst.map(|n| quote!(.burst(#n))),
            self.wait.map(|d| quote!(.wait(#d))),
            self.start.map(|start| match start {
                Start::Full => quote!(.start(#rt::Start::Full)),
                Start::Empty => quote!(.start(#rt::Start::Empty)),
            }),
            self.shards.map(|n| quote!(.shards(#n))),
        ];
        setters.into_iter().flatten().collect()
    }
}

impl LimiterSettings {
    fn limiter_needs_rate(&self, key: &Ident) -> syn::Result<()> {
        if self.rate.is_some() || self.incomplete {
            return Ok(());
        }
        Err(diag::error(
            key,
            "a limiter without a rate limits nothing, and no rate is a safe guess",
            "say how many in which time, such as `rate = \"100/s\"`",
        ))
    }

    fn burst_in_equal_shards(&self) -> syn::Result<()> {
        let (Some(burst), Some(shards)) = (self.burst, self.shards) else { return Ok(()) };
        if !SHARDS.contains(&shards.value) || burst.value.is_multiple_of(shards.value) {
            return Ok(());
        }
        let (burst_is, shards) = (burst.value, shards.value);
        let more = u64::from(burst_is.div_ceil(shards)) * u64::from(shards);
        Err(diag::error(
            burst,
            format!("a `burst` of {burst_is} cannot be divided into {shards} equal `shards`"),
            format!("`burst = {more}`, or other `shards`"),
        ))
    }

    /// What comes in so slowly hardly comes in at all.
    fn burst_takes_years(&self) -> syn::Result<()> {
        let (Some(burst), Some(rate)) = (self.burst, self.rate) else { return Ok(()) };
        let most =
            u128::from(rate.permits) * u128::from(Rate::LONGEST_NS) / u128::from(rate.per_ns);
        if u128::from(burst.value) <= most {
            return Ok(());
        }
        Err(diag::error(
            burst,
            "a `burst` of so many comes in over more than ten years",
            format!("`burst = {most}` or less, or a higher `rate`"),
        ))
    }

    fn parts(&self) -> u32 {
        self.shards.map_or(1, |shards| shards.value.max(1))
    }

    /// How many cells may pass at once, as far as it is written: what one shard holds.
    fn cells_at_once(&self) -> Option<u64> {
        let parts = u64::from(self.parts());
        let of_rate = |rate: Rate| (rate.permits / parts).max(1);
        let of_burst = |burst: Count| u64::from(burst.value) / parts;
        self.burst.map(of_burst).or(self.rate.map(of_rate)).filter(|most| *most > 0)
    }
}

impl FromMeta for Start {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let written = word(value(meta, "empty")?, "start = empty")?;
        match written.to_string().as_str() {
            "full" => Ok(Self::Full),
            "empty" => Ok(Self::Empty),
            _ => Err(unknown_word(written, "start", &["full", "empty"]).into()),
        }
    }
}
