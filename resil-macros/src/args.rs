//! What stands in the parentheses of `#[resilient(…)]`.

use crate::diag::{self, Diagnostics};
use crate::policies::{self, BudgetSettings, Policies, Settings};
use crate::syntax::{Entry, List, Value, shape};
use crate::values::{Pattern, bare, word};
use proc_macro2::{Ident, TokenStream};
use syn::{Expr, ExprLit, ExprPath, Lit, LitStr, Path};

/// Keys that are no policies.
const OTHERS: [&str; 10] = [
    "allow",
    "classify",
    "clone",
    "crate",
    "failure",
    "idempotent",
    "ignore",
    "name",
    "order",
    "registry",
];
/// Keys of later versions that are no policies.
const LATER: [&str; 2] = ["future", "skip"];

/// An attribute.
#[derive(Default, Debug)]
pub(crate) struct Args {
    pub(crate) policies: Policies,
    /// What counts as failed.
    pub(crate) failure: Option<Pattern>,
    /// What is no vote.
    pub(crate) ignore: Option<Pattern>,
    /// The word `classify`.
    pub(crate) classify: Option<Ident>,
    /// The ids of silenced rules.
    pub(crate) allow: Vec<Ident>,
    /// What inline policies are called in the catalogue.
    pub(crate) name: Option<LitStr>,
    /// Arguments that each attempt gets a copy of, under the key.
    pub(crate) clone: Option<(Ident, Vec<Ident>)>,
    /// Policies, outermost first, under the key.
    pub(crate) order: Option<(Ident, Vec<Ident>)>,
    /// Where string names live.
    pub(crate) registry: Option<Path>,
    /// Where `resil` is.
    pub(crate) krate: Option<Path>,
}

impl Args {
    /// Reads an attribute. What could not be read is missing, and an error says so.
    pub(crate) fn read(tokens: TokenStream, out: &mut Diagnostics) -> Self {
        let mut args = Self::default();
        let mut list = List::read(tokens, out);
        for stray in &list.plain {
            let help = "every policy has its key, such as `circuit_breaker = \"gateway\"`";
            out.push(diag::error(stray, "expected a key", help));
        }
        let known: Vec<_> = policies::ORDER.into_iter().chain(OTHERS).collect();
        let later: Vec<_> = policies::LATER.into_iter().chain(LATER).collect();
        let is_key = |entry: &Entry| known.iter().chain(&later).any(|known| entry.is(known));
        list.entries.retain(|entry| {
            let error = if is_key(entry) { None } else { misplaced(&entry.key) };
            out.take(error.map_or(Ok(()), Err)).is_some()
        });
        for entry in list.known(&known, &later, out) {
            let Entry { key, value } = entry;
            if let Some(value) = args.policies.read(&key, value, out) {
                let read = args.read_other(Entry { key, value }, out);
                out.take(read);
            }
        }
        args
    }

    fn read_other(&mut self, entry: Entry, out: &mut Diagnostics) -> syn::Result<()> {
        let key = entry.key.clone();
        match key.to_string().as_str() {
            "failure" => self.failure = Some(entry.pattern()?),
            "ignore" => self.ignore = Some(entry.pattern()?),
            "classify" => self.classify = Some(entry.word()?),
            "allow" => self.allow = words(entry, "allow(max_one)", out)?,
            "name" => self.name = Some(name(&entry.expr("name = \"charge\"")?)?),
            "clone" => self.clone = Some((key, words(entry, "clone(order)", out)?)),
            "order" => self.order = Some((key, order(entry, out)?)),
            "registry" => self.registry = Some(path(&entry.expr("registry = crate::policies")?)?),
            "crate" => self.krate = Some(path(&entry.expr("crate = facade::resil")?)?),
            // `idempotent` promises something to policies of later versions.
            _ => {
                entry.word()?;
            }
        }
        Ok(())
    }
}

/// What stands in the attribute, and belongs into one of its policies.
fn misplaced(key: &Ident) -> Option<syn::Error> {
    let written = key.to_string();
    if written == BudgetSettings::KIND {
        let wrong = "a retry budget is part of `retry`";
        return Some(diag::error(key, wrong, "`retry(max = 3, budget = \"budget\")`"));
    }
    let homes = policies::homes(&written);
    let (first, _) = homes.split_first()?;
    let wrong = format!("`{written}` is an option of {}", diag::listed(homes.iter().copied()));
    let help = if *first == BudgetSettings::KIND {
        format!("`{first} budget {{ {written} = … }}` in the registry")
    } else {
        format!("`{first}({written} = …)`")
    };
    Some(diag::error(key, wrong, help))
}

