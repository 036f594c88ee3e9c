//! What is to be emitted, with every default and choice made.
//!
//! Invariant: nothing is refused here. A plan may be nonsense; whether it is, `check` says.

mod arguments;
mod gates;

pub(crate) use arguments::{Arguments, Forced};
pub(crate) use gates::{Gate, GateKind, Gates};

use crate::args::Args;
use crate::body::mentions;
use crate::policies::fallback::{Answers, Fallback};
use crate::policies::timeout::Late;
use crate::policies::{BudgetSettings, Policies, Retry, Settings, Shared};
use crate::target::{Target, peel};
use crate::values::Pattern;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{Path, Token, Type};

/// A guarded function, decided upon.
pub(crate) struct Plan {
    pub(crate) args: Args,
    pub(crate) target: Target,
    /// What the function's own policies are called.
    pub(crate) name: TokenStream,
    /// The return type with `_` for every `impl Trait`.
    pub(crate) returns: TokenStream,
    pub(crate) gates: Gates,
    pub(crate) breaker: Option<Breaker>,
    /// The path of the budget that pays for further attempts.
    pub(crate) budget: Option<Path>,
    /// What the patterns of the whole function say, the first match first.
    pub(crate) verdicts: Verdicts,
    /// What travels from an attempt to the end of the function.
    pub(crate) carrier: Carrier,
    /// The newest outcome is kept while a gate may still refuse the next attempt, or a hook outlive the deadline.
    pub(crate) holds: bool,
    /// The arguments are bound for an attempt before its gates are asked: what one of them is asked for depends on that.
    pub(crate) rebinds_first: bool,
    /// Only the compiler can tell whether the return type has anything to retry: what is written is neither a `Result` nor
    /// one of a few types that surely have not, nor does it depend on a parameter.
    pub(crate) asks_type: bool,
    pub(crate) arguments: Arguments,
}

/// What a breaker has beyond other gates.
pub(crate) struct Breaker {
    /// One admission for all attempts, instead of one each.
    pub(crate) outside: bool,
    /// What its own patterns say.
    pub(crate) verdicts: Verdicts,
}

/// Arms of a `match` over a reference to the outcome.
#[derive(Default)]
pub(crate) struct Verdicts {
    /// A pattern, and the method of `Judgement` that it calls for.
    pub(crate) arms: Vec<(Pattern, &'static str)>,
    /// The method for all else.
    pub(crate) otherwise: Option<&'static str>,
}

/// What travels from an attempt to the end of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Carrier {
    /// What the body returned.
    Outcome,
    /// That, or a refusal.
    OrRejected,
    /// That with its judgement, or a refusal: a fallback looks at both.
    Ended,
}

impl Plan {
    pub(crate) fn new(mut args: Args, mut target: Target) -> Self {
        if let Some(retry) = &mut args.policies.retry
            && args.policies.timeout.is_some()
            && !target.is_async()
        {
            // A sync body is not interrupted: the time it took is gone.
            retry.default_on_timeout(false);
        }
        let policies = &args.policies;
        let gates = Gates::new(&args);
        let breaker = Breaker::new(&args, &gates);
        let budget = policies.retry.as_ref().and_then(|retry| retry.budget.as_ref());
        let budget = budget.map(|budget| shared_path(&args, BudgetSettings::KIND, &budget.source));
        let holds =
            policies.retry.is_some() && (!gates.each.is_empty() || policies.deadline.is_some());
        let chosen = args.failure.is_some()
            || policies.retry.as_ref().is_none_or(|retry| retry.on.is_some())
            || retries_timeouts(policies, &target);
        let asks_type = !chosen && target.output().is_some_and(|output| is_opaque(output, &target));
        let verdicts = Verdicts::of_function(&args);
        let carrier = Carrier::new(policies);
        let arguments = Arguments::new(&args, &mut target);
        let rebinds_first = rebinds_first(&args, &gates, &arguments);
        let name = args.name.as_ref().map_or_else(|| path_of(&target), ToTokens::into_token_stream);
        let returns = without_impl_trait(&target);
        Self {
            args,
            target,
            name,
            returns,
            gates,
            breaker,
            budget,
            verdicts,
            carrier,
            holds,
            rebinds_first,
            asks_type,
            arguments,
        }
    }

