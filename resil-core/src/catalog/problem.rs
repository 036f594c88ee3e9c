//! What is wrong with policies that are right each for itself.

use super::{Entry, GuardedFunction};
use core::fmt;

/// Something that cannot be right: two policies that cannot be told apart, or one that makes no sense in a function.
///
/// Says which rule is broken, where, and what to write instead. Shown by `{}` and `{:?}` alike, so that
/// `catalog().verify().unwrap()` in a test says it all.
#[derive(Clone)]
pub struct Problem {
    rule: &'static str,
    function: Option<&'static GuardedFunction>,
    policies: Vec<Entry>,
    wrong: String,
    help: String,
}

impl Problem {
    pub(super) const fn new(
        rule: &'static str,
        function: Option<&'static GuardedFunction>,
        policies: Vec<Entry>,
        wrong: String,
        help: String,
    ) -> Self {
        Self { rule, function, policies, wrong, help }
    }

    /// The rule that is broken, by its id: where the attribute has it too, `allow(…)` takes the same.
    pub const fn rule(&self) -> &'static str {
        self.rule
    }

    /// The function in which it is broken, if it is about one.
    pub const fn function(&self) -> Option<&'static GuardedFunction> {
        self.function
    }

    /// The policies that it is about, one or two.
    pub fn policies(&self) -> &[Entry] {
        &self.policies
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nhelp: {}", self.wrong, self.help)
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for Problem {}