/// The words in the parentheses.
fn words(entry: Entry, example: &str, out: &mut Diagnostics) -> syn::Result<Vec<Ident>> {
    let Value::List(group) = entry.value else { return Err(shape(&entry.key, example)) };
    let list = List::read(group.stream(), out);
    if let Some(stray) = list.plain.first() {
        return Err(diag::error(stray, "expected a name", format!("`{example}`")));
    }
    list.entries.into_iter().map(Entry::word).collect()
}

/// The words in the brackets.
fn order(entry: Entry, out: &mut Diagnostics) -> syn::Result<Vec<Ident>> {
    let example = "order = [circuit_breaker, retry, timeout]";
    let expr = entry.expr(example)?;
    let Expr::Array(array) = bare(&expr) else {
        return Err(diag::error(expr, "expected the policies in brackets", format!("`{example}`")));
    };
    let read: Vec<_> =
        array.elems.iter().map(|expr| out.take(word(expr, example).cloned())).collect();
    Ok(read.into_iter().flatten().collect())
}

fn name(expr: &Expr) -> syn::Result<LitStr> {
    match bare(expr) {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if !name.value().is_empty() => {
            Ok(name.clone())
        }
        other => Err(diag::error(other, "expected a name in quotes", "`name = \"charge\"`")),
    }
}

fn path(expr: &Expr) -> syn::Result<Path> {
    match bare(expr) {
        Expr::Path(ExprPath { qself: None, path, .. }) => Ok(path.clone()),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            text.parse().map_err(|_| not_a_path(expr))
        }
        _ => Err(not_a_path(expr)),
    }
}

