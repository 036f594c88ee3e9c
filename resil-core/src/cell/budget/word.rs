//! The balance and what time makes of it: what is put in, taken out, brought and forgotten.
//!
//! Invariant: pure. Nothing is rounded but what is forgotten, and that in favour of forgetting.
//!
//! Deposits look at no clock, so when one was made is not known. Who does look takes what was collected since the last look as
//! collected evenly, and draws the balance towards the *reserve*, which is what `min_per_sec` brings in one `ttl`:
//! * below it, by `min_per_sec`, as far as the reserve;
//! * above it, by forgetting, once half a `ttl` has passed since it last did: of an excess, `h / (h + t)` is kept, where `h` is
//!   half the `ttl` and `t` the time since then.
//!
//! So for half a `ttl` nothing is lost, and of a deposit of age `a > h` at most `h / a` is left, however often somebody looks. Even
//! traffic that deposits `d` in half a `ttl` leaves an excess of `d` after the forgetting, since `(d + d · t / h) · h / (h + t) = d`,
//! and of `2 d` just before the next one, if somebody looks in time: the deposits of one `ttl`.
//!
//! A balance that is full is kept however long nobody draws on it: what is deposited then leaves no trace. The deposit that
//! would fill it looks at the clock, and forgets, first; so it becomes full only where traffic deposits no less than [`REMEMBERED`]
//! retries in a `ttl`.
//!
//! # Source
//! Ours.

use crate::cell::Ratio;
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
    pub(super) reserve: u64,
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

    /// What the word of a full balance is at least.
    pub(crate) const fn brim(&self) -> u64 {
        Word::new(self.full(), NEVER).0
    }
}

/// The balance, and when somebody last looked at the clock.
///
/// | bits | meaning |
/// |---|---|
/// | 0..28 | the tick of the last look, 0 before the first one |
/// | 28..64 | the balance, in parts |
///
/// So a word is at least the word of a balance if its balance is. 28 bits of ticks wrap after 49 days. Of a budget that nobody has looked at for 24 to 49 days the time that passed is
/// lost, and with it the growth of the reserve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Word(pub(super) u64);

const TICK_BITS: u32 = 28;
const TICKS: u64 = 1 << TICK_BITS;
const _: () = assert!((LARGEST_RESERVE + REMEMBERED) * RETRY < 1 << (u64::BITS - TICK_BITS));

/// No look yet.
const NEVER: u64 = 0;

/// A clock that went back no further than this, a second, is waited for. Two cores may differ, and what time has brought must not be brought
/// again.
const RIDDEN_OUT: u64 = 1_000 / TICK_MS;

/// The tick of a reading, never [`NEVER`].
pub(super) fn tick(now: Nanos) -> u64 {
    (now.0 / TICK.0 % TICKS).max(1)
}

impl Word {
    /// The reserve, and no look.
    pub(super) const fn fresh(terms: &Terms) -> Self {
        Self::new(terms.reserve, NEVER)
    }

    const fn new(balance: u64, looked: u64) -> Self {
        Self(balance << TICK_BITS | looked)
    }

    pub(super) const fn balance(self) -> u64 {
        self.0 >> TICK_BITS
    }

    const fn looked(self) -> u64 {
        self.0 % TICKS
    }

    /// With a deposit or what was given back, if that needs no clock.
    pub(super) fn with(self, parts: u64, terms: &Terms) -> Option<Self> {
        let balance = self.balance() + parts;
        let needs_none = balance < terms.full() && self.looked() != NEVER;
        needs_none.then(|| Self::new(balance, self.looked()))
    }

    /// With a deposit or what was given back, after what is too old was forgotten.
    pub(super) fn with_at(self, parts: u64, tick: u64, terms: &Terms) -> Self {
        let balance = (self.balance() + parts).min(terms.full());
        Self::new(balance, self.looked()).aged(tick, terms)
    }

    /// Less a retry, if there is one.
    pub(super) fn without(self, tick: u64, terms: &Terms) -> (Self, bool) {
        let now = self.at(tick, terms);
        let Some(left) = now.balance().checked_sub(RETRY) else { return (now, false) };
        // Where it sinks below the reserve, time begins to bring something only now.
        let looked = if left < terms.reserve { self.since(tick).0 } else { now.looked() };
        (Self::new(left, looked), true)
    }

    /// What it is at `tick`.
    pub(super) fn at(self, tick: u64, terms: &Terms) -> Self {
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
    pub(super) fn settled(self, tick: u64, terms: &Terms) -> Self {
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
