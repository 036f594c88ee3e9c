//! Every policy in the binary, called or not.
//!
//! A `static` announces itself to a section that the linker gathers, so the list is complete before `main` begins and
//! costs nothing to keep. Where the platform has no such sections, or without feature `catalog`, it is empty.
//!
//! # Source
//! The `linkme` crate.

mod entry;
mod function;
mod problem;
mod verify;

pub use entry::Entry;
pub use function::{GuardedFunction, Member, Membership};
pub use problem::Problem;

use crate::contract::{Kind, Policy};

/// Filled by [`register!`](crate::register).
#[cfg(feature = "catalog")]
#[doc(hidden)]
#[linkme::distributed_slice]
pub static POLICIES: [&'static dyn Policy];

#[cfg(not(feature = "catalog"))]
static POLICIES: [&dyn Policy; 0] = [];

/// Filled by expansions.
#[cfg(feature = "catalog")]
#[doc(hidden)]
#[linkme::distributed_slice]
pub static FUNCTIONS: [&'static GuardedFunction];

#[cfg(not(feature = "catalog"))]
static FUNCTIONS: [&GuardedFunction; 0] = [];

/// Lists a policy in the [`catalog`].
///
/// Takes the path of a `static`. The attribute and `registry!` do it by themselves; a hand-written `static` is listed after
/// `resil::register!(GATEWAY);`, anywhere in the crate.
#[cfg(feature = "catalog")]
#[macro_export]
macro_rules! register {
    ($policy:path) => {
        const _: () = {
            #[$crate::__linkme::distributed_slice($crate::POLICIES)]
            #[linkme(crate = $crate::__linkme)]
            static __RESIL_ENTRY: &'static dyn $crate::Policy = &$policy;
        };
    };
}

/// Without feature `catalog` nothing is listed.
#[cfg(not(feature = "catalog"))]
#[macro_export]
macro_rules! register {
    ($policy:path) => {
        const _: &dyn $crate::Policy = &$policy;
    };
}

/// Lists a guarded function: its name, its policies, what is said of them. Expansions do it.
#[cfg(feature = "catalog")]
#[doc(hidden)]
#[macro_export]
macro_rules! __list_function {
    ($name:expr, [$($policy:expr),*] $($said:tt)*) => {
        const _: () = {
            static __RESIL_FUNCTION: $crate::GuardedFunction =
                $crate::GuardedFunction::new($name, |__resil_visit| {
                    use $crate::Membership as _;
                    $((&&&$crate::Member($policy)).__resil_visit(__resil_visit);)*
                }) $($said)*;
            #[$crate::__linkme::distributed_slice($crate::FUNCTIONS)]
            #[linkme(crate = $crate::__linkme)]
            static __RESIL_ENTRY: &'static $crate::GuardedFunction = &__RESIL_FUNCTION;
        };
    };
}

/// Without feature `catalog` nothing is listed.
#[cfg(not(feature = "catalog"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __list_function {
    ($($function:tt)*) => {};
}

/// The policies in this binary.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{CircuitBreaker, Kind, catalog};
///
/// static GATEWAY: CircuitBreaker = CircuitBreaker::builder("gateway").build();
/// resil::register!(GATEWAY);
///
/// let gateway = catalog().find(Kind::CircuitBreaker, "gateway").expect("it is linked in");
/// gateway.circuit_breaker().expect("it is one").force_open();
/// assert_eq!(gateway.state(), "forced open");
/// ```
pub fn catalog() -> Catalog {
    Catalog(())
}

/// See [`catalog`].
#[derive(Clone, Copy, Debug)]
pub struct Catalog(());

impl Catalog {
    /// Goes through all of them, in no particular order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entry> + use<> {
        POLICIES.iter().map(|policy| Entry(*policy))
    }

    /// The policy of this kind and name.
    pub fn find(&self, kind: Kind, name: &str) -> Option<Entry> {
        self.iter().find(|entry| entry.kind() == kind && entry.name() == name)
    }

    /// Goes through all functions that `#[resilient]` guards, called or not, in no particular order.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = &'static GuardedFunction> + use<> {
        FUNCTIONS.iter().copied()
    }
}

/// Acting on all of them.
impl Catalog {
    /// Disables every policy: from the next call on, functions run as if nothing guarded them.
    ///
    /// For the question whether a guard is what does the harm. What a policy has counted and been ordered is kept.
    pub fn disable_all(&self) {
        self.iter().for_each(|entry| entry.disable());
    }

    /// Enables every policy that is disabled; the others stay as they are. So a breaker that is forced open is not closed,
    /// and one that was forced open before it was disabled is forced open again.
    pub fn enable_all(&self) {
        self.iter().for_each(|entry| entry.enable());
    }
}

impl IntoIterator for Catalog {
    type Item = Entry;
    type IntoIter = std::vec::IntoIter<Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().collect::<Vec<_>>().into_iter()
    }
}
