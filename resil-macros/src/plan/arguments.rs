//! What is done with the arguments, so that each attempt has them.

use crate::args::Args;
use crate::target::{Binding, BindingKind, Target, Traits, bindings};
use proc_macro2::{Ident, Span};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Token};

/// What is done with the arguments.
#[derive(Default)]
pub(crate) struct Arguments {
    /// Borrowed anew for each attempt: the name, and whether it is bound as `mut`.
    pub(crate) reborrowed: Vec<(Ident, bool)>,
    /// Cloned for an attempt while another may follow.
    pub(crate) cloned: Vec<(Ident, bool)>,
    /// Borrowed exclusively by the async block, so that it is `Send` without their being `Sync`.
    pub(crate) forced: Vec<Forced>,
}

/// An argument that the async block borrows exclusively.
pub(crate) struct Forced {
    pub(crate) name: Ident,
    pub(crate) attrs: Vec<Attribute>,
    /// It is a `&mut` already.
    pub(crate) through: bool,
}

impl Arguments {
    /// Decides about each argument, and adds or takes away the `mut` that the decision needs.
    pub(super) fn new(args: &Args, target: &mut Target) -> Self {
        let retries = args.policies.retry.is_some();
        let clone = args.clone.as_ref().map(|(_, names)| &names[..]).unwrap_or_default();
        let borrows = target.output().is_some_and(|output| Traits::of(output).borrows);
        let mut arguments = Self::default();
        let (mut with_mut, mut without_mut) = (Vec::new(), Vec::new());
        for Binding { name, mutable, kind, attrs } in bindings(&target.sig) {
            let mentioned = target.body.mentions(&name);
            let owned = matches!(kind, BindingKind::Value | BindingKind::Part);
            let through = kind == BindingKind::Exclusive;
            let forced =
                target.is_async() && mentioned && !borrows && ((owned && !mutable) || through);
            let is_cloned = retries && clone.contains(&name);
            let is_reborrowed = retries && mentioned && through && name != "self";
            if is_cloned {
                arguments.cloned.push((name.clone(), mutable || (forced && owned)));
            } else if is_reborrowed {
                arguments.reborrowed.push((name.clone(), mutable));
            }
            if is_cloned || is_reborrowed {
                without_mut.push(name.clone());
            } else if forced && owned {
                with_mut.push(name.clone());
            }
            if forced {
                let attrs = attrs.into_iter().cloned().collect();
                arguments.forced.push(Forced { name, attrs, through });
            }
        }
        let mut rewrite = Rewrite { with_mut, without_mut };
        rewrite.visit_signature_mut(&mut target.sig);
        arguments
    }
}

/// Adds or takes away `mut` in front of arguments.
struct Rewrite {
    with_mut: Vec<Ident>,
    without_mut: Vec<Ident>,
}

impl Rewrite {
    fn apply(&self, name: &Ident, mutability: &mut Option<Token![mut]>) {
        if self.with_mut.contains(name) {
            *mutability = Some(Token![mut](name.span().resolved_at(Span::mixed_site())));
        } else if self.without_mut.contains(name) {
            *mutability = None;
        }
    }
}

impl VisitMut for Rewrite {
    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        self.apply(&pat.ident, &mut pat.mutability);
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_receiver_mut(&mut self, receiver: &mut syn::Receiver) {
        let name = Ident::new("self", receiver.self_token.span);
        self.apply(&name, &mut receiver.mutability);
    }
}
