//! Retry budget: bounds how much retries add to the load, for all functions that share it.
//!
//! Invariant: however many threads ask, no more retries are granted than were paid in, but for the floor and one full
//! budget; a call that succeeds at the first try reads no clock, and while the budget is full it writes nothing.
//!
//! # Source
//! Finagle's `RetryBudget` for the options; how it remembers without a clock is told in `cell/budget.rs`.

pub mod config;
mod live;
mod operate;
mod options;

pub use config::RetryBudgetBuilder;
pub use options::BudgetOptions;

use crate::cell::Counters;
use crate::cell::budget::{Bucket, RETRY};
use crate::contract::{Budget, Location, Withdrawal};
use crate::sync::fixed::Mutex;
use crate::time;
use core::fmt;
use crossbeam_utils::CachePadded;
use live::Live;

/// Bounds how much retries add to the load.
///
/// Retrying what failed by overload makes the overload worse. A budget that the callers of one callee share lets retries
/// be a share of the calls, whatever fails: each call that the gates admit pays in `ratio` of a retry, each retry that is launched takes out a
/// whole one. `min_per_sec` lets a client with little traffic retry as well.
///
/// One `static` serves any number of functions. [`Retry::start_within_budget`](crate::Retry::start_within_budget) draws on it;
/// a loop of your own may do so through [`Budget`].
///
/// # What it grants
/// * Each first attempt that the gates admit deposits `ratio`, to a millionth of a retry. What a gate refused deposits nothing and
///   costs nothing.
/// * Time refills it by `min_per_sec`, up to the *reserve* of `min_per_sec` × `ttl` retries (at least one), with which it
///   starts.
/// * Beyond the reserve it holds what was deposited, 1000 retries at most. A deposit lasts for half a `ttl` in full, and then fades:
///   of one of age `a` at most `ttl / 2a` is left. Only what has filled it up stays until somebody draws on it.
///
/// So in any span of time there are granted at most: `ratio` of the first attempts in it, and `min_per_sec` for its
/// length, and once what was in the budget when it began, which is the reserve and 1000 retries at most.
///
/// # Default
/// See the constants of [`config`]: 20 %, 10 a second, 10 s.
///
/// # Cost
/// A deposit while the budget is full: two relaxed loads. Else one exchange of a word that all share; a budget fills up where
/// traffic deposits a thousand retries in a `ttl`, with the defaults from some 500 calls a second on. The first deposit, and
/// one that would fill it up, reads the coarse clock, no other does. A withdrawal: a reading of the coarse clock and one exchange.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{Budget, RetryBudget, Withdrawal};
///
/// static SHARED: RetryBudget = RetryBudget::builder("shared").build();
///
/// SHARED.deposit(); // a call
/// assert_eq!(SHARED.withdraw(), Withdrawal::Taken); // its retry
/// assert!(SHARED.balance() >= 99);
/// ```
pub struct RetryBudget {
    /// Apart from `live`, which deposits read while withdrawals write this.
    bucket: CachePadded<Bucket>,
    live: Live,
    name: &'static str,
    location: &'static Location<'static>,
    /// Held while options change, so that a change is checked against what it will stand beside.
    changing: Mutex<()>,
    counters: Counters<3>,
}

/// What is counted. Deposits are not: they would write where now they only read.
const COUNTED: [&str; 3] = ["withdrawn", "refused", "given_back"];
const WITHDRAWN: usize = 0;
const REFUSED: usize = 1;
const GIVEN_BACK: usize = 2;

impl RetryBudget {
    /// Starts a budget of this name.
    #[track_caller]
    pub const fn builder(name: &'static str) -> RetryBudgetBuilder {
        RetryBudgetBuilder::new(name, Location::caller())
    }

    const fn with(
        name: &'static str,
        location: &'static Location<'static>,
        options: BudgetOptions,
    ) -> Self {
        Self {
            bucket: CachePadded::new(Bucket::new(&options.terms())),
            live: Live::new(&options),
            name,
            location,
            changing: Mutex::new(()),
            counters: Counters::new(),
        }
    }

    /// Its name, as declared.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How many retries it would grant now.
    pub fn balance(&self) -> u64 {
        self.bucket.balance(&self.live.terms(), time::coarse()) / RETRY
    }

    /// The options as they are now.
    pub fn options(&self) -> BudgetOptions {
        self.live.load()
    }

    #[cold]
    #[inline(never)]
    fn pay_in(&self) {
        self.bucket.put(|terms| terms.deposit, || self.live.terms(), time::coarse);
    }
}

impl Budget for RetryBudget {
    #[inline]
    fn deposit(&self) {
        if !self.bucket.is_full(self.live.brim()) {
            self.pay_in();
        }
    }

    fn withdraw(&self) -> Withdrawal {
        if !self.live.is_enabled() {
            return Withdrawal::Free;
        }
        let granted = self.bucket.take(|| self.live.terms(), time::coarse());
        self.counters.add(if granted { WITHDRAWN } else { REFUSED });
        if granted { Withdrawal::Taken } else { Withdrawal::Refused }
    }

    fn give_back(&self) {
        self.counters.add(GIVEN_BACK);
        self.bucket.put(|_| RETRY, || self.live.terms(), time::coarse);
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBudget")
            .field("name", &self.name)
            .field("options", &self.options())
            .field("balance", &self.balance())
            .finish_non_exhaustive()
    }
}
