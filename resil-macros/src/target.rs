//! The function under the attribute: its signature, parsed.

use crate::body::Body;
use crate::diag;
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{
    Attribute, FnArg, Lifetime, Pat, PatIdent, Receiver, ReceiverKind, ReturnType, Signature, Type,
    TypeReference, Visibility,
};

/// A function.
pub(crate) struct Target {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    pub(crate) body: Body,
}

impl Target {
    pub(crate) fn read(item: TokenStream) -> syn::Result<Self> {
        let mut trees: Vec<_> = item.into_iter().collect();
        let last = trees.pop();
        let Some(braces) = last.clone().and_then(braces) else {
            trees.extend(last);
            return Err(no_body(&trees));
        };
        let head: TokenStream = trees.iter().cloned().collect();
        let read = |input: ParseStream<'_>| {
            let attrs = input.call(Attribute::parse_outer)?;
            let vis = input.parse()?;
            let sig = input.parse()?;
            Ok((attrs, vis, sig))
        };
        match read.parse2(head) {
            Ok((attrs, vis, sig)) => Ok(Self { attrs, vis, sig, body: Body::new(&braces) }),
            Err(error) => Err(not_a_function(&trees).unwrap_or(error)),
        }
    }

    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some()
    }

    /// The written return type, without invisible groups; nothing for `()`.
    pub(crate) fn output(&self) -> Option<&Type> {
        match &self.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(peel(ty)),
        }
    }

    /// Whether the function never returns.
    pub(crate) fn diverges(&self) -> bool {
        matches!(self.output(), Some(Type::Never(_)))
    }
}

/// The group in braces, out of the invisible ones that `$body:block` puts around it.
fn braces(tree: TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = tree else { return None };
    match group.delimiter() {
        Delimiter::Brace => Some(group),
        Delimiter::None => {
            let mut inner = group.stream().into_iter();
            let first = inner.next().and_then(braces)?;
            inner.next().is_none().then_some(first)
        }
        _ => None,
    }
}

fn no_body(trees: &[TokenTree]) -> syn::Error {
    if let Some(error) = not_a_function(trees) {
        return error;
    }
    let name = trees.iter().skip_while(|tree| !is_word(tree, "fn")).nth(1);
    let at = name.or(trees.first()).cloned();
    diag::error(
        at,
        "a function without a body cannot be guarded",
        "put `#[resilient]` on the implementation",
    )
}

fn is_word(tree: &TokenTree, word: &str) -> bool {
    matches!(tree, TokenTree::Ident(ident) if ident == word)
}

/// What stands there instead of a function.
fn not_a_function(trees: &[TokenTree]) -> Option<syn::Error> {
    const ITEMS: [&str; 10] =
        ["impl", "trait", "struct", "enum", "union", "mod", "type", "static", "use", "macro_rules"];
    if trees.iter().any(|tree| is_word(tree, "fn"))
        && !trees.iter().any(|tree| is_word(tree, "impl"))
    {
        return None;
    }
    let first = trees
        .iter()
        .find(|tree| ITEMS.iter().any(|word| is_word(tree, word)) || is_word(tree, "fn"))?;
    if is_word(first, "fn") {
        return None;
    }
    if is_word(first, "impl") {
        let wrong = "`#[resilient]` on an `impl` block is not available in this version";
        return Some(diag::error(first, wrong, "put it on each method"));
    }
    Some(diag::error(first, "`#[resilient]` guards functions", "put it on a `fn` or an `async fn`"))
}

/// The type without the invisible groups and parentheses around it.
pub(crate) fn peel(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peel(&group.elem),
        Type::Paren(paren) => peel(&paren.elem),
        other => other,
    }
}

/// How an argument is bound.
pub(crate) struct Binding<'a> {
    pub(crate) name: Ident,
    pub(crate) mutable: bool,
    pub(crate) kind: BindingKind,
    /// `#[cfg]`s of the argument.
    pub(crate) attrs: Vec<&'a Attribute>,
}

