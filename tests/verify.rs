//! The rules across policies that only the whole binary shows (X1, X5, L5, R20, RG1): hand-written `static`s, options that were
//! changed, names that are given twice.
//!
//! In a process of its own: `verify` looks at every policy there is. Each test has policies of its own, and looks for what they
//! give rise to.

use resil::{
    Bulkhead, CircuitBreaker, Entry, GuardedFunction, Kind, Problem, Rate, RateLimiter, Retry,
    RetryBudget, catalog, register, resilient,
};
use std::sync::LazyLock;
use std::time::Duration;
use tests::Fault;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn problems() -> Vec<Problem> {
    catalog().verify().expect_err("some are here for the tests")
}

/// The problems of the function of this name; each rule with the names of the policies that it is about.
fn problems_of(function: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut rules: Vec<_> =
        problems().iter().filter(|found| is_of(found, function)).map(rule).collect();
    rules.sort_unstable();
    rules
}

/// The same of a policy of this name.
fn problems_about(policy: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let about = |found: &&Problem| found.policies().iter().any(|one| one.name() == policy);
    problems().iter().filter(about).map(rule).collect()
}

fn rule(problem: &Problem) -> (&'static str, Vec<&'static str>) {
    (problem.rule(), problem.policies().iter().map(Entry::name).collect())
}

fn is_of(problem: &Problem, function: &str) -> bool {
    problem.function().is_some_and(|of| of.name() == function)
}

/// What is said of the only problem of this function, without the places.
fn said_of(function: &str) -> String {
    let said = problems().iter().find(|found| is_of(found, function)).map(ToString::to_string);
    let mut said = said.expect("a problem");
    while let Some((before, place)) = said.split_once(" (tests/verify.rs:") {
        let (_, after) = place.split_once(')').expect("a place ends");
        said = format!("{before}{after}");
    }
    said
}

fn function(name: &str) -> &'static GuardedFunction {
    catalog().functions().find(|function| function.name() == name).expect("it is listed")
}

// ---- waits and deadlines --------------------------------------------------------------------------------------------------

static QUOTA: RateLimiter =
    RateLimiter::builder("quota").rate(Rate::per_second(100)).wait(ms(600)).build();
static POOL: Bulkhead = Bulkhead::builder("pool").max_concurrent(8).wait(ms(600)).build();
register!(QUOTA);
register!(POOL);

#[resilient(deadline = "1s", rate_limiter = self::QUOTA, bulkhead = self::POOL, name = "waits")]
async fn waits() -> Result<u32, Fault> {
    Ok(1)
}

#[resilient(
    deadline = "1s",
    rate_limiter = self::QUOTA,
    bulkhead = self::POOL,
    allow(wait_reaches_deadline, waits_reach_deadline),
    name = "waits_allowed"
)]
fn waits_allowed() -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn a_wait_that_leaves_no_time_is_found_in_hand_written_policies_as_they_are_now() {
    drop((waits(), waits_allowed()));
    assert_eq!(problems_of("waits"), [("waits_reach_deadline", vec!["quota", "pool"])]);
    assert_eq!(
        said_of("waits"),
        "a call of `waits` that waits at both, `quota` (600ms) and `pool` (600ms), has no time left: the `deadline` (1s) is \
         there first\n\
         help: a longer `deadline`, a shorter `wait` in one of the two, or `allow(waits_reach_deadline)`"
    );
    QUOTA.set_wait(ms(1_000)).unwrap();
    assert_eq!(
        said_of("waits"),
        "a call of `waits` that waits as long as `quota` lets it (1s) has no time left: the `deadline` (1s) is there first\n\
         help: a `deadline` above the `wait` of `quota`, a shorter `wait`, or `allow(wait_reaches_deadline)`"
    );
    POOL.set_wait(ms(2_000)).unwrap();
    assert_eq!(
        problems_of("waits"),
        [("wait_reaches_deadline", vec!["pool"]), ("wait_reaches_deadline", vec!["quota"])]
    );
    assert_eq!(problems_of("waits_allowed"), []);
    POOL.set_queue(0).unwrap();
    assert_eq!(problems_of("waits").len(), 1, "where nobody may queue, nobody waits");
    QUOTA.set_wait(ms(999)).unwrap();
    assert_eq!(problems_of("waits"), []);
}

// ---- slow calls -----------------------------------------------------------------------------------------------------------

static GATEWAY: CircuitBreaker = CircuitBreaker::builder("gateway").slow_call(ms(200)).build();
register!(GATEWAY);

