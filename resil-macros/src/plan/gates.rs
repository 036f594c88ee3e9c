//! The gates of a function: which there are, in which order they are asked, and which of them stand around all attempts.

use super::{shared_path, static_name};
use crate::args::Args;
use crate::policies::{self, Bulkhead, CircuitBreaker, RateLimiter, Retry, Row, Settings, Source};
use proc_macro2::Ident;
use syn::Path;

/// The gates, outermost first: those around all attempts, and then those that each attempt passes anew.
pub(crate) struct Gates {
    /// Empty without `retry`.
    pub(crate) around: Vec<Gate>,
    pub(crate) each: Vec<Gate>,
}

/// A policy that may refuse.
pub(crate) struct Gate {
    pub(crate) kind: GateKind,
    /// The key of the attribute.
    pub(crate) key: Ident,
    /// The path of its `static`.
    pub(crate) path: Path,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GateKind {
    CircuitBreaker,
    RateLimiter,
    Bulkhead,
}

impl Gates {
    pub(super) fn new(args: &Args) -> Self {
        let policies = &args.policies;
        let mut gates: Vec<_> = [
            policies
                .circuit_breaker
                .as_ref()
                .map(|row| Gate::new(args, GateKind::CircuitBreaker, row, &row.source)),
            policies
                .rate_limiter
                .as_ref()
                .map(|row| Gate::new(args, GateKind::RateLimiter, row, &row.source)),
            policies
                .bulkhead
                .as_ref()
                .map(|row| Gate::new(args, GateKind::Bulkhead, row, &row.source)),
        ]
        .into_iter()
        .flatten()
        .collect();
        gates.sort_by_key(|gate| rank(args, gate.kind.key()));
        let retry = policies.retry.as_ref().map(|_| rank(args, Retry::KEY));
        let (around, each) = gates
            .into_iter()
            .partition(|gate| retry.is_some_and(|retry| rank(args, gate.kind.key()) < retry));
        Self { around, each }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.around.is_empty() && self.each.is_empty()
    }

    /// Whether a gate may make an attempt wait.
    pub(crate) fn wait_in_each(&self) -> bool {
        self.each.iter().any(|gate| gate.kind != GateKind::CircuitBreaker)
    }

    /// The gates that are asked where the last one lets the call through: then its time begins.
    pub(crate) fn last(&self) -> &[Gate] {
        if self.each.is_empty() { &self.around } else { &self.each }
    }

    /// Whether this gate is one of those.
    pub(crate) fn is_last(&self, gate: &Gate) -> bool {
        self.last().iter().any(|last| last.kind == gate.kind)
    }

    /// Whether the time of the breaker's permit begins later than it is given: there are gates inside, or one whose
    /// reading of the clock will do.
    pub(crate) fn breaker_is_gated(&self) -> bool {
        let mut inside = self.around.iter().chain(&self.each);
        let breaker = inside.find(|gate| gate.kind == GateKind::CircuitBreaker);
        breaker.is_some() && (inside.next().is_some() || self.reads_the_clock())
    }

    /// Whether the gates end with a reading of the clock, at which the attempt was let through.
    pub(crate) fn reads_the_clock(&self) -> bool {
        self.last().iter().any(|gate| gate.kind == GateKind::RateLimiter)
    }

    /// Whether a call may wait for a place after that reading.
    pub(crate) fn may_wait_since(&self) -> bool {
        let mut after = self.last().iter().skip_while(|gate| gate.kind != GateKind::RateLimiter);
        after.any(|gate| gate.kind == GateKind::Bulkhead)
    }
}

impl Gate {
    fn new<R: Row, S: Settings>(args: &Args, kind: GateKind, row: &R, source: &Source<S>) -> Self {
        let path = match source {
            Source::Shared(shared) => shared_path(args, S::KIND, shared),
            Source::Inline(_) => static_name(row.key()).into(),
        };
        Self { kind, key: row.key().clone(), path }
    }
}

impl GateKind {
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::CircuitBreaker => CircuitBreaker::KEY,
            Self::RateLimiter => RateLimiter::KEY,
            Self::Bulkhead => Bulkhead::KEY,
        }
    }
}

/// Where a policy stands: as `order` has it, else as by default.
fn rank(args: &Args, key: &str) -> usize {
    let written =
        args.order.as_ref().and_then(|(_, order)| order.iter().position(|one| one == key));
    let standard = || policies::ORDER.iter().position(|one| *one == key);
    written.or_else(standard).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::GateKind::{Bulkhead as Places, CircuitBreaker as Breaker, RateLimiter as Limiter};
    use super::*;
    use crate::diag::Diagnostics;
    use proc_macro2::TokenStream;
    use quote::quote;

    fn gates(order: &TokenStream) -> Gates {
        let mut out = Diagnostics::default();
        let policies =
            quote!(retry(max = 2), circuit_breaker = "a", rate_limiter = "b", bulkhead = "c");
        let gates = Gates::new(&Args::read(quote!(#policies, #order), &mut out));
        assert!(out.is_empty());
        gates
    }

    fn kinds(gates: &[Gate]) -> Vec<GateKind> {
        gates.iter().map(|gate| gate.kind).collect()
    }

    #[test]
    fn they_come_in_the_order_that_is_written() {
        let standard = gates(&quote!());
        assert_eq!(kinds(&standard.around), []);
        assert_eq!(kinds(&standard.each), [Breaker, Limiter, Places]);
        let own = gates(&quote!(order = [bulkhead, rate_limiter, retry, circuit_breaker]));
        assert_eq!(kinds(&own.around), [Places, Limiter]);
        assert_eq!(kinds(&own.each), [Breaker]);
    }

    #[test]
    fn b38_a_breaker_begins_after_the_gates_inside_it() {
        let is_gated = |order: &TokenStream| gates(order).breaker_is_gated();
        assert!(is_gated(&quote!()));
        assert!(
            is_gated(&quote!(order = [retry, rate_limiter, bulkhead, circuit_breaker])),
            "to share a reading"
        );
        assert!(is_gated(&quote!(order = [circuit_breaker, retry, rate_limiter, bulkhead])));
        assert!(is_gated(&quote!(order = [bulkhead, circuit_breaker, rate_limiter, retry])));
        assert!(
            is_gated(&quote!(order = [bulkhead, rate_limiter, circuit_breaker, retry])),
            "as above"
        );
        assert!(!is_gated(&quote!(order = [rate_limiter, retry, bulkhead, circuit_breaker])));
    }

    #[test]
    fn t01_a_reading_is_shared_within_one_attempt_only() {
        let read = |order: &TokenStream| {
            let gates = gates(order);
            (gates.reads_the_clock(), gates.may_wait_since())
        };
        assert_eq!(read(&quote!()), (true, true));
        assert_eq!(
            read(&quote!(order = [retry, bulkhead, rate_limiter, circuit_breaker])),
            (true, false)
        );
        assert_eq!(
            read(&quote!(order = [rate_limiter, retry, bulkhead, circuit_breaker])),
            (false, false)
        );
        assert_eq!(
            read(&quote!(order = [rate_limiter, bulkhead, circuit_breaker, retry])),
            (true, true)
        );
    }
}
