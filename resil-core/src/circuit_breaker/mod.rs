//! Circuit breaker: stops calling what keeps failing, and finds out when it works again.
//!
//! Closed, it counts the outcomes of the last N calls or of the last so many seconds; when the share of failures (or of slow
//! calls) reaches its rate, it opens and refuses for a while; then it lets a few probes through, and they decide. Or it opens
//! after N failures in a row.
//!
//! Invariant: a decision rests only on calls that were admitted by the state which decides.
//!
//! # Source
//! M. Nygard, *Release It!* (2007); the windows and their options follow Resilience4j.

mod by_calls;
mod by_time;
mod closed;
pub mod config;
mod criterion;
mod decide;
mod delivery;
mod half_open;
mod in_a_row;
mod live;
mod machine;
mod operate;
mod options;
mod permit;
mod start;
mod word;

pub use config::CircuitBreakerBuilder;
pub use criterion::Criterion;
pub use options::BreakerOptions;
pub use permit::Permit;

use crate::cell::counters::{self, Column};
use crate::cell::window::{Mark, WORDS};
use crate::cell::{Counters, Rare};
use crate::contract::{
    Event, Location, Ratio, Reason, Rejected, State, TripReason, Verdict, Window, emit,
    has_observer,
};
use crate::sync::fixed::Mutex;
use crate::time::{self, Nanos};
use core::fmt;
use core::time::Duration;
use delivery::Delivery;
use live::Live;
use machine::{Ground, Machine, Outcome, Settled, Transition};
use start::Start;
use word::Word;

/// Stops calling what keeps failing.
///
/// Built in a `static`, at compile time and without a heap; one instance stands for one thing that can fail, whoever calls
/// it. The attribute uses it by name; by hand it is `acquire`, then a verdict on the [`Permit`].
///
/// # Default
/// See the constants of [`config`].
///
/// # Cost
/// A healthy call reads the state twice (relaxed) and adds one to a line of its own thread: nothing is written that another
/// thread reads. Where `slow_call` is set, it reads the clock twice as well. With a window of time a success reads the coarse
/// clock when it ends, and the first of each tenth of the window begins a bucket, for all.
///
/// A breaker is 2.9 KB, whatever it goes by, most of it lines of counts of which each thread has its own.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{CircuitBreaker, Ratio, State};
///
/// static GATEWAY: CircuitBreaker =
///     CircuitBreaker::builder("gateway").window(4).min_calls(2).failure_rate(Ratio::percent(50)).build();
///
/// for _ in 0..2 {
///     let permit = GATEWAY.acquire().expect("closed");
///     permit.failure();
/// }
/// assert_eq!(GATEWAY.state(), State::Open);
/// assert!(GATEWAY.acquire().is_err());
/// ```
pub struct CircuitBreaker {
    machine: Machine<WORDS>,
    live: Live,
    name: &'static str,
    location: &'static Location<'static>,
    delivery: Delivery,
    /// Held while options change, so that a change is checked against what it will stand beside.
    changing: Mutex<()>,
    counters: Counters<8>,
    /// Outcomes that came too late.
    lost: Rare<1>,
}

/// What is counted, each call in exactly one.
const COUNTED: [&str; 8] = [
    "success",
    "slow_success",
    "failure",
    "slow_failure",
    "ignored",
    "abandoned",
    "lost",
    "refused",
];
const SUCCESS: usize = 0;
const IGNORED: usize = 4;
const ABANDONED: usize = 5;
/// The only one that is not counted on the stripes: its word there holds the successes in a window of time.
const LOST: usize = 6;
const REFUSED: usize = 7;

impl CircuitBreaker {
    /// Starts a breaker of this name.
    #[track_caller]
    pub const fn builder(name: &'static str) -> CircuitBreakerBuilder {
        CircuitBreakerBuilder::new(name, Location::caller())
    }

