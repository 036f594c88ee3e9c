//! `fallback`: what answers in place of what failed.

use super::{Row, Rules};
use crate::diag::{self, Diagnostics};
use crate::syntax::{List, Value, shape};
use crate::values::{Call, bare};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Expr, ExprClosure, ExprPath, Pat};

/// A function's fallback.
#[derive(Debug)]
pub(crate) struct Fallback {
    key: Ident,
    pub(crate) answers: Answers,
}

/// What answers for what.
#[derive(Debug)]
pub(crate) enum Answers {
    /// One for every cause.
    Whole(Answer),
    /// One a cause; what has none goes to the caller as it is.
    ByCause(Box<ByCause>),
}

/// The answers to single causes.
#[derive(Default, Debug)]
pub(crate) struct ByCause {
    pub(crate) rejected: Option<Answer>,
    pub(crate) timeout: Option<Answer>,
    pub(crate) error: Option<Answer>,
}

/// Where an answer comes from.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A function that is called with the cause.
    Path(ExprPath),
    /// A closure, expanded in place: its parameter, if any, and its body.
    Closure(Option<Box<Pat>>, Box<Expr>),
    /// An expression that does not look at the cause.
    Value(Box<Expr>),
}

const EXAMPLE: &str = "fallback = |cause| Ok(cached(key))";

impl Row for Fallback {
    const KEY: &'static str = "fallback";

    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self> {
        let answers = match value {
            Value::Expr(_, expr) => Answers::Whole(out.take(answer(&expr))?),
            Value::List(group) => by_cause(&key, List::read(group.stream(), out), out)?,
            Value::Word | Value::Pattern(_) => {
                out.push(shape(&key, EXAMPLE));
                return None;
            }
        };
        Some(Self { key, answers })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, _rules: &mut Rules<'_>) {}

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        Some((quote!(#rt::Fallback), quote!(#rt::Fallback::builder(#name).build())))
    }
}

fn by_cause(key: &Ident, list: List, out: &mut Diagnostics) -> Option<Answers> {
    let mut answers = ByCause::default();
    for stray in &list.plain {
        let help = "`fallback(rejected = …, error = …)`";
        out.push(diag::error(stray, "an answer is given to a cause", help));
    }
    for entry in list.known(&["rejected", "timeout", "error"], &["max_concurrent", "within"], out) {
        let cause = entry.key.to_string();
        let example = format!("{cause} = |_| Ok(cached(key))");
        let answer = Some(out.take(entry.expr(&example).and_then(|expr| answer(&expr)))?);
        match cause.as_str() {
            "rejected" => answers.rejected = answer,
            "timeout" => answers.timeout = answer,
            _ => answers.error = answer,
        }
    }
    if answers.rejected.is_none() && answers.timeout.is_none() && answers.error.is_none() {
        if out.is_empty() {
            out.push(shape(key, EXAMPLE));
        }
        return None;
    }
    Some(Answers::ByCause(Box::new(answers)))
}

fn answer(expr: &Expr) -> syn::Result<Answer> {
    match bare(expr) {
        Expr::Path(path) => Ok(Answer::Path(path.clone())),
        Expr::Closure(closure) => from_closure(closure),
        call @ Expr::Call(_) => {
            let value = Call::read(call).filter(|call| call.name == "value");
            let value = value.and_then(|call| call.arguments(&[], "", &mut Diagnostics::default()));
            match value.as_ref().map(|arguments| &arguments.plain[..]) {
                Some([value]) => Ok(Answer::Value(Box::new((*value).clone()))),
                _ => Err(not_an_answer(call)),
            }
        }
        other => Err(not_an_answer(other)),
    }
}

fn from_closure(closure: &ExprClosure) -> syn::Result<Answer> {
    if let Some(asyncness) = &closure.asyncness {
        return Err(diag::error(
            asyncness,
            "the closure is expanded in place, where `.await` works as it is",
            "leave out `async`",
        ));
    }
    let mut inputs = closure.inputs.iter();
    let (first, second) = (inputs.next(), inputs.next());
    if let Some(second) = second {
        return Err(diag::error(
            second,
            "a fallback gets one thing: the cause",
            format!("`{EXAMPLE}`"),
        ));
    }
    Ok(Answer::Closure(first.cloned().map(Box::new), closure.body.clone()))
}

fn not_an_answer(at: &Expr) -> syn::Error {
    diag::error(
        at,
        "expected a closure or the path of a function",
        format!("`{EXAMPLE}`; `fallback = value(…)` for what does not depend on the cause"),
    )
}