#[resilient(circuit_breaker = self::GATEWAY, timeout = "200ms", deadline = "1s", name = "slow_async")]
async fn slow_async() -> Result<u32, Fault> {
    Ok(1)
}

#[resilient(circuit_breaker = self::GATEWAY, timeout = "200ms", name = "slow_sync")]
fn slow_sync() -> Result<u32, Fault> {
    Ok(1)
}

#[resilient(circuit_breaker = self::GATEWAY, deadline = "150ms", name = "slow_deadline")]
async fn slow_deadline() -> Result<u32, Fault> {
    Ok(1)
}

/// The breaker looks at all attempts together, which the timeout does not end.
#[resilient(
    circuit_breaker = self::GATEWAY,
    retry(max = 2),
    timeout = "200ms",
    order = [circuit_breaker, retry, timeout],
    name = "slow_outside"
)]
async fn slow_outside() -> Result<u32, Fault> {
    Ok(1)
}

/// Of a timeout that is known at the call only, nothing is known.
#[resilient(circuit_breaker = self::GATEWAY, timeout(after = after), name = "slow_computed")]
async fn slow_computed(after: Duration) -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn a_slow_call_that_is_never_reached_is_found_in_a_hand_written_breaker_as_it_is_now() {
    drop((slow_async(), slow_sync(), slow_deadline(), slow_outside(), slow_computed(ms(1))));
    assert_eq!(
        said_of("slow_async"),
        "no call of `gateway` in `slow_async` is ever slow: `timeout` (200ms) ends it before `slow_call` (200ms) is reached\n\
         help: a `timeout` above the `slow_call` of `gateway`, a lower `slow_call`, or `allow(slow_call_reaches_timeout)`"
    );
    assert_eq!(
        said_of("slow_sync"),
        "a call of `gateway` in `slow_sync` that is slow has failed already: `timeout` (200ms) comes no later than \
         `slow_call` (200ms)\n\
         help: a `timeout` above the `slow_call` of `gateway`, a lower `slow_call`, or `allow(slow_call_reaches_timeout)`"
    );
    assert_eq!(problems_of("slow_deadline"), [("slow_call_reaches_deadline", vec!["gateway"])]);
    assert_eq!((problems_of("slow_outside"), problems_of("slow_computed")), (vec![], vec![]));
    GATEWAY.set_slow_call(Some(ms(199))).unwrap();
    assert_eq!(problems_of("slow_async"), []);
    assert_eq!(problems_of("slow_deadline").len(), 1);
    GATEWAY.set_slow_call(None).unwrap();
    assert_eq!(problems_of("slow_deadline"), []);
}

// ---- cost -----------------------------------------------------------------------------------------------------------------

static CELLS: RateLimiter =
    RateLimiter::builder("cells").rate(Rate::per_second(100)).burst(10).build();
register!(CELLS);

#[resilient(rate_limiter(self::CELLS, cost = 8), name = "costly")]
fn costly() -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn l05_a_cost_above_the_burst_as_it_is_now_is_found() {
    assert_eq!((costly(), problems_of("costly")), (Ok(1), vec![]));
    CELLS.set_burst(7).unwrap();
    assert_eq!(
        said_of("costly"),
        "a call of `costly` never passes: it costs 8, and `cells` has at most 7 at once\n\
         help: a lower `cost`, or a `burst` of 8 or more for `cells`"
    );
    assert!(costly().unwrap_err().refusal().is_some_and(|refused| refused.is_never()));
    CELLS.set_burst(8).unwrap();
    assert_eq!(problems_of("costly"), []);
}

// ---- what is in the catalogue ---------------------------------------------------------------------------------------------

static FORGOTTEN: CircuitBreaker = CircuitBreaker::builder("forgotten").build();

/// Its options come from the surroundings, so it is built when it is first used.
static BY_ENVIRONMENT: LazyLock<CircuitBreaker> =
    LazyLock::new(|| CircuitBreaker::builder("by_environment").slow_call(ms(500)).build());

#[resilient(circuit_breaker = self::FORGOTTEN, name = "forgetful")]
fn forgetful() -> Result<u32, Fault> {
    Ok(1)
}

#[resilient(circuit_breaker = self::BY_ENVIRONMENT, timeout = "400ms", name = "by_environment")]
fn by_environment() -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn a_policy_that_guards_a_function_and_is_not_listed_is_found() {
    forgetful().unwrap();
    assert!(catalog().find(Kind::CircuitBreaker, "forgotten").is_none());
    assert_eq!(
        said_of("forgetful"),
        "circuit_breaker `forgotten` guards `forgetful` and is not in the catalogue\n\
         help: `resil::register!(…)` with the path of its `static`"
    );
}

