//! `#[derive(Classify)]`: what the variants of an error mean.

use crate::diag::{self, Diagnostics};
use crate::syntax::{Entry, List, Value};
use crate::values::bare;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Expr, ExprLit, ExprPath, Fields, Lit, LitStr, Meta, Path};

/// What `#[resil(…)]` says about a variant, or about a struct.
#[derive(Default)]
struct Marks {
    transient: Option<Ident>,
    ignore: Option<Ident>,
    retry_after: Option<LitStr>,
    krate: Option<Path>,
}

const VARIANT: [&str; 3] = ["transient", "ignore", "retry_after"];

/// The `impl`, or errors.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut out = Diagnostics::default();
    let known: &[&str] = match &input.data {
        Data::Struct(_) => &["transient", "ignore", "retry_after", "crate"],
        Data::Enum(_) | Data::Union(_) => &["crate"],
    };
    let marks = Marks::read(&input.attrs, known, &mut out);
    let root = marks.krate.as_ref();
    let krate = krate(root, Span::mixed_site());
    let arms = match &input.data {
        Data::Enum(data) => {
            let arms = data.variants.iter().map(|variant| {
                let marks = Marks::read(&variant.attrs, &VARIANT, &mut out);
                let name = &variant.ident;
                arm(&quote!(Self::#name), &variant.fields, &marks, root, &mut out)
            });
            arms.collect()
        }
        Data::Struct(data) => vec![arm(&quote!(Self), &data.fields, &marks, root, &mut out)],
        Data::Union(data) => {
            let at = data.union_token;
            out.push(diag::error(
                at,
                "a union cannot say what it is",
                "an `enum`, or `impl Classify` by hand",
            ));
            Vec::new()
        }
    };
    if !out.is_empty() {
        return out.into_compile_errors();
    }
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    // An enum without variants has no arm: there is nothing to match by reference.
    let body =
        if arms.is_empty() { quote!(match *self {}) } else { quote!(match self { #(#arms)* }) };
    quote! {
        impl #generics #krate::Classify for #name #arguments #bounds {
            fn classify(&self) -> #krate::Judgement {
                #body
            }
        }
    }
}

/// Where `resil` is, located at `at`.
fn krate(root: Option<&Path>, at: Span) -> TokenStream {
    root.map_or_else(|| quote_spanned!(at=> ::resil), ToTokens::to_token_stream)
}

impl Marks {
    fn read(attrs: &[Attribute], known: &[&str], out: &mut Diagnostics) -> Self {
        let mut marks = Self::default();
        let mut list = List::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("resil")) {
            match &attr.meta {
                Meta::List(meta) => {
                    list.entries.extend(List::read(meta.tokens.clone(), out).entries);
                }
                other => {
                    out.push(diag::error(
                        other,
                        "`resil` needs what it says in parentheses",
                        "`#[resil(transient)]`",
                    ));
                }
            }
        }
        for entry in list.known(known, &[], out) {
            let read = marks.take(entry);
            out.take(read);
        }
        if let (Some(_), Some(second)) = (&marks.transient, &marks.ignore) {
            let wrong = "`ignore` contradicts `transient`: what has no vote is not tried again";
            out.push(diag::error(second, wrong, "one of the two"));
        }
        if let (Some(second), Some(_)) = (&marks.retry_after, &marks.ignore) {
            let wrong =
                "`retry_after` does nothing beside `ignore`: what has no vote is not tried again";
            out.push(diag::error(second, wrong, "`transient` instead of `ignore`"));
        }
        marks
    }

    fn take(&mut self, entry: Entry) -> syn::Result<()> {
        match entry.key.to_string().as_str() {
            "transient" => self.transient = Some(entry.word()?),
            "ignore" => self.ignore = Some(entry.word()?),
            "retry_after" => self.retry_after = Some(field_name(entry)?),
            _ => self.krate = Some(crate_path(entry)?),
        }
        Ok(())
    }
}

fn field_name(entry: Entry) -> syn::Result<LitStr> {
    let key = entry.key.clone();
    match entry.value {
        Value::Expr(_, Expr::Lit(ExprLit { lit: Lit::Str(name), .. })) => Ok(name),
        _ => Err(diag::error(
            key,
            "`retry_after` names a field in quotes",
            "`#[resil(transient, retry_after = \"wait\")]`",
        )),
    }
}

fn crate_path(entry: Entry) -> syn::Result<Path> {
    let key = entry.key.clone();
    let expr = entry.expr("crate = facade::resil")?;
    match bare(&expr) {
        Expr::Path(ExprPath { qself: None, path, .. }) => Ok(path.clone()),
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.parse(),
        _ => Err(diag::error(
            key,
            "expected the path of a crate or module",
            "`#[resil(crate = facade::resil)]`",
        )),
    }
}

/// `Self::Busy { after: field } => …,`.
fn arm(
    variant: &TokenStream,
    fields: &Fields,
    marks: &Marks,
    root: Option<&Path>,
    out: &mut Diagnostics,
) -> TokenStream {
    let krate = krate(root, Span::mixed_site());
    let judgement = quote!(#krate::Judgement);
    if let Some(name) = &marks.retry_after {
        let Some(member) = member(fields, name, out) else { return TokenStream::new() };
        let rt = quote!(#krate::__private);
        let at = name.span().resolved_at(Span::mixed_site());
        let field = Ident::new("__resil_field", at);
        let krate = self::krate(root, at);
        let hint = quote_spanned!(at=> #krate::__private::Hint::hint(#field));
        return quote!(#variant { #member: #field, .. } => #rt::with_hint(#judgement::TRANSIENT, #hint),);
    }
    if marks.transient.is_some() {
        return quote!(#variant { .. } => #judgement::TRANSIENT,);
    }
    if marks.ignore.is_some() {
        return quote!(#variant { .. } => #judgement::IGNORED,);
    }
    // Unmarked: a failure, unless what it carries is or hides a refusal.
    let rt = quote!(#krate::__private);
    let names: Vec<_> = (0..fields.len())
        .map(|index| format_ident!("__resil_field_{index}", span = Span::mixed_site()))
        .collect();
    if names.is_empty() {
        return quote!(#variant { .. } => #judgement::FAILURE,);
    }
    let members = fields.members();
    quote! {
        #variant { #(#members: #names),* } => {
            use #rt::Carry as _;
            if #((&&&&#rt::Carried(#names)).__resil_carries_refusal())||* {
                #judgement::IGNORED
            } else {
                #judgement::FAILURE
            }
        }
    }
}

/// The field of this name, or number.
fn member(fields: &Fields, name: &LitStr, out: &mut Diagnostics) -> Option<syn::Member> {
    let text = name.value();
    let members: Vec<_> = fields.members().collect();
    let names: Vec<_> = members.iter().map(|member| member.to_token_stream().to_string()).collect();
    if let Some(found) = names.iter().position(|known| *known == text) {
        let mut member = members[found].clone();
        if let syn::Member::Named(ident) = &mut member {
            ident.set_span(name.span());
        }
        return Some(member);
    }
    let help = match diag::closest(&text, names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if names.is_empty() => "a variant with a field that says how long to wait".to_owned(),
        None => format!("its fields are {}", diag::listed(names.iter().map(String::as_str))),
    };
    out.push(diag::error(name, format!("there is no field `{}`", text.escape_debug()), help));
    None
}
