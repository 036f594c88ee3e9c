//! A token bucket of retries in one word: what calls deposit, what time brings, and what time takes away.
//!
//! Invariant: a balance never exceeds [`Terms::full`], a retry is granted only where a whole one was there, and each grant
//! is one exchange of the word, so no two callers are granted the same one. From that follows the hard bound: whatever the
//! interleaving, between any two looks at the clock there are granted at most what is deposited between them, plus
//! `min_per_sec` for the time between them, plus one full balance.
//!
//! Deposits look at no clock, so when one was made is not known. Who does look takes what was collected since the last look as
//! collected evenly, and draws the balance towards the *reserve*, which is what `min_per_sec` brings in one `ttl`:
//! * below it, by `min_per_sec`, as far as the reserve;
//! * above it, by forgetting, once half a `ttl` has passed since it last did: of an excess, `h / (h + t)` is kept, where `h` is
//!   half the `ttl` and `t` the time since then.
//!
//! However often somebody looks, even traffic that deposits `d` in half a `ttl` leaves an excess of `d` after the forgetting, since
//! `(d + d · t / h) · h / (h + t) = d`, and of no more than `2 d` before the next: the deposits of one `ttl`. For half a `ttl`
//! nothing is lost.
//!
//! A balance that is full is kept however long nobody draws on it: what is deposited then leaves no trace. The deposit that
//! would fill it looks at the clock, and forgets, first; so it becomes full only where traffic deposits no less than [`REMEMBERED`]
//! retries in a `ttl`.
//!
//! # Source
//! Ratio, floor, and memory follow Finagle's `RetryBudget`; the way of forgetting without a clock is ours.
//!
//! # Synchronisation
//! | access | ordering | why |
//! |---|---|---|
//! | glance of a deposit | Relaxed load | only asks whether there is something to do; what is done is decided anew |
//! | exchange | `AcqRel` | the terms are loaded after the word: an exchange that meets a word of after a change of terms knows them |
//! | its first load | Acquire | the same |

use super::Ratio;
use crate::sync::{AtomicU64, Ordering};
use crate::time::Nanos;

/// A whole retry, in parts. What a ratio makes of it is exact.
pub(crate) const RETRY: u64 = 1_000_000;

/// As many retries a balance holds beyond the reserve. Enough for a second of a thousand failed calls; with less than some
/// thousand calls a second, where a deposit's write costs nothing that could be noticed, `ttl` forgets before it is reached.
pub(crate) const REMEMBERED: u64 = 1_000;

/// The largest reserve, in retries.
pub(crate) const LARGEST_RESERVE: u64 = 65_536;

/// Time is counted in ticks of 16 ms. That loses nothing: a tick that is not over is counted when it is.
const TICK: Nanos = Nanos::from_ms(TICK_MS);
const TICK_MS: u64 = 16;

/// What a balance earns and keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    /// What a deposit brings, in parts.
    pub(crate) deposit: u64,
    /// What a tick brings, in parts.
    per_tick: u64,
    /// How far ticks bring it, in parts.
    reserve: u64,
    half_ttl_ms: u64,
}

impl Terms {
    pub(crate) const fn new(ratio: Ratio, min_per_sec: u32, ttl: Nanos) -> Self {
        let ttl_ms = ttl.0 / Nanos::MILLI.0;
        let per_ms = min_per_sec as u64 * (RETRY / 1_000);
        let reserve = per_ms.saturating_mul(ttl_ms);
        // A floor below one retry a `ttl` still is one: it has to become a whole retry to be of use.
        let reserve = if min_per_sec > 0 && reserve < RETRY { RETRY } else { reserve };
        Self {
            deposit: ratio.millionths() as u64,
            per_tick: per_ms * TICK_MS,
            reserve: if reserve < LARGEST_RESERVE * RETRY {
                reserve
            } else {
                LARGEST_RESERVE * RETRY
            },
            half_ttl_ms: ttl_ms / 2,
        }
    }