    pub(crate) fn policies(&self) -> &Policies {
        &self.args.policies
    }

    /// Where `resil` is, located at `span`.
    pub(crate) fn krate(&self, span: Span) -> TokenStream {
        if let Some(path) = &self.args.krate {
            path.to_token_stream()
        } else {
            quote_spanned!(span=> ::resil)
        }
    }

    /// Where the hidden parts of `resil` are, located at `span`.
    pub(crate) fn rt(&self, span: Span) -> TokenStream {
        let krate = self.krate(span);
        quote_spanned!(span=> #krate::__private)
    }

    pub(crate) fn is_async(&self) -> bool {
        self.target.is_async()
    }

    /// Whether an attempt may be ended by time.
    pub(crate) fn is_limited(&self) -> bool {
        is_limited(&self.args.policies)
    }

    /// Whether what comes late may be returned all the same.
    pub(crate) fn keeps_late(&self) -> bool {
        let late = self.args.policies.timeout.as_ref().and_then(|timeout| timeout.late.as_ref());
        let ended = matches!(late, Some((_, Late::Timeout)));
        !self.is_async() && self.is_limited() && !ended
    }

    /// Whether the attempt's time begins at a reading of the clock that a gate took.
    pub(crate) fn begins_at_a_gate(&self) -> bool {
        self.is_limited() && !self.gates.each.is_empty() && self.gates.reads_the_clock()
    }

    /// Whether a gate refuses the whole call, rather than an attempt.
    pub(crate) fn gates_the_call(&self) -> bool {
        !self.gates.around.is_empty()
            || (self.args.policies.retry.is_none() && !self.gates.each.is_empty())
    }

    /// Whether anybody wants to know how an attempt went.
    pub(crate) fn is_judged(&self) -> bool {
        self.args.policies.retry.is_some()
            || self.breaker.is_some()
            || self.carrier == Carrier::Ended
    }
}

/// Whether what is written tells nothing about failures and stands for one type only.
fn is_opaque(output: &Type, target: &Target) -> bool {
    let Type::Path(path) = peel(output) else { return false };
    let text = output.to_token_stream().to_string();
    let generic = |name: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
    };
    let parameters = target.sig.generics.type_params().any(|one| generic(&one.ident.to_string()));
    let result = path.path.segments.last().is_some_and(|last| last.ident == "Result");
    let borrows = text.contains(['\'', '&']);
    let depends = parameters || borrows || generic("Self") || generic("impl");
    path.qself.is_none() && !result && !depends
}

/// Whether the cost of an attempt mentions what only that attempt has: a clone of an argument, or the attempt's number.
fn rebinds_first(args: &Args, gates: &Gates, arguments: &Arguments) -> bool {
    let cost = args.policies.rate_limiter.as_ref().and_then(|limiter| limiter.cost.as_ref());
    let Some(cost) =
        cost.filter(|_| gates.each.iter().any(|gate| gate.kind == GateKind::RateLimiter))
    else {
        return false;
    };
    let number = args.policies.retry.as_ref().and_then(Retry::attempt);
    let cloned = arguments.cloned.iter().map(|(name, _)| name);
    cloned.chain(number).any(|name| mentions(cost.to_token_stream(), name))
}

fn is_limited(policies: &Policies) -> bool {
    policies.timeout.is_some() || policies.deadline.is_some()
}

/// Whether a timeout may be a reason for another attempt, so that outcomes need not be.
pub(crate) fn retries_timeouts(policies: &Policies, target: &Target) -> bool {
    if target.is_async() {
        return is_limited(policies);
    }
    let on_timeout = policies.retry.as_ref().and_then(Retry::on_timeout);
    policies.timeout.is_some() && on_timeout == Some(true)
}

impl Breaker {
    fn new(args: &Args, gates: &Gates) -> Option<Self> {
        let policies = &args.policies;
        let breaker = policies.circuit_breaker.as_ref()?;
        let outside = gates.around.iter().any(|gate| gate.kind == GateKind::CircuitBreaker);
        let verdicts = Verdicts {
            arms: [(&breaker.ignore, "ignore"), (&breaker.failure, "fail")]
                .into_iter()
                .filter_map(|(pattern, method)| Some((pattern.clone()?, method)))
                .collect(),
            otherwise: None,
        };
        Some(Self { outside, verdicts })
    }
}

