//! `retry_budget`: how many retries a share of the calls pays for. It has no key of its own: `retry(budget = …)` names it.

use super::{Rules, Settings, source};
use crate::diag::Diagnostics;
use crate::syntax::Entry;
use crate::values::{Count, Duration, Ratio};
use darling::FromMeta;
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// What a retry budget is set to.
#[derive(FromMeta, Default, Debug)]
#[darling(default)]
pub(crate) struct BudgetSettings {
    ratio: Option<Ratio>,
    min_per_sec: Option<Count>,
    ttl: Option<Duration>,
}

impl Settings for BudgetSettings {
    const KIND: &'static str = "retry_budget";
    const TYPE: &'static str = "RetryBudget";
    const OPTIONS_TYPE: &'static str = "BudgetOptions";
    const EXAMPLE: &'static str = "retry_budget budget { ratio = \"20%\", min_per_sec = 10 }";
    const OPTIONS: &'static [&'static str] = &["ratio", "min_per_sec", "ttl"];
    const LATER: &'static [&'static str] = &[];

    fn read(entries: Vec<Entry>, out: &mut Diagnostics) -> Self {
        source::options::<Self>(entries, out).0
    }

    fn stand_in() -> Self {
        Self::default()
    }

    fn check(&self, _key: &Ident, _rules: &mut Rules<'_>) {}

    fn setters(&self, rt: &TokenStream) -> Vec<TokenStream> {
        let setters = [
            self.ratio.map(|ratio| ratio.tokens(rt)).map(|r| quote!(.ratio(#r))),
            self.min_per_sec.map(|n| quote!(.min_per_sec(#n))),
            self.ttl.map(|d| quote!(.ttl(#d))),
        ];
        setters.into_iter().flatten().collect()
    }
}
