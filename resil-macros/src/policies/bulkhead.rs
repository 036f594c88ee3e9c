//! `bulkhead`: how many calls at a time; named, by path, or inline.

use super::{Row, Rules, Settings, Source, source};
use crate::diag::{self, Diagnostics};
use crate::syntax::{Entry, Value};
use crate::values::{Count, Duration};
use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Lit;

/// The calls that one word counts.
const MOST: u32 = (1 << 31) - 1;

/// A function's bulkhead.
#[derive(Debug)]
pub(crate) struct Bulkhead {
    key: Ident,
    pub(crate) source: Source<BulkheadSettings>,
}

/// What a bulkhead is set to.
#[derive(FromMeta, Default, Debug)]
#[darling(default)]
pub(crate) struct BulkheadSettings {
    max_concurrent: Option<Count>,
    #[darling(with = Duration::or_none)]
    pub(crate) wait: Option<Duration>,
    queue: Option<Count>,
    /// Something else was written that could not be read.
    #[darling(skip)]
    incomplete: bool,
}

impl Row for Bulkhead {
    const KEY: &'static str = "bulkhead";

    fn read(key: Ident, value: Value, out: &mut Diagnostics) -> Option<Self> {
        let (source, _) = Source::read(&key, value, out)?;
        Some(Self { key, source })
    }

    fn key(&self) -> &Ident {
        &self.key
    }

    fn check(&self, rules: &mut Rules<'_>) {
        self.source.check(&self.key, rules);
    }

    fn build(&self, rt: &TokenStream, name: &TokenStream) -> Option<(TokenStream, TokenStream)> {
        self.source.build(rt, name, self.key.span())
    }
}

impl Settings for BulkheadSettings {
    const KIND: &'static str = "bulkhead";
    const TYPE: &'static str = "Bulkhead";
    const OPTIONS_TYPE: &'static str = "BulkheadOptions";
    const EXAMPLE: &'static str = "bulkhead pool { max_concurrent = 64, wait = \"10ms\" }";
    const OPTIONS: &'static [&'static str] = &["max_concurrent", "wait", "queue"];
    const CALL: &'static [&'static str] = &[];
    const LATER: &'static [&'static str] = &["discipline", "priority", "shares", "key"];
    const ELSEWHERE: &'static [(&'static str, &'static str)] = &[
        ("concurrency", "max_concurrent = 64"),
        ("limit", "max_concurrent = 64"),
        ("permits", "max_concurrent = 64"),
        ("size", "max_concurrent = 64"),
        ("max_wait", "wait = \"10ms\""),
        ("max_wait_duration", "wait = \"10ms\""),
        ("timeout", "wait = \"10ms\""),
        ("max_queue", "queue = 32"),
        ("queue_capacity", "queue = 32"),
        ("queue_size", "queue = 32"),
    ];

    fn read(entries: Vec<Entry>, out: &mut Diagnostics) -> Self {
        let (settings, incomplete) = source::options::<Self>(entries, out);
        Self { incomplete, ..settings }
    }

    fn set_incomplete(&mut self) {
        self.incomplete = true;
    }

    fn meant(literal: &Lit) -> Option<String> {
        let Lit::Int(int) = literal else { return None };
        Some(format!("bulkhead(max_concurrent = {int})"))
    }

    fn stand_in() -> Self {
        let one = Count { value: 1, span: Span::call_site() };
        Self { max_concurrent: Some(one), ..Self::default() }
    }

    fn check(&self, key: &Ident, rules: &mut Rules<'_>) {
        for (count, name) in [(self.max_concurrent, "max_concurrent"), (self.queue, "queue")] {
            rules.must(count.map_or(Ok(()), |count| count.within(name, 0..=MOST)));
        }
        if !self.incomplete {
            rules.must(self.bulkhead_needs_max_concurrent(key));
            rules.must(self.queue_needs_wait());
            rules.must(self.wait_needs_queue());
        }
    }

    fn setters(&self, _rt: &TokenStream) -> Vec<TokenStream> {
        let setters = [
            self.max_concurrent.map(|n| quote!(.max_concurrent(#n))),
            self.wait.map(|d| quote!(.wait(#d))),
            self.queue.map(|n| quote!(.queue(#n))),
        ];
        setters.into_iter().flatten().collect()
    }
}

impl BulkheadSettings {
    fn bulkhead_needs_max_concurrent(&self, key: &Ident) -> syn::Result<()> {
        if self.max_concurrent.is_some() {
            return Ok(());
        }
        Err(diag::error(
            key,
            "a bulkhead needs to know how many may be inside, and no number is a safe guess",
            "`max_concurrent = 64`, for one",
        ))
    }

    fn queue_needs_wait(&self) -> syn::Result<()> {
        match self.queue {
            Some(queue) if queue.value > 0 && self.wait.is_none_or(|wait| wait.ns == 0) => {
                Err(diag::error(
                    queue,
                    "`queue` does nothing without `wait`: nobody waits",
                    "say how long a call may wait for a place, such as `wait = \"10ms\"`",
                ))
            }
            _ => Ok(()),
        }
    }

    fn wait_needs_queue(&self) -> syn::Result<()> {
        match (self.wait, self.queue) {
            (Some(wait), Some(queue)) if wait.ns > 0 && queue.value == 0 => Err(diag::error(
                queue,
                "with `queue = 0` nobody waits, and `wait` does nothing",
                "`queue = 1` or more, or leave out both",
            )),
            _ => Ok(()),
        }
    }
}