    const fn with(
        name: &'static str,
        location: &'static Location<'static>,
        options: BreakerOptions,
    ) -> Self {
        Self {
            machine: Machine::new(options.criterion.kind(), options.counts_slow()),
            live: Live::new(&options),
            name,
            location,
            delivery: Delivery::new(Word::closed(1, false).next_generation()),
            changing: Mutex::new(()),
            counters: Counters::new(),
            lost: Rare::new(),
        }
    }

    /// Asks for permission to call.
    ///
    /// # Errors
    /// [`Rejected`] with [`Reason::CircuitOpen`] while it is open, forced open, or half-open with all probes out. Its
    /// `retry_after` is the rest of the open wait.
    ///
    /// # Cost
    /// Closed: one relaxed load; a clock reading where `slow_call` is set. Open: two loads and a reading of the coarse clock
    /// (of the fine one where `open_for` or `probe_timeout` is below 250 ms); a refusal allocates and formats nothing.
    #[inline]
    pub fn acquire(&self) -> Result<Permit<'_>, Rejected> {
        let word = self.machine.glance();
        let (admitted, start) =
            if word.waves_through() { (word, Start::UNKNOWN) } else { self.admit()? };
        Ok(Permit::new(self, admitted, start))
    }

    /// As [`acquire`](Self::acquire), for a call that has to pass other gates before it begins: no clock is read yet.
    ///
    /// Once the last gate has let it through, [`Permit::begin`] starts its time, so that what it waited there is not taken for
    /// the callee's slowness. Until then the permit is never slow.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    ///
    /// # Cost
    /// As [`acquire`](Self::acquire), without the reading for `slow_call`, which `begin` takes.
    ///
    /// # Examples
    /// ```
    /// # use resil_core as resil;
    /// # use core::time::Duration;
    /// use resil::CircuitBreaker;
    ///
    /// static GATEWAY: CircuitBreaker =
    ///     CircuitBreaker::builder("gateway").slow_call(Duration::from_millis(200)).build();
    ///
    /// let mut permit = GATEWAY.acquire_gated().expect("closed");
    /// // … wait for a place in a bulkhead …
    /// permit.begin(None);
    /// // … call …
    /// permit.success();
    /// ```
    #[inline]
    pub fn acquire_gated(&self) -> Result<Permit<'_>, Rejected> {
        let word = self.machine.glance();
        let admitted = if word.waves_through() { word } else { self.enter()? };
        Ok(Permit::new(self, admitted, Start::UNKNOWN))
    }

    /// The way through a state that asks for more than a look: under which word, and since when if slowness counts.
    #[cold]
    #[inline(never)]
    fn admit(&self) -> Result<(Word, Start), Rejected> {
        let admitted = self.enter()?;
        Ok((admitted, self.begin(None)))
    }

    /// The same, without the time.
    #[cold]
    #[inline(never)]
    fn enter(&self) -> Result<Word, Rejected> {
        self.machine.admit(self).map_err(|wait| self.refuse(wait))
    }

    fn counts_slow(&self) -> bool {
        self.live.slow_call() != Nanos::MAX
    }

    /// When a call has begun, if slowness counts. The clock is read unless it was just now.
    #[cold]
    #[inline(never)]
    fn begin(&self, reading: Option<Nanos>) -> Start {
        if self.counts_slow() {
            Start::at(reading.unwrap_or_else(time::now))
        } else {
            Start::aside(reading)
        }
    }

    fn refuse(&self, wait: Option<Nanos>) -> Rejected {
        self.counters.add(REFUSED);
        let refused = Rejected::new(Reason::CircuitOpen, self.name);
        let refused = wait.map_or(refused, |wait| refused.after(wait.to_duration()));
        if has_observer() {
            emit(&Event::Refused(refused));
        }
        refused
    }

    /// A fast success, if it changes nothing: counted, and done.
    #[inline]
    fn passes(&self, admitted: Word) -> bool {
        let passes = self.machine.still_clean(admitted);
        if passes {
            self.counters.add(SUCCESS);
        }
        passes
    }

    /// Every outcome that may change something.
    #[inline(never)]
    fn settle(&self, admitted: Word, start: Start, verdict: Verdict, hint: Option<Duration>) {
        let outcome = match verdict {
            Verdict::Ignored => Outcome::NoVote,
            voted => Outcome::Vote(Mark::new(voted == Verdict::Failure, self.is_slow(start))),
        };
        let settled = self.machine.settle(admitted, outcome, hint, self);
        self.count(settled, outcome, IGNORED);
    }

    /// A permit was dropped without a verdict. It was abandoned, unless it had failed or was too slow by then.
    #[cold]
    #[inline(never)]
    fn abandon(&self, admitted: Word, start: Start, failed: bool) {
        let slow = self.is_slow(start);
        let outcome =
            if failed || slow { Outcome::Vote(Mark::new(true, slow)) } else { Outcome::NoVote };
        let settled = self.machine.settle(admitted, outcome, None, self);
        self.count(settled, outcome, ABANDONED);
    }

    fn is_slow(&self, start: Start) -> bool {
        start.is_slow(time::now, self.live.slow_call())
    }

    fn count(&self, settled: Settled, outcome: Outcome, no_vote: usize) {
        self.counters.add(match (settled, outcome) {
            (Settled::Lost, _) => return self.lost.add(0),
            (Settled::Counted, Outcome::NoVote) => no_vote,
            (Settled::Counted, Outcome::Vote(mark)) => {
                usize::from(mark.failed()) * 2 + usize::from(mark.slow())
            }
        });
    }

    /// Its name, as declared.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its state now. An open breaker whose wait is over stays open until the next call asks.
    pub fn state(&self) -> State {
        self.machine.load().state()
    }

    /// How many transitions it has made, modulo 2²⁴, counted from 1.
    pub fn generation(&self) -> u32 {
        self.machine.load().generation()
    }

    /// What the present state has counted: outcomes in the window, or probes that are in.
    pub fn window(&self) -> Window {
        self.machine.counted(self.machine.load(), self)
    }

    /// The share of failures in the window, as long as it is closed (or observes only) and holds `min_calls`.
    ///
    /// `None` says that there is not enough to judge by, or that it goes by failures in a row.
    pub fn failure_rate(&self) -> Option<Ratio> {
        let (word, options) = (self.machine.load(), self.live.load());
        let Window { calls, failures, .. } = self.machine.counted(word, self);
        let judged = word.counts() && options.criterion.has_rates() && calls >= options.min_calls;
        judged.then(|| Ratio::part_of(failures.into(), calls.into()))
    }

    /// How long it will still be open; `None` if it is not open or the wait is over.
    pub fn retry_after(&self) -> Option<Duration> {
        let word = self.machine.load();
        let (end, fine) = word.end();
        let left = Nanos::from_ms(end).since(self.now(fine));
        (word.state() == State::Open && left > Nanos::ZERO).then(|| left.to_duration())
    }

    /// The options as they are now.
    pub fn options(&self) -> BreakerOptions {
        self.live.load()
    }
}

impl Ground for CircuitBreaker {
    fn options(&self) -> BreakerOptions {
        self.live.load()
    }

    fn now(&self, fine: bool) -> Nanos {
        if fine { time::now() } else { time::coarse() }
    }

    fn successes(&self) -> Column<'_, 8> {
        self.counters.column(LOST)
    }

    fn owner(&self) -> usize {
        counters::owner()
    }

    fn bucket_ms(&self) -> u64 {
        self.live.bucket_ms()
    }

    fn transition(&self, transition: Transition) {
        let Transition { from, to, generation, reason, window } = transition;
        let policy = self.name;
        let observed = from == State::ObserveOnly && reason != TripReason::Manual;
        let event = if observed {
            Event::WouldOpen { policy, generation, reason, window }
        } else {
            Event::Transition { policy, from, to, generation, reason, window }
        };
        self.delivery.hand_in(generation, event);
    }
}

impl fmt::Debug for CircuitBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CircuitBreaker")
            .field("name", &self.name)
            .field("state", &self.state())
            .field("generation", &self.generation())
            .field("window", &self.window())
            .finish_non_exhaustive()
    }
}