    /// The largest balance.
    pub(crate) const fn full(&self) -> u64 {
        self.reserve + REMEMBERED * RETRY
    }
}

/// The balance, and when somebody last looked at the clock.
///
/// | bits | meaning |
/// |---|---|
/// | 0..36 | the balance, in parts |
/// | 36..64 | the tick of the last look, 0 before the first one |
///
/// 28 bits of ticks wrap after 49 days. Of a budget that nobody has looked at for 24 to 49 days the time that passed is
/// lost, and with it the growth of the reserve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Word(u64);

const BALANCE_BITS: u32 = 36;
const TICK_BITS: u32 = u64::BITS - BALANCE_BITS;
const TICKS: u64 = 1 << TICK_BITS;
const _: () = assert!((LARGEST_RESERVE + REMEMBERED) * RETRY < 1 << BALANCE_BITS);

/// No look yet.
const NEVER: u64 = 0;

/// A clock that went back no further than this, a second, is waited for. Two cores may differ, and what time has brought must not be brought
/// again.
const RIDDEN_OUT: u64 = 1_000 / TICK_MS;

/// The tick of a reading, never [`NEVER`].
fn tick(now: Nanos) -> u64 {
    (now.0 / TICK.0 % TICKS).max(1)
}

impl Word {
    const fn new(balance: u64, looked: u64) -> Self {
        Self(looked << BALANCE_BITS | balance)
    }

    const fn balance(self) -> u64 {
        self.0 & ((1 << BALANCE_BITS) - 1)
    }

    const fn looked(self) -> u64 {
        self.0 >> BALANCE_BITS
    }

    /// With a deposit or what was given back, if that needs no clock.
    fn with(self, parts: u64, terms: &Terms) -> Option<Self> {
        let balance = self.balance() + parts;
        let needs_none = balance < terms.full() && self.looked() != NEVER;
        needs_none.then(|| Self::new(balance, self.looked()))
    }

    /// With a deposit or what was given back, after what is too old was forgotten.
    fn with_at(self, parts: u64, tick: u64, terms: &Terms) -> Self {
        let balance = (self.balance() + parts).min(terms.full());
        Self::new(balance, self.looked()).aged(tick, terms)
    }

    /// Less a retry, if there is one.
    fn without(self, tick: u64, terms: &Terms) -> (Self, bool) {
        let now = self.at(tick, terms);
        let Some(left) = now.balance().checked_sub(RETRY) else { return (now, false) };
        // Time brings something from the moment on that there is something to bring.
        let sinks = left < terms.reserve && terms.reserve <= now.balance();
        (Self::new(left, if sinks { self.since(tick).0 } else { now.looked() }), true)
    }

    /// What it is at `tick`.
    fn at(self, tick: u64, terms: &Terms) -> Self {
        if self.balance() >= terms.full() {
            Self::new(terms.full(), self.since(tick).0)
        } else {
            self.aged(tick, terms)
        }
    }

    /// What time makes of it, once there is enough to forget.
    fn aged(self, tick: u64, terms: &Terms) -> Self {
        let (_, ticks) = self.since(tick);
        let young = 0 < ticks && ticks * TICK_MS < terms.half_ttl_ms;
        if young && self.balance() >= terms.reserve { self } else { self.drawn(tick, terms) }
    }

    /// Drawn towards the reserve.
    fn drawn(self, tick: u64, terms: &Terms) -> Self {
        let (now, ticks) = self.since(tick);
        let Terms { per_tick, reserve, half_ttl_ms, .. } = *terms;
        let balance = if let Some(excess) = self.balance().checked_sub(reserve) {
            reserve + share(excess, half_ttl_ms, half_ttl_ms + ticks * TICK_MS)
        } else {
            self.balance().saturating_add(per_tick.saturating_mul(ticks)).min(reserve)
        };
        Self::new(balance, now)
    }