/// The path of the `static` that functions share, of the kind that the registry knows by that name.
pub(crate) fn shared_path(args: &Args, kind: &str, shared: &Shared) -> Path {
    match shared {
        Shared::Named(name) => in_registry(args.registry.as_ref(), kind, name),
        Shared::Path(path) => qualified(path.clone()),
    }
}

/// The path with one segment as ours, lest it be called unnecessary: here a single name would mean something else. That is
/// a keyword, which then stands at the name, or a segment in between; an error about the whole is still told at the name.
fn qualified(mut path: Path) -> Path {
    let last = path.segments.len().saturating_sub(1);
    let at = path.segments[last].ident.span();
    for (index, segment) in path.segments.iter_mut().take(last).enumerate() {
        let keyword = ["self", "super", "crate"].iter().any(|word| segment.ident == word);
        if keyword || index > 0 {
            let place = if keyword { at } else { segment.ident.span() };
            segment.ident.set_span(place.resolved_at(Span::mixed_site()));
        }
    }
    path
}

/// `crate::policies::circuit_breaker::gateway`, every part of it at the name. The last is the user's own, so that the
/// compiler's suggestions for it are shown; the others are ours, lest they be called unnecessary.
fn in_registry(registry: Option<&Path>, kind: &str, name: &Ident) -> Path {
    let at = name.span();
    let ours = at.resolved_at(Span::mixed_site());
    let kind = Ident::new(kind, ours);
    match registry {
        Some(registry) => syn::parse_quote_spanned!(ours=> #registry::#kind::#name),
        None => syn::parse_quote_spanned!(ours=> crate::policies::#kind::#name),
    }
}

/// `__RESIL_RETRY` for `retry`.
pub(crate) fn static_name(key: &Ident) -> Ident {
    let at = key.span().resolved_at(Span::mixed_site());
    format_ident!("__RESIL_{}", key.unraw().to_string().to_uppercase(), span = at)
}

impl Verdicts {
    fn of_function(args: &Args) -> Self {
        let (on, abort) = match &args.policies.retry {
            Some(retry) => (retry.on.as_ref(), retry.abort.as_ref()),
            None => (None, None),
        };
        let (failure, ignore) = (args.failure.as_ref(), args.ignore.as_ref());
        let selects = on.is_some();
        let failed = if selects { "fail_once" } else { "fail" };
        let arms = [(abort, "abort"), (ignore, "ignore"), (on, "retry"), (failure, failed)]
            .into_iter()
            .filter_map(|(pattern, method)| Some((pattern?.clone(), method)))
            .collect();
        Self { arms, otherwise: selects.then_some("unlisted") }
    }
}

impl Carrier {
    fn new(policies: &Policies) -> Self {
        let looks_at_errors = |fallback: &Fallback| match &fallback.answers {
            Answers::Whole(_) => true,
            Answers::ByCause(answers) => answers.error.is_some(),
        };
        match &policies.fallback {
            Some(fallback) if looks_at_errors(fallback) => Self::Ended,
            Some(_) => Self::OrRejected,
            None if is_limited(policies) => Self::OrRejected,
            None => Self::Outcome,
        }
    }
}

/// `module::path::function`.
fn path_of(target: &Target) -> TokenStream {
    let name = format!("::{}", target.sig.ident.unraw());
    quote!(::core::concat!(::core::module_path!(), #name))
}

/// The return type as a closure may have it; `()` stands at the function's name.
fn without_impl_trait(target: &Target) -> TokenStream {
    struct Infer;
    impl VisitMut for Infer {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            if let Type::ImplTrait(opaque) = ty {
                let at = opaque.impl_token.span;
                *ty = Type::Infer(syn::TypeInfer {
                    attrs: Vec::new(),
                    underscore_token: Token![_](at),
                });
            } else {
                visit_mut::visit_type_mut(self, ty);
            }
        }
    }
    let Some(output) = target.output() else {
        // Ours, lest the unit be called unneeded.
        let at = target.sig.ident.span().resolved_at(Span::mixed_site());
        return quote_spanned!(at=> ());
    };
    let mut output = output.clone();
    Infer.visit_type_mut(&mut output);
    output.into_token_stream()
}