#[test]
fn a_policy_that_is_built_at_run_time_is_looked_at_too() {
    by_environment().unwrap();
    assert_eq!(
        problems_of("by_environment"),
        [("slow_call_reaches_timeout", vec!["by_environment"])],
        "and is not asked to be in a catalogue of `static`s"
    );
}

// ---- names ----------------------------------------------------------------------------------------------------------------

/// As if its module was compiled twice.
macro_rules! twice {
    ($($copy:ident)*) => {
        $(mod $copy {
            pub(super) static COPIED: super::CircuitBreaker = super::CircuitBreaker::builder("copied").build();
            super::register!(COPIED);
        })*
    };
}

twice! { one two }

static TWIN: Retry = Retry::builder("twin").build();
static OTHER_TWIN: Retry = Retry::builder("twin").build();
static BUDGET_OF_THAT_NAME: RetryBudget = RetryBudget::builder("twin").build();
register!(TWIN);
register!(OTHER_TWIN);
register!(BUDGET_OF_THAT_NAME);

#[resilient(circuit_breaker(window = 10), name = "namesake")]
fn namesake() -> Result<u32, Fault> {
    Ok(1)
}

#[resilient(circuit_breaker(window = 20), name = "namesake")]
fn other_namesake() -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn x01_rg01_two_policies_of_one_kind_and_name_are_an_error_whoever_comes_first() {
    assert_eq!((namesake(), other_namesake()), (Ok(1), Ok(1)));
    assert_eq!(problems_about("namesake"), [("same_name", vec!["namesake", "namesake"])]);
    assert_eq!(problems_about("twin"), [("same_name", vec!["twin", "twin"])]);
    let found = problems();
    let twins = found.iter().find(|found| found.policies()[0].name() == "twin").expect("above");
    let kinds: Vec<_> = twins.policies().iter().map(Entry::kind).collect();
    assert_eq!(kinds, [Kind::Retry; 2], "another kind is another name");
    let said = format!("{twins:?}");
    for twin in [&TWIN, &OTHER_TWIN] {
        let place = resil::Policy::location(twin).to_string();
        assert!(said.contains("are called `twin`") && said.contains(&place), "{said}");
    }
}

#[test]
fn x05_one_static_at_two_addresses_is_an_error_that_says_so() {
    assert_eq!(problems_about("copied"), [("linked_twice", vec!["copied", "copied"])]);
}

// ---- functions ------------------------------------------------------------------------------------------------------------

mod policies {
    resil::registry! {
        circuit_breaker shared {}
        retry_budget paid { min_per_sec = 1 }
    }
}

#[resilient(
    fallback = |_| Ok(0),
    deadline = "1s",
    retry(max = 4, budget = "paid"),
    circuit_breaker = "shared",
    rate_limiter(rate = "10/s"),
    bulkhead(max_concurrent = 3),
    timeout = "100ms",
    name = "everything"
)]
async fn everything() -> Result<u32, Fault> {
    outer()
}

#[resilient(
    retry(max = 3),
    circuit_breaker = "shared",
    bulkhead(max_concurrent = 3),
    order = [bulkhead, retry, circuit_breaker]
)]
fn outer() -> Result<u32, Fault> {
    Ok(1)
}

#[resilient(retry(within = "1s"), name = "endless")]
fn endless() -> Result<u32, Fault> {
    Ok(1)
}

#[test]
fn r20_the_catalogue_knows_of_each_function_how_often_its_body_runs_at_most() {
    drop((everything(), endless()));
    let outer = concat!(module_path!(), "::outer");
    let attempts = ["everything", outer, "endless", "costly"].map(|name| function(name).attempts());
    assert_eq!(attempts, [Some(4), Some(3), None, Some(1)]);
}

#[test]
fn a_function_is_shown_with_its_policies_outermost_first() {
    let shown = function("everything").to_string();
    let (place, policies) = shown.split_once("): ").expect("a place");
    assert!(place.starts_with("everything (tests/verify.rs:"), "{shown}");
    assert_eq!(
        policies,
        "at most 4 attempts; fallback, deadline, retry, retry_budget paid, circuit_breaker shared, rate_limiter, bulkhead, \
         timeout"
    );
    let kinds = |name| function(name).policies().iter().map(Entry::kind).collect::<Vec<_>>();
    assert_eq!(
        kinds(concat!(module_path!(), "::outer")),
        [Kind::Bulkhead, Kind::Retry, Kind::CircuitBreaker]
    );
    let shared = function("everything").policies()[4];
    assert!(shared.is(&catalog().find(Kind::CircuitBreaker, "shared").expect("it is declared")));
}
