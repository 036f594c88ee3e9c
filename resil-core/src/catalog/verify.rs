//! The rules that hold across policies, looked at in the binary as it is now.
//!
//! The compiler sees what is written in one place, or declared in a registry; this sees all the rest: hand-written
//! `static`s, options that were changed, and whether a name is given twice. Where the attribute has the same rule, it has the same
//! id, and `allow` silences both. Whether a policy is disabled at the moment makes no difference.

use super::{Catalog, Entry, GuardedFunction, Problem};
use crate::deadline::DeadlineLimit;
use crate::expand::{
    bulkhead_wait, cost_within_burst, limiter_wait, slow_call_below, wait_below, waits_below,
};
use crate::timeout::Timeout;
use core::time::Duration;

impl Catalog {
    /// What cannot be right about the whole of them. Meant for a test, for the start of `main`, and for after options were
    /// changed.
    ///
    /// # Errors
    /// Each [`Problem`] by its rule:
    ///
    /// | rule | what it finds |
    /// |---|---|
    /// | `same_name` | two policies of one kind and name: their counters and handles cannot be told apart |
    /// | `linked_twice` | one policy that is in the binary twice, as if its module was compiled into two crates: each copy counts for itself |
    /// | `unlisted` | a policy of a guarded function that is not in the catalogue, for want of [`register!`](crate::register) |
    /// | `cost_over_burst` | a call that costs more than its limiter ever has |
    /// | `wait_reaches_deadline`, `waits_reach_deadline` | a wait at a limiter or bulkhead, or at both, that leaves no time for the call |
    /// | `slow_call_reaches_timeout`, `slow_call_reaches_deadline` | a `slow_call` that is never reached |
    ///
    /// Names that the attribute made of a path (`module::path::function`) may be given twice: methods of two types may well be
    /// called the same, and `name = "…"` tells them apart where that matters.
    ///
    /// # Examples
    /// ```
    /// # use resil_core as resil;
    /// // In a test, say.
    /// resil::catalog().verify().unwrap();
    /// ```
    pub fn verify(&self) -> Result<(), Vec<Problem>> {
        let mut problems = self.named_twice();
        for function in self.functions() {
            problems.extend(self.unlisted(function));
            problems.extend(Members::of(function).problems());
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    fn named_twice(self) -> Vec<Problem> {
        let mut entries: Vec<Entry> = self.iter().collect();
        entries.sort_by_key(|entry| (entry.kind(), entry.name(), entry.location()));
        entries.dedup_by(|second, first| first.is(second));
        let pairs = entries.windows(2).map(|pair| (pair[0], pair[1]));
        pairs.filter_map(|(first, second)| named_alike(first, second)).collect()
    }

    fn unlisted(self, function: &'static GuardedFunction) -> Vec<Problem> {
        let listed = |policy: Entry| self.iter().any(|entry| entry.is(&policy));
        let unlisted = function.unlisted(listed).into_iter().map(|policy| {
            let (kind, name) = (policy.kind(), policy.name().escape_debug());
            let wrong = format!(
                "{kind} `{name}` ({}) guards {} and is not in the catalogue",
                policy.location(),
                place(function)
            );
            let help = "`resil::register!(…)` with the path of its `static`".to_owned();
            Problem::new("unlisted", Some(function), vec![policy], wrong, help)
        });
        unlisted.collect()
    }
}

fn named_alike(first: Entry, second: Entry) -> Option<Problem> {
    let given = !first.name().contains("::");
    if !given || first.kind() != second.kind() || first.name() != second.name() {
        return None;
    }
    let (kind, name) = (first.kind(), first.name().escape_debug());
    let (here, there) = (first.location(), second.location());
    let (rule, wrong, help) = if here == there {
        (
            "linked_twice",
            format!(
                "{kind} `{name}` ({here}) is in this binary twice, and each copy counts for itself"
            ),
            "declare its module in one crate (not in `main.rs` and `lib.rs` both), and its macro once",
        )
    } else {
        (
            "same_name",
            format!("two policies of kind `{kind}` are called `{name}`: {here} and {there}"),
            "another name for one of the two, or one policy for both",
        )
    };
    Some(Problem::new(rule, None, vec![first, second], wrong, help.to_owned()))
}

/// `` `shop::charge` (src/shop.rs:12:1) ``
fn place(function: &GuardedFunction) -> String {
    format!("`{}` ({})", function.name().escape_debug(), function.location())
}

/// The numbers of a function that have to agree, each with the policy it is of.
struct Members {
    function: &'static GuardedFunction,
    breaker: Option<Entry>,
    /// The longest wait at the limiter and at the bulkhead.
    waits: [Option<(Entry, Duration)>; 2],
    timeout: Option<Duration>,
    deadline: Option<Duration>,
    limiter: Option<Entry>,
}

impl Members {
    fn of(function: &'static GuardedFunction) -> Self {
        let policies = function.policies();
        let limiter = policies.iter().find(|policy| policy.rate_limiter().is_some()).copied();
        let at_limiter = limiter.and_then(|policy| {
            Some((policy, limiter_wait(Some(policy.rate_limiter()?.options()))))
        });
        let at_bulkhead = policies
            .iter()
            .find_map(|policy| Some((*policy, bulkhead_wait(Some(policy.bulkhead()?.options())))));
        Self {
            function,
            breaker: policies.iter().find(|policy| policy.circuit_breaker().is_some()).copied(),
            waits: [at_limiter, at_bulkhead],
            timeout: policies.iter().find_map(Entry::timeout).and_then(Timeout::after),
            deadline: policies.iter().find_map(Entry::deadline).map(DeadlineLimit::after),
            limiter,
        }
    }

    fn problems(&self) -> impl Iterator<Item = Problem> {
        let [at_limiter, at_bulkhead] = self.waits;
        let found = [
            self.cost_over_burst(),
            at_limiter.and_then(|wait| self.wait_reaches_deadline(wait)),
            at_bulkhead.and_then(|wait| self.wait_reaches_deadline(wait)),
            self.waits_reach_deadline(),
            self.slow_call_reaches_timeout(),
            self.slow_call_reaches_deadline(),
        ];
        found.into_iter().flatten().filter(|found| !self.function.allows(found.rule()))
    }

    fn cost_over_burst(&self) -> Option<Problem> {
        let (policy, cost) = (self.limiter?, self.function.written_cost()?);
        let options = policy.rate_limiter()?.options();
        if cost_within_burst(Some(options), cost) {
            return None;
        }
        let name = policy.name().escape_debug();
        let wrong = format!(
            "a call of {} never passes: it costs {cost}, and `{name}` has at most {} at once",
            place(self.function),
            options.most_at_once()
        );
        let help = format!("a lower `cost`, or a `burst` of {cost} or more for `{name}`");
        Some(self.found("cost_over_burst", vec![policy], wrong, help))
    }

    fn wait_reaches_deadline(&self, (policy, wait): (Entry, Duration)) -> Option<Problem> {
        let deadline = self.deadline?;
        if wait_below(wait, deadline) {
            return None;
        }
        let name = policy.name().escape_debug();
        let wrong = format!(
            "a call of {} that waits as long as `{name}` lets it ({wait:?}) has no time left: the `deadline` \
             ({deadline:?}) is there first",
            place(self.function)
        );
        let help = format!(
            "a `deadline` above the `wait` of `{name}`, a shorter `wait`, or `allow(wait_reaches_deadline)`"
        );
        Some(self.found("wait_reaches_deadline", vec![policy], wrong, help))
    }

    fn waits_reach_deadline(&self) -> Option<Problem> {
        let [(limiter, at_limiter), (bulkhead, at_bulkhead)] = [self.waits[0]?, self.waits[1]?];
        let deadline = self.deadline?;
        if waits_below(at_limiter, at_bulkhead, deadline) {
            return None;
        }
        let wrong = format!(
            "a call of {} that waits at both, `{}` ({at_limiter:?}) and `{}` ({at_bulkhead:?}), has no time left: the \
             `deadline` ({deadline:?}) is there first",
            place(self.function),
            limiter.name().escape_debug(),
            bulkhead.name().escape_debug()
        );
        let help = "a longer `deadline`, a shorter `wait` in one of the two, or `allow(waits_reach_deadline)`";
        Some(self.found("waits_reach_deadline", vec![limiter, bulkhead], wrong, help.to_owned()))
    }

    fn slow_call_reaches_timeout(&self) -> Option<Problem> {
        if !self.function.breaker_sees_attempts() {
            return None;
        }
        self.slow_call_reaches("slow_call_reaches_timeout", "timeout", self.timeout?)
    }

    /// Only an async call is ended by its deadline; and where there is a shorter timeout, that one is compared.
    fn slow_call_reaches_deadline(&self) -> Option<Problem> {
        let by_timeout = self.function.breaker_sees_attempts() && self.timeout.is_some();
        if !self.function.is_async() || by_timeout {
            return None;
        }
        self.slow_call_reaches("slow_call_reaches_deadline", "deadline", self.deadline?)
    }

    fn slow_call_reaches(&self, rule: &'static str, key: &str, limit: Duration) -> Option<Problem> {
        let policy = self.breaker?;
        let options = policy.circuit_breaker()?.options();
        if slow_call_below(Some(options), limit) {
            return None;
        }
        let (name, slow) = (policy.name().escape_debug(), options.slow_call.to_duration());
        let place = place(self.function);
        let wrong = if self.function.is_async() {
            format!(
                "no call of `{name}` in {place} is ever slow: `{key}` ({limit:?}) ends it before `slow_call` ({slow:?}) is \
                 reached"
            )
        } else {
            format!(
                "a call of `{name}` in {place} that is slow has failed already: `{key}` ({limit:?}) comes no later than \
                 `slow_call` ({slow:?})"
            )
        };
        let help = format!(
            "a `{key}` above the `slow_call` of `{name}`, a lower `slow_call`, or `allow({rule})`"
        );
        Some(self.found(rule, vec![policy], wrong, help))
    }

    fn found(
        &self,
        rule: &'static str,
        policies: Vec<Entry>,
        wrong: String,
        help: String,
    ) -> Problem {
        Problem::new(rule, Some(self.function), policies, wrong, help)
    }
}

#[cfg(all(test, feature = "catalog"))]
#[allow(unsafe_code)] // `linkme`'s `link_section`, which the lint sees in this crate only
mod tests {
    use crate::circuit_breaker::CircuitBreaker;
    use crate::{Kind, catalog};

    static ONE: CircuitBreaker = CircuitBreaker::builder("verify_one").build();
    static TWIN: CircuitBreaker = CircuitBreaker::builder("verify_twin").build();
    static OTHER_TWIN: CircuitBreaker = CircuitBreaker::builder("verify_twin").build();
    static METHOD: CircuitBreaker = CircuitBreaker::builder("module::get").build();
    static OTHER_METHOD: CircuitBreaker = CircuitBreaker::builder("module::get").build();
    crate::register!(ONE);
    crate::register!(ONE);
    crate::register!(TWIN);
    crate::register!(OTHER_TWIN);
    crate::register!(METHOD);
    crate::register!(OTHER_METHOD);

    #[test]
    fn x01_two_of_one_kind_and_name_are_reported_with_their_places() {
        let problems = catalog().verify().expect_err("there are twins");
        let [problem] = problems.as_slice() else { panic!("one pair of twins, not {problems:?}") };
        assert_eq!((problem.rule(), problem.policies().len()), ("same_name", 2));
        assert!(problem.function().is_none());
        let said = problem.to_string();
        for twin in [&TWIN, &OTHER_TWIN] {
            let place = crate::Policy::location(twin).to_string();
            assert!(said.contains("`verify_twin`") && said.contains(&place), "{said}");
        }
    }

    /// What counts is where the `static` lies: `ONE` is listed twice, and `verify` has nothing to say of it.
    #[test]
    fn x05_a_static_is_known_by_its_address() {
        let listed: Vec<_> =
            catalog().iter().filter(|entry| entry.name() == "verify_one").collect();
        assert_eq!(listed.len(), 2);
        assert!(listed[0].is(&listed[1]));
        assert_eq!(
            catalog().find(Kind::CircuitBreaker, "verify_one").map(|one| one.is(&listed[0])),
            Some(true)
        );
        let said = format!("{:?}", catalog().verify().expect_err("of the twins"));
        assert!(!said.contains("verify_one"), "{said}");
    }
}
