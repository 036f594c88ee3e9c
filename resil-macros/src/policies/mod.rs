//! One row a policy: how its key is written, which options it has, what may not be asked of it, and its `static`.
//!
//! Invariant: a row knows nothing of the other rows. What two policies must agree on is a rule of `check`.

pub(crate) mod bulkhead;
pub(crate) mod circuit_breaker;
pub(crate) mod deadline;
pub(crate) mod fallback;
pub(crate) mod rate_limiter;
pub(crate) mod retry;
pub(crate) mod retry_budget;
pub(crate) mod source;
pub(crate) mod timeout;

pub(crate) use bulkhead::{Bulkhead, BulkheadSettings};
pub(crate) use circuit_breaker::{BreakerSettings, CircuitBreaker};
pub(crate) use deadline::Deadline;
pub(crate) use fallback::Fallback;
pub(crate) use rate_limiter::{LimiterSettings, RateLimiter};
pub(crate) use retry::Retry;
pub(crate) use retry_budget::BudgetSettings;
pub(crate) use source::{Settings, Shared, Source};
pub(crate) use timeout::Timeout;

use crate::diag::Diagnostics;
use crate::syntax::Value;
use proc_macro2::{Ident, TokenStream};

/// What every row can do.
pub(crate) trait Row: Sized {
    /// The attribute's key.
    const KEY: &'static str;

    /// Reads what is written behind the key. Nothing comes back only if an error went out.
    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self>;

    /// The key as written, where errors about the whole policy stand.
    fn key(&self) -> &Ident;

    /// The rules that need nothing but this row.
    fn check(&self, rules: &mut Rules<'_>);

    /// The type of the function's own `static` and the expression that builds it, both under `rt`; nothing where the
    /// function has none.
    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)>;
}

/// The policies of this version, outermost first: their default order.
pub(crate) const ORDER: [&str; 7] = [
    Fallback::KEY,
    Deadline::KEY,
    Retry::KEY,
    CircuitBreaker::KEY,
    RateLimiter::KEY,
    Bulkhead::KEY,
    Timeout::KEY,
];

/// The policies of later versions.
pub(crate) const LATER: [&str; 3] = ["adaptive_limit", "adaptive_throttle", "hedge"];

/// The kinds that functions share, as a registry names them. A budget has no place in the order: it belongs to `retry`.
pub(crate) const KINDS: [&str; 4] =
    [BreakerSettings::KIND, LimiterSettings::KIND, BulkheadSettings::KIND, BudgetSettings::KIND];

/// The policies that have an option of this name.
pub(crate) fn homes(option: &str) -> Vec<&'static str> {
    let options: [(_, &[&str], &[&str]); 6] = [
        (Retry::KEY, &retry::OPTIONS, &[]),
        (CircuitBreaker::KEY, BreakerSettings::OPTIONS, BreakerSettings::CALL),
        (RateLimiter::KEY, LimiterSettings::OPTIONS, LimiterSettings::CALL),
        (Bulkhead::KEY, BulkheadSettings::OPTIONS, BulkheadSettings::CALL),
        (Timeout::KEY, &["after", "late"], &[]),
        (BudgetSettings::KIND, BudgetSettings::OPTIONS, BudgetSettings::CALL),
    ];
    let has = |options: &[&str]| options.contains(&option);
    options
        .into_iter()
        .filter(|(_, options, call)| has(options) || has(call))
        .map(|(policy, ..)| policy)
        .collect()
}

/// The policies of one function.
#[derive(Default, Debug)]
pub(crate) struct Policies {
    pub(crate) circuit_breaker: Option<CircuitBreaker>,
    pub(crate) rate_limiter: Option<RateLimiter>,
    pub(crate) bulkhead: Option<Bulkhead>,
    pub(crate) retry: Option<Retry>,
    pub(crate) timeout: Option<Timeout>,
    pub(crate) deadline: Option<Deadline>,
    pub(crate) fallback: Option<Fallback>,
}

impl Policies {
    /// Reads the policy of this key. The value comes back if there is no such policy.
    pub(crate) fn read(
        &mut self,
        key: &Ident,
        value: Value,
        out: &mut Diagnostics,
    ) -> Option<Value> {
        let key = key.clone();
        match key.to_string().as_str() {
            CircuitBreaker::KEY => self.circuit_breaker = Row::read(key, value, out),
            RateLimiter::KEY => self.rate_limiter = Row::read(key, value, out),
            Bulkhead::KEY => self.bulkhead = Row::read(key, value, out),
            Retry::KEY => self.retry = Row::read(key, value, out),
            Timeout::KEY => self.timeout = Row::read(key, value, out),
            Deadline::KEY => self.deadline = Row::read(key, value, out),
            Fallback::KEY => self.fallback = Row::read(key, value, out),
            _ => return Some(value),
        }
        None
    }

    /// The keys that are present, in default order.
    pub(crate) fn keys(&self) -> Vec<&Ident> {
        fn key<R: Row>(row: Option<&R>) -> Option<&Ident> {
            row.map(Row::key)
        }
        [
            key(self.fallback.as_ref()),
            key(self.deadline.as_ref()),
            key(self.retry.as_ref()),
            key(self.circuit_breaker.as_ref()),
            key(self.rate_limiter.as_ref()),
            key(self.bulkhead.as_ref()),
            key(self.timeout.as_ref()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The own rules of each row.
    pub(crate) fn check(&self, rules: &mut Rules<'_>) {
        fn own<R: Row>(row: Option<&R>, rules: &mut Rules<'_>) {
            if let Some(row) = row {
                row.check(rules);
            }
        }
        own(self.fallback.as_ref(), rules);
        own(self.deadline.as_ref(), rules);
        own(self.retry.as_ref(), rules);
        own(self.circuit_breaker.as_ref(), rules);
        own(self.rate_limiter.as_ref(), rules);
        own(self.bulkhead.as_ref(), rules);
        own(self.timeout.as_ref(), rules);
    }
}

/// Where broken rules go. Advice can be silenced by `allow(rule_id)`, a contradiction cannot.
pub(crate) struct Rules<'a> {
    allowed: &'a [Ident],
    out: &'a mut Diagnostics,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(allowed: &'a [Ident], out: &'a mut Diagnostics) -> Self {
        Self { allowed, out }
    }

    /// A rule that admits no exception.
    pub(crate) fn must(&mut self, kept: syn::Result<()>) {
        self.out.take(kept);
    }

    /// A rule that can be silenced by its id.
    pub(crate) fn should(&mut self, id: &str, kept: syn::Result<()>) {
        if !self.is_silenced(id) {
            self.out.take(kept);
        }
    }

    /// Whether the rule of this id is silenced. A misspelt id may mean this one.
    pub(crate) fn is_silenced(&self, id: &str) -> bool {
        let silenced =
            |allowed: &Ident| allowed == id || !ADVICE.iter().any(|rule| allowed == rule);
        self.allowed.iter().any(silenced)
    }
}

/// The rules that `allow` may name.
pub(crate) const ADVICE: [&str; 7] = [
    "max_one",
    "slow_call_reaches_deadline",
    "slow_call_reaches_timeout",
    "timeout_reaches_deadline",
    "wait_reaches_deadline",
    "waits_reach_deadline",
    "within_reaches_deadline",
];
