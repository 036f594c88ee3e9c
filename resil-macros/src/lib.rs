//! The macros of `resil`: the attribute, the registry and the derive. Tokens in, tokens out.
//!
//! Stages, each of which imports only earlier ones:
//!
//! ```text
//! diag, values, syntax, policies  ←  args, body, target  ←  plan  ←  check  ←  emit
//! ```
//!
//! Nothing is parsed in `check`, decided in `emit` or refused in `plan`. On error the user's item goes out as it came
//! in, beside the errors.

mod args;
mod body;
mod check;
mod classify;
mod diag;
mod emit;
mod fallback;
mod plan;
mod policies;
mod registry;
#[cfg(test)]
mod snapshots;
#[cfg(test)]
mod stages;
mod syntax;
mod target;
mod values;

use proc_macro::TokenStream;

/// Guards a function: its body runs inside of the policies that are named in the parentheses.
///
/// Goes on `fn` and `async fn`, free or as methods. The signature stays as it is. Keys come in any order; what is not
/// written costs nothing.
///
/// | key | written as | what it does |
/// |---|---|---|
/// | `circuit_breaker` | `= "name"`, `= path::to::STATIC`, `("name", failure = PAT, ignore = PAT)`, `(window = 100, …)`, alone | stops calling what keeps failing |
/// | `rate_limiter` | the same with `("name", cost = expr)`, `(rate = "100/s", …)` | lets so many pass in such a time |
/// | `bulkhead` | the same with `(max_concurrent = 64, …)` | lets so many be inside at a time |
/// | `retry` | `(max = 3, backoff = …, jitter = …, on = PAT, abort = PAT, budget = "name", …)`, alone | calls again after a failure |
/// | `timeout` | `= "200ms"`, `(after = expr)`, `("200ms", late = timeout)` | limits one attempt |
/// | `deadline` | `= "1s"` | limits the whole call |
/// | `fallback` | `= path`, `= \|cause\| expr`, `= value(expr)`, `(rejected = …, timeout = …, error = …)` | answers in place of what failed |
/// | `failure`, `ignore` | `= PAT` | what counts as failed, what is no vote, for every policy |
/// | `classify` | alone | in a generic function: asks the error type, and adds the bound |
/// | `clone` | `(arg, …)` | clones these arguments while a later attempt is possible |
/// | `order` | `= [rate_limiter, retry, bulkhead]` | outermost first; names exactly the policies that are there |
/// | `name` | `= "…"` | what the catalogue calls the policies of this function; else `module::path::function`, without the type of a method |
/// | `registry` | `= path::to::module` | where names live; `crate::policies` if not written |
/// | `crate` | `= path` | where `resil` is, if it was renamed or re-exported |
/// | `allow` | `(rule_id, …)` | silences advice of the compile-time checks |
/// | `idempotent` | alone | the body may be repeated |
///
/// A pattern is matched by reference against what the body returned, and may have an `if`. Of several that match, `abort`
/// comes before `ignore`, `ignore` before `on` and `failure`; what none matches is judged by its type: `Classify` if the
/// error implements it, else any `Err` is a failure. Of an `Option` or another plain return nothing is a failure to a breaker
/// unless a pattern says so: `failure = None`.
///
/// # Shared policies
/// `"name"` is a path: `rate_limiter = "quota"` stands for `crate::policies::rate_limiter::quota`, which `registry!` declares;
/// the name may be written without quotes too. A hand-written `static` is given by a path of two segments or more, such as
/// `self::QUOTA`. What belongs to the call and not to the policy follows the name: `rate_limiter(self::QUOTA, cost = 5)`. With
/// options instead of a name the policy is the function's own.
///
/// # Order
/// Outermost first: fallback, deadline, retry, circuit breaker, rate limiter, bulkhead, timeout, body. So each attempt is
/// asked for at every gate, and when one refuses, what the others gave is given back: no cell is lost, no place is held, and the
/// breaker hears nothing. `order` moves `retry` and the gates among each other: `order = [rate_limiter, retry, bulkhead]` takes
/// one cell for the whole call, however many attempts it has.
///
/// # Arguments
/// Each attempt runs the body anew. What it borrows is borrowed again; what it moves is gone after the first attempt, and the
/// compiler says so at `retry` (E0382, "use of moved value"). `clone(arg)` gives each attempt a clone, and the last one the
/// argument itself:
///
/// ```ignore
/// #[resilient(retry(max = 3), clone(order))]
/// fn submit(order: Order) -> Result<Receipt, ShopError> { send(order) }
/// ```
///
/// An attempt that failed may still have done its work at the callee, as one that timed out: retry what only reads, or what
/// the callee knows again.
///
/// # Time
/// An async body is dropped when its time is up. A sync one cannot be: it runs to its end, and asks for itself what is left
/// (`resil::deadline`). What it returns too late counts as a failure, whatever the patterns say. A late value, an `Ok` or
/// `Some`, is returned all the same and never retried, or is a timeout with `late = timeout`; a late `Err` or `None` is a
/// timeout, and so is one that comes in the very instant of the limit.
///
/// # Options
/// A duration is a number and `ns`, `us`, `ms`, `s`, `m`, `h` or `d`, in quotes; a share is `"50%"` or `0.5`; a rate is a number
/// per duration, as `"100/s"` or `"10/250ms"`.
///
/// | of | option | default |
/// |---|---|---|
/// | `circuit_breaker` | `window`: the last 1 to 1024 calls, or those of the last `"100ms"` to `"1d"` | 100 |
/// | | `consecutive`, 1 to 1024: opens after so many failures in a row, instead of a window and its rates | off |
/// | | `min_calls`, 1 to `window`: outcomes before a rate counts | 20, or the window if that is fewer calls |
/// | | `failure_rate`: opens at this share | `"50%"` |
/// | | `slow_call`, `slow_rate`: what is slow, and at which share it opens | off, `"100%"` |
/// | | `open_for`: a duration or `exponential(d, factor = 2, cap = d)`, spread by `jitter` | `"10s"`, not spread |
/// | | `max_open_for` | `"5m"`, or `open_for` if that is longer |
/// | | `probes`, 1 to 511 | 3 |
/// | | `probe_timeout` | `open_for`, at least `"10s"` |
/// | `rate_limiter` | `rate`: at most one a nanosecond, at least one in ten years | required |
/// | | `burst`, from 1: how many may pass at once | as many as the rate has in its period |
/// | | `wait`: the longest wait for a cell; who cannot get one in time is refused at once | none |
/// | | `start`: `full` or `empty` | `full` |
/// | | `shards`, 1 to 8: parts of the rate and of the burst that are independent of each other, for less contention | 1 |
/// | | `cost` (of the call): cells an attempt takes, at most `burst`; a number or an expression of type `u32` | 1 |
/// | `bulkhead` | `max_concurrent`; 0 is closed | required |
/// | | `wait`: the longest wait for a place | none |
/// | | `queue`: how many may wait | as many as `max_concurrent` |
/// | `retry_budget` (in a registry) | `ratio`: what a call pays in, of a retry | `"20%"` |
/// | | `min_per_sec`: retries that are granted however few calls there are | 10 |
/// | | `ttl`, `"100ms"` to `"1d"`: how long it is remembered what was paid in | `"10s"` |
/// | `retry` | `max` or `max_attempts` with the first call, or `max_retries` without it; `unlimited` | 3 attempts |
/// | | `backoff`: `constant(d)`, `linear(d, cap = d)`, `exponential(d, factor = 2, cap = d)`, `table(d, …)`, `by(expr)` | `exponential("50ms", cap = "1s")` |
/// | | `jitter`: `full`, `equal`, `decorrelated`, `plus_minus(share)`, `none` | `full` |
/// | | `on`, `abort`: patterns | every failure, none |
/// | | `on_timeout`, `on_rejected` | true (false in sync functions), false |
/// | | `within`: no attempt starts after this | none |
/// | | `before`: an expression that runs before each further attempt | none |
/// | | `attempt`: the name of the attempt's number, from 1 | none |
/// | | `max_pushback`: the longest `retry_after` of the callee that is followed | `"10s"` |
/// | | `budget`: a `retry_budget`, by name or path, which pays for each further attempt | none |
/// | `timeout` | `late`, in sync functions: `keep` or `timeout` | `keep` |
///
/// # Rules
/// What contradicts itself does not compile: `min_calls` above `window` or beside `consecutive`, a `cost` above `burst`, a `queue`
/// in which nobody waits. So does what is hardly meant, unless `allow(rule_id)` says that it is:
///
/// | rule | says that |
/// |---|---|
/// | `max_one` | `retry` with one attempt never retries |
/// | `slow_call_reaches_timeout`, `slow_call_reaches_deadline` | no call is ever slow, for it is ended before |
/// | `timeout_reaches_deadline`, `within_reaches_deadline` | this limit ends nothing, for the deadline is there first |
/// | `wait_reaches_deadline` | who waits as long as `wait` allows has no time left |
/// | `waits_reach_deadline` | the same of the waits at limiter and bulkhead together |
///
/// Of a policy from a registry the compiler knows the numbers, and compares as well; of a hand-written `static` it does not.
#[proc_macro_attribute]
pub fn resilient(args: TokenStream, item: TokenStream) -> TokenStream {
    fallback::guarded(args.into(), &item.into()).into()
}

/// Behind `resil::registry!`, which adds the path of `resil` in front.
#[doc(hidden)]
#[proc_macro]
pub fn __registry(tokens: TokenStream) -> TokenStream {
    let nothing = proc_macro2::TokenStream::new();
    fallback::or_as_it_was(&nothing, || Ok(registry::expand(tokens.into()))).into()
}

/// Says what the variants of an error, or a struct, mean to the policies.
///
/// | mark | meaning |
/// |---|---|
/// | `#[resil(transient)]` | a failure that another attempt may mend |
/// | `#[resil(ignore)]` | no vote, and no further attempt |
/// | `#[resil(retry_after = "field")]` | transient, and the field (a `Duration` or an `Option` of one; `"0"` in a tuple) says when to come back |
/// | none | a failure that another attempt would not mend; ignored if a field is a refusal or hides one |
///
/// `#[resil(crate = path)]` on the type says where `resil` is, if it was renamed or re-exported.
#[proc_macro_derive(Classify, attributes(resil))]
pub fn classify(input: TokenStream) -> TokenStream {
    let nothing = proc_macro2::TokenStream::new();
    fallback::or_as_it_was(&nothing, || Ok(classify::expand(input.into()))).into()
}