fn not_a_path(at: &Expr) -> syn::Error {
    diag::error(
        at,
        "expected the path of a module",
        "a path such as `crate::policies`, without quotes",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn said(tokens: TokenStream) -> Vec<String> {
        let mut out = Diagnostics::default();
        Args::read(tokens, &mut out);
        out.messages()
            .iter()
            .map(|said| said.lines().next().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn every_key_is_read_in_every_shape() {
        for tokens in [
            quote!(circuit_breaker = "gateway"),
            quote!(circuit_breaker = gateway),
            quote!(circuit_breaker = crate::statics::GATEWAY),
            quote!(circuit_breaker),
            quote!(circuit_breaker("gateway", failure = Err(_), ignore = Err(E::Mine) if true)),
            quote!(circuit_breaker(
                window = 50,
                min_calls = 10,
                failure_rate = "50%",
                slow_call = "1s",
                slow_rate = 0.8,
                open_for = exponential("5s", factor = 2, cap = "5m"),
                jitter = "20%",
                max_open_for = "10m",
                probes = 5,
                probe_timeout = "30s",
            )),
            quote!(circuit_breaker(crate::statics::GATEWAY, failure = Err(_))),
            quote!(circuit_breaker(gateway, failure = Err(_))),
            quote!(rate_limiter = "quota"),
            quote!(rate_limiter = self::QUOTA),
            quote!(rate_limiter("quota")),
            quote!(rate_limiter("quota", cost = items.len() as u32)),
            quote!(rate_limiter(::other::QUOTA, cost = 2)),
            quote!(rate_limiter(
                rate = "10/250ms",
                burst = 20,
                wait = "1s",
                start = empty,
                shards = 2,
                cost = 3
            )),
            quote!(bulkhead = "pool"),
            quote!(bulkhead(self::POOL)),
            quote!(bulkhead(max_concurrent = 0, wait = "10ms", queue = 32)),
            quote!(bulkhead(max_concurrent = 8, wait = "0ms")),
            quote!(retry(budget = "budget")),
            quote!(retry(budget = crate::statics::BUDGET)),
            quote!(retry),
            quote!(retry(max = 3, backoff = exponential("20ms", cap = "200ms"), jitter = full)),
            quote!(retry(max_attempts = 3, backoff = constant("0ms"), jitter = none)),
            quote!(retry(
                max_retries = 2,
                backoff = linear("20ms", cap = "200ms"),
                jitter = decorrelated
            )),
            quote!(retry(
                max = unlimited,
                within = "2s",
                backoff = table("1ms", "5ms"),
                jitter = plus_minus(0.2)
            )),
            quote!(retry(
                attempt = n,
                backoff = by(Duration::from_millis(n)),
                before = refresh().await
            )),
            quote!(retry(
                on = Err(E::Io(_)),
                abort = None | Err(_),
                on_timeout = false,
                on_rejected,
                max_pushback = "5s"
            )),
            quote!(timeout = "200ms"),
            quote!(timeout("200ms")),
            quote!(timeout(after = limits.read)),
            quote!(deadline = "1s", fallback = queued),
            quote!(fallback = |cause| Ok(queue(cause).await?)),
            quote!(fallback = value(0)),
            quote!(fallback(rejected = |_| None, timeout = Self::late, error = value(None))),
            quote!(failure = Ok(r) if r.bad(), ignore = Err(E::Mine), classify, allow(max_one), name = "f"),
            quote!(
                clone(a, b),
                order = [retry, timeout],
                registry = other::policies,
                crate = facade::resil,
                idempotent
            ),
        ] {
            assert_eq!(said(tokens.clone()), [""; 0], "{tokens}");
        }
    }

    #[test]
    fn mc24_half_typed_attributes_are_errors_and_never_panics() {
        for tokens in [
            quote!(re),
            quote!(retry(ma)),
            quote!(retry(max =)),
            quote!(retry(max = 3, backoff = expo)),
            quote!(retry(backoff = exponential())),
            quote!(retry(backoff = exponential)),
            quote!(retry(on = )),
            quote!(timeout),
            quote!(timeout = ),
            quote!(timeout()),
            quote!(fallback = |c|),
            quote!(fallback()),
            quote!(order = ),
            quote!(circuit_breaker = ),
            quote!(circuit_breaker("")),
            quote!(rate_limiter(rate)),
            quote!(rate_limiter(rate =)),
            quote!(rate_limiter(rate = "100")),
            quote!(rate_limiter(quota::)),
            quote!(bulkhead(max_)),
            quote!(retry(budget)),
            quote!(, ,),
            quote!(=),
        ]
        .into_iter()
        .filter(|tokens| !tokens.is_empty())
        {
            assert_ne!(said(tokens.clone()), [""; 0], "{tokens}");
        }
    }

    #[test]
    fn an_option_outside_of_its_policy_is_told_where_it_belongs() {
        assert_eq!(
            said(quote!(max = 3, wait = "1s", cost = 2, ttl = "1s", retry_budget = "b", key = k)),
            [
                "`max` is an option of `retry`",
                "`wait` is an option of `rate_limiter` and `bulkhead`",
                "`cost` is an option of `rate_limiter`",
                "`ttl` is an option of `retry_budget`",
                "a retry budget is part of `retry`",
                "unknown key `key`",
            ]
        );
    }

    #[test]
    fn all_errors_of_an_attribute_are_found_at_once() {
        let said = said(quote!(
            retri(max = 3),
            circuit_breaker(window = "10", min_calls = -1, failure_rate = 50, opn_for = "1s"),
            timeout = 200,
            hedge(after = "30ms"),
            rate_limiter(rate = 100, burst = "5", start = ful, shard = 2, cost = "5"),
            bulkhead(max_concurrent = "8", wait = 10, discipline = lifo),
            retry(
                max = "3",
                budget(ratio = "20%"),
                backoff = exponential(5, factor = 0.5, cup = "1s"),
                jitter = ful
            ),
        ));
        assert_eq!(
            said,
            [
                "unknown key `retri`",
                "`hedge` is not available in this version",
                "unknown key `opn_for`",
                "the duration `10` has no unit",
                "a count cannot be negative",
                "`50` may be a percentage or a fraction",
                "the duration `200` has no unit",
                "unknown key `shard`",
                "the rate `100` has no period",
                "expected a whole number",
                "unknown start `ful`",
                "a cost is a number of cells",
                "`discipline` is not available in this version",
                "expected a whole number",
                "the duration `10` has no unit",
                "a retry budget is shared, and is declared where others find it",
                "expected a whole number",
                "unknown name `cup`",
                "the duration `5` has no unit",
                "expected a whole number",
                "unknown kind of jitter `ful`",
            ]
        );
    }
}
