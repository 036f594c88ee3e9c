//! What a type tells by how it is written.

use crate::target::peel;
use quote::ToTokens;
use syn::{GenericArgument, PathArguments, PathSegment, Type, TypePath};

/// Whether the type is written as a future.
pub(super) fn is_future(ty: &Type) -> bool {
    let of_bounds = |bounds: &dyn ToTokens| {
        bounds.to_token_stream().into_iter().any(|tree| tree.to_string() == "Future")
    };
    match peel(ty) {
        Type::ImplTrait(opaque) => of_bounds(&opaque.bounds),
        Type::Path(path) => last_segment(path).is_some_and(|segment| {
            let boxed = segment.ident == "BoxFuture" || segment.ident == "LocalBoxFuture";
            boxed || (segment.ident == "Pin" && of_bounds(&segment.arguments))
        }),
        _ => false,
    }
}

/// Return types that no `Classify` can be written for and that are no `Result`.
pub(super) fn is_plain(output: &Type) -> bool {
    const STD: [&str; 20] = [
        "Option", "String", "Vec", "bool", "char", "str", "u8", "u16", "u32", "u64", "u128",
        "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
    ];
    match peel(output) {
        Type::Path(path) => {
            let mut names = path.path.segments.iter().map(|segment| &segment.ident);
            let home = names.next().is_some_and(|first| first == "std" || first == "core");
            path.qself.is_none()
                && (path.path.segments.len() == 1 || home)
                && last_segment(path)
                    .is_some_and(|segment| STD.iter().any(|name| segment.ident == name))
        }
        Type::Tuple(_)
        | Type::Reference(_)
        | Type::Array(_)
        | Type::Slice(_)
        | Type::Ptr(_)
        | Type::Never(_) => true,
        _ => false,
    }
}

fn last_segment(path: &TypePath) -> Option<&PathSegment> {
    path.path.segments.last()
}

/// The `E` of a written `Result<T, E>`.
pub(crate) fn error_type(output: &Type) -> Option<&Type> {
    let Type::Path(path) = peel(output) else { return None };
    let segment = last_segment(path).filter(|segment| segment.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.nth(1)
}
