//! Expansions as files beside their sources, to be reviewed like sources.
//!
//! `RESIL_BLESS=1 cargo test -p resil-macros` writes them anew.

use crate::{classify, fallback, registry};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::path::{Path, PathBuf};
use std::{env, fs};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, File, ImplItem, Item, Meta, parse_file};

/// Expands what is ours in a file, as the compiler would.
struct Expand;

impl VisitMut for Expand {
    fn visit_file_mut(&mut self, file: &mut File) {
        file.items = std::mem::take(&mut file.items).into_iter().flat_map(expand_item).collect();
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_impl_item_mut(&mut self, item: &mut ImplItem) {
        if let ImplItem::Fn(function) = item
            && let Some(arguments) = take_arguments(&mut function.attrs)
        {
            let expanded = fallback::guarded(arguments, &function.to_token_stream());
            *item = syn::parse2(expanded).expect("one method comes out");
        }
    }
}

fn expand_item(mut item: Item) -> Vec<Item> {
    let expanded = match &mut item {
        Item::Fn(function) => match take_arguments(&mut function.attrs) {
            Some(arguments) => fallback::guarded(arguments, &function.to_token_stream()),
            None => return vec![item],
        },
        Item::Macro(call)
            if call.mac.path.segments.last().is_some_and(|last| last.ident == "registry") =>
        {
            let policies = &call.mac.tokens;
            registry::expand(quote!((::resil) #policies))
        }
        Item::Enum(_) => {
            let derived = classify::expand(item.to_token_stream());
            let mut plain = item;
            if let Item::Enum(plain) = &mut plain {
                plain.attrs.retain(|attr| !attr.path().is_ident("derive"));
                plain.variants.iter_mut().for_each(|variant| variant.attrs.clear());
            }
            quote!(#plain #derived)
        }
        _ => return vec![item],
    };
    syn::parse2::<File>(expanded).expect("items come out").items
}

fn take_arguments(attrs: &mut Vec<Attribute>) -> Option<TokenStream> {
    let at = attrs.iter().position(|attr| attr.path().is_ident("resilient"))?;
    match attrs.remove(at).meta {
        Meta::List(list) => Some(list.tokens),
        _ => Some(TokenStream::new()),
    }
}

fn expanded(source: &Path) -> String {
    let source = fs::read_to_string(source).expect("the source is readable");
    let mut file = parse_file(&source).expect("the source is Rust");
    Expand.visit_file_mut(&mut file);
    prettyplease::unparse(&file)
}

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let files = fs::read_dir(folder).expect("the folder is there");
    let mut sources: Vec<_> = files.map(|file| file.expect("readable").path()).collect();
    sources.retain(|path| !path.to_string_lossy().ends_with(".expanded.rs"));
    sources.sort();
    sources
}

#[test]
fn expansions_are_as_reviewed() {
    let bless = env::var_os("RESIL_BLESS").is_some();
    let mut differing = Vec::new();
    for source in sources() {
        let (now, file) = (expanded(&source), source.with_extension("expanded.rs"));
        if bless {
            fs::write(&file, &now).expect("the snapshot can be written");
        }
        if fs::read_to_string(&file).ok().as_deref() != Some(&now) {
            differing.push(format!("{}:\n{now}", file.display()));
        }
    }
    assert!(differing.is_empty(), "review, then bless:\n{}", differing.join("\n"));
}

#[test]
fn an_expansion_is_the_same_each_time() {
    for source in sources() {
        assert_eq!(expanded(&source), expanded(&source));
    }
}