    /// What the terms make of it up to `tick`; from there on others may hold.
    fn settled(self, tick: u64, terms: &Terms) -> Self {
        if self.balance() >= terms.full() { self.at(tick, terms) } else { self.drawn(tick, terms) }
    }

    /// The tick of the look to note, and how many ticks have passed since the last one.
    fn since(self, tick: u64) -> (u64, u64) {
        if self.looked() == NEVER {
            return (tick, 0);
        }
        let ticks = tick.wrapping_sub(self.looked()) % TICKS;
        if ticks < TICKS / 2 {
            (tick, ticks)
        } else if TICKS - ticks <= RIDDEN_OUT {
            (self.looked(), 0)
        } else {
            // The clock was set back. What it shows from now on is time again.
            (tick, 0)
        }
    }
}

/// `whole · part / of`, rounded down, where `part` is at most `of`.
fn share(whole: u64, part: u64, of: u64) -> u64 {
    // At most `whole`, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    {
        (u128::from(whole) * u128::from(part) / u128::from(of.max(1))) as u64
    }
}

/// A balance that any thread may draw on.
///
/// Terms and time are its owner's: `terms` says what holds now and is asked again in each round.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// A [`Word`]. Deposits and withdrawals exchange it; a deposit that finds it full only reads.
    word: AtomicU64,
}

impl Bucket {
    #[cfg(not(resil_loom))]
    pub(crate) const fn new(terms: &Terms) -> Self {
        Self { word: AtomicU64::new(Self::fresh(terms).0) }
    }

    #[cfg(resil_loom)]
    pub(crate) fn new(terms: &Terms) -> Self {
        Self { word: AtomicU64::new(Self::fresh(terms).0) }
    }

    const fn fresh(terms: &Terms) -> Word {
        Word::new(terms.reserve, NEVER)
    }

    /// Whether the balance is at least this many parts, as far as can be said without a clock.
    #[inline]
    pub(crate) fn holds(&self, parts: u64) -> bool {
        Word(self.word.load(Ordering::Relaxed)).balance() >= parts
    }

    /// Adds what `parts` takes from the terms, as far as there is room.
    pub(crate) fn put(
        &self,
        parts: impl Fn(&Terms) -> u64,
        terms: impl Fn() -> Terms,
        now: impl Fn() -> Nanos,
    ) {
        self.change(|word| {
            let terms = terms();
            let parts = parts(&terms);
            if parts == 0 || word.balance() >= terms.full() {
                return (word, ());
            }
            let next = word.with(parts, &terms);
            (next.unwrap_or_else(|| word.with_at(parts, tick(now()), &terms)), ())
        });
    }

    /// Takes a whole retry, if there is one.
    pub(crate) fn take(&self, terms: impl Fn() -> Terms, now: Nanos) -> bool {
        self.change(|word| word.without(tick(now), &terms()))
    }

    /// Settles up to `now` under these terms. A change of terms settles under the old ones, changes, and settles under the new
    /// ones, so that no time counts under both.
    pub(crate) fn settle(&self, terms: &Terms, now: Nanos) {
        self.change(|word| (word.settled(tick(now), terms), ()));
    }

    /// As new.
    pub(crate) fn reset(&self, terms: impl Fn() -> Terms) {
        self.change(|_| (Self::fresh(&terms()), ()));
    }

    /// What could be taken now, in parts.
    pub(crate) fn balance(&self, terms: &Terms, now: Nanos) -> u64 {
        Word(self.word.load(Ordering::Acquire)).at(tick(now), terms).balance()
    }

    /// Exchanges the word for what `step` makes of it, and writes nothing where that is the same.
    fn change<R>(&self, step: impl Fn(Word) -> (Word, R)) -> R {
        let mut word = Word(self.word.load(Ordering::Acquire));
        loop {
            let (next, result) = step(word);
            if next == word {
                return result;
            }
            let exchanged = self.word.compare_exchange_weak(
                word.0,
                next.0,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            match exchanged {
                Ok(_) => return result,
                Err(seen) => word = Word(seen),
            }
        }
    }
}