/// What a binding holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum BindingKind {
    /// A value of its own.
    Value,
    /// Part of a value, taken out by the outermost pattern: deeper ones may go through a reference unseen.
    Part,
    /// A `&mut` that was written as such.
    Exclusive,
    /// A `&` that was written as such, or what may be a binding by reference.
    Shared,
}

/// Every name that the signature binds, in order.
pub(crate) fn bindings(sig: &Signature) -> Vec<Binding<'_>> {
    let mut found = Vec::new();
    for input in &sig.inputs {
        match input {
            FnArg::Receiver(receiver) => found.push(receiver_binding(receiver)),
            FnArg::Typed(typed) => {
                let attrs = cfgs(&typed.attrs);
                if let Pat::Ident(PatIdent {
                    by_ref: None, mutability, ident, subpat: None, ..
                }) = &*typed.pat
                    && !is_constant(ident)
                {
                    found.push(Binding {
                        name: ident.clone(),
                        mutable: mutability.is_some(),
                        kind: kind_of(&typed.ty),
                        attrs,
                    });
                } else {
                    let lent = kind_of(&typed.ty) != BindingKind::Value;
                    let mut parts = Parts { attrs, lent, depth: 0, found: &mut found };
                    parts.visit_pat(&typed.pat);
                }
            }
        }
    }
    found
}

fn cfgs(attrs: &[Attribute]) -> Vec<&Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect()
}

fn receiver_binding(receiver: &Receiver) -> Binding<'_> {
    let kind = match &receiver.kind {
        ReceiverKind::Reference(_, _, Some(_)) => BindingKind::Exclusive,
        ReceiverKind::Reference(..) => BindingKind::Shared,
        ReceiverKind::Typed(_, ty) => kind_of(ty),
        _ => BindingKind::Value,
    };
    Binding {
        name: Ident::new("self", receiver.self_token.span),
        mutable: receiver.mutability.is_some(),
        kind,
        attrs: cfgs(&receiver.attrs),
    }
}

fn kind_of(ty: &Type) -> BindingKind {
    match peel(ty) {
        Type::Reference(TypeReference { mutability: Some(_), .. }) => BindingKind::Exclusive,
        Type::Reference(_) => BindingKind::Shared,
        _ => BindingKind::Value,
    }
}

/// `None` and unit structs look like bindings.
fn is_constant(name: &Ident) -> bool {
    name.unraw().to_string().starts_with(char::is_uppercase)
}

struct Parts<'a, 'b> {
    attrs: Vec<&'a Attribute>,
    /// The whole is a reference.
    lent: bool,
    depth: u32,
    found: &'b mut Vec<Binding<'a>>,
}

impl<'ast> Visit<'ast> for Parts<'_, '_> {
    fn visit_pat(&mut self, pat: &'ast Pat) {
        self.depth += 1;
        visit::visit_pat(self, pat);
        self.depth -= 1;
    }

    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        if !is_constant(&pat.ident) {
            let by_value = pat.by_ref.is_none() && !self.lent && self.depth == 2;
            self.found.push(Binding {
                name: pat.ident.clone(),
                mutable: pat.mutability.is_some(),
                kind: if by_value { BindingKind::Part } else { BindingKind::Shared },
                attrs: self.attrs.clone(),
            });
        }
        visit::visit_pat_ident(self, pat);
    }
}

/// What a type says about borrowing and hiding.
#[derive(Default)]
pub(crate) struct Traits {
    pub(crate) borrows: bool,
    pub(crate) exclusive: Option<Span>,
    pub(crate) opaque: bool,
}

impl Traits {
    pub(crate) fn of(ty: &Type) -> Self {
        let mut traits = Self::default();
        traits.visit_type(ty);
        traits
    }
}

impl<'ast> Visit<'ast> for Traits {
    fn visit_type_reference(&mut self, ty: &'ast TypeReference) {
        self.borrows |= ty.lifetime.is_none();
        if ty.mutability.is_some() && self.exclusive.is_none() {
            self.exclusive = Some(ty.and_token.span);
        }
        visit::visit_type_reference(self, ty);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        self.borrows |= lifetime.ident != "static";
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast syn::TypeImplTrait) {
        self.opaque = true;
        visit::visit_type_impl_trait(self, ty);
    }
}
