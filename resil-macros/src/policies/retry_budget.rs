//! `retry_budget`: how many retries a share of the calls pays for. It has no key of its own: `retry(budget = …)` names it.

use super::{Rules, Settings, source};
use crate::diag::{self, Diagnostics};
use crate::syntax::Entry;
use crate::values::{Count, Duration, Ratio};
use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::ops::RangeInclusive;

/// What a retry budget is set to.
#[derive(FromMeta, Default, Debug)]
#[darling(default)]
pub(crate) struct BudgetSettings {
    #[darling(with = Ratio::or_none)]
    ratio: Option<Ratio>,
    min_per_sec: Option<Count>,
    ttl: Option<Duration>,
    /// Something else was written that could not be read.
    #[darling(skip)]
    incomplete: bool,
}

/// 100 ms to a day, in nanoseconds.
const TTL: RangeInclusive<u64> = 100_000_000..=86_400_000_000_000;
const SECOND: u128 = 1_000_000_000;
/// The retries that can be saved up.
const LARGEST_RESERVE: u64 = 65_536;
/// The core's defaults, for the rules that compare with them.
const DEFAULT_MIN_PER_SEC: u32 = 10;
const DEFAULT_TTL_NS: u64 = 10_000_000_000;

impl Settings for BudgetSettings {
    const KIND: &'static str = "retry_budget";
    const TYPE: &'static str = "RetryBudget";
    const OPTIONS_TYPE: &'static str = "BudgetOptions";
    const EXAMPLE: &'static str = "retry_budget budget { ratio = \"20%\", min_per_sec = 10 }";
    const OPTIONS: &'static [&'static str] = &["ratio", "min_per_sec", "ttl"];
    const CALL: &'static [&'static str] = &[];
    const LATER: &'static [&'static str] = &[];
    const ELSEWHERE: &'static [(&'static str, &'static str)] = &[
        ("percent", "ratio = \"20%\""),
        ("min_retries_per_sec", "min_per_sec = 10"),
        ("min_retries_per_second", "min_per_sec = 10"),
        ("window", "ttl = \"10s\""),
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
        rules.must(self.ttl.map_or(Ok(()), |ttl| ttl.within("ttl", TTL)));
        if !self.incomplete {
            rules.must(self.budget_over_reserve());
            rules.must(self.budget_never_pays());
        }
    }

    fn setters(&self, rt: &TokenStream) -> Vec<TokenStream> {
        let setters = [
            self.ratio.map(|ratio| ratio.tokens(rt)).map(|r| quote!(.ratio(#r))),
            self.min_per_sec.map(|n| quote!(.min_per_sec(#n))),
            self.ttl.map(|d| quote!(.ttl(#d))),
        ];
        setters.into_iter().flatten().collect()
    }
}

impl BudgetSettings {
    fn budget_over_reserve(&self) -> syn::Result<()> {
        let ttl = self.ttl.map_or(DEFAULT_TTL_NS, |ttl| ttl.ns);
        let per_sec = self.min_per_sec.map_or(DEFAULT_MIN_PER_SEC, |min_per_sec| min_per_sec.value);
        let saved = u128::from(per_sec) * u128::from(ttl);
        if saved <= u128::from(LARGEST_RESERVE) * SECOND || !TTL.contains(&ttl) {
            return Ok(());
        }
        let fewer = u128::from(LARGEST_RESERVE) * SECOND / u128::from(ttl);
        let shorter = LARGEST_RESERVE / u64::from(per_sec);
        let help = match (fewer, shorter) {
            (0, _) => format!("a `ttl` of {shorter}s or less"),
            (_, 0) => format!("`min_per_sec = {fewer}` or less"),
            _ => format!("`min_per_sec = {fewer}` or less, or a `ttl` of {shorter}s or less"),
        };
        let wrong = format!(
            "{per_sec} a second would save up more than {LARGEST_RESERVE} retries, which is as far as is counted"
        );
        let at = self.min_per_sec.map(|per_sec| per_sec.span);
        let at = at.or(self.ttl.map(|ttl| ttl.span)).unwrap_or_else(Span::call_site);
        Err(diag::error_at(at, wrong, help))
    }

    fn budget_never_pays(&self) -> syn::Result<()> {
        match (self.ratio, self.min_per_sec) {
            (Some(ratio), Some(per_sec)) if ratio.millionths == 0 && per_sec.value == 0 => {
                Err(diag::error_at(
                    ratio.span,
                    "nothing ever pays for a retry: neither calls nor time",
                    "a `ratio` or a `min_per_sec` above 0",
                ))
            }
            _ => Ok(()),
        }
    }
}
