//! A refusal: which policy, why, and when to come back, in 16 bytes.
//!
//! Invariant: `name` and `len` were taken from one `&'static str`, so that the string can be put together again.

use crate::time::Nanos;
use core::fmt;
use core::ptr::NonNull;
use core::time::Duration;

/// Why a policy refused a call, or ended it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[repr(u8)]
pub enum Reason {
    /// The circuit breaker is open, forced open, or half-open with all probes out.
    CircuitOpen,
    /// The rate limiter has no cell left.
    RateLimited,
    /// The bulkhead has no place left.
    BulkheadFull,
    /// The adaptive limit is reached.
    LimitReached,
    /// The client-side throttle shed the call.
    Throttled,
    /// The attempt took longer than its `timeout`.
    TimedOut,
    /// The call took longer than its `deadline`, or none was left when it began.
    DeadlineExceeded,
    /// No worker thread was free.
    PoolExhausted,
}

impl Reason {
    /// In words, as [`Rejected`]'s `Display` has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CircuitOpen => "circuit open",
            Self::RateLimited => "rate limited",
            Self::BulkheadFull => "bulkhead full",
            Self::LimitReached => "limit reached",
            Self::Throttled => "throttled",
            Self::TimedOut => "timed out",
            Self::DeadlineExceeded => "deadline exceeded",
            Self::PoolExhausted => "worker pool exhausted",
        }
    }

    /// Whether time ran out on a call, rather than a gate refusing it.
    #[inline]
    pub const fn is_timeout(self) -> bool {
        matches!(self, Self::TimedOut | Self::DeadlineExceeded)
    }
}

/// A call that was refused by a policy, or ended by a timeout or deadline.
///
/// A plain value of 16 bytes: making, copying and dropping it allocates and formats nothing. A function's error type
/// takes it in by `From<Rejected>`.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{Reason, Rejected};
/// use core::time::Duration;
///
/// let refused = Rejected::new(Reason::CircuitOpen, "gateway").after(Duration::from_secs(30));
/// assert_eq!(refused.policy(), "gateway");
/// assert_eq!(refused.retry_after(), Some(Duration::from_secs(30)));
/// assert_eq!(refused.to_string(), "circuit open: `gateway` (retry after 30s)");
/// ```
#[derive(Clone, Copy)]
pub struct Rejected {
    name: NonNull<u8>,
    when: When,
    len: u16,
    reason: Reason,
    /// The body had begun when this ended it.
    begun: bool,
}

// SAFETY: the pointer comes from a `&'static str`, which is `Send` and `Sync`, and is only read.
#[allow(unsafe_code)]
unsafe impl Send for Rejected {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Rejected {}

impl Rejected {
    /// A refusal by the policy of this name, with nothing known about when to come back.
    ///
    /// A name longer than 65 535 bytes is cut there.
    #[inline]
    pub const fn new(reason: Reason, policy: &'static str) -> Self {
        let mut len = policy.len();
        if len > u16::MAX as usize {
            len = u16::MAX as usize;
            while !policy.is_char_boundary(len) {
                len -= 1;
            }
        }
        let name = match NonNull::new(policy.as_ptr().cast_mut()) {
            Some(name) => name,
            None => NonNull::dangling(), // a `str` is never null; this spares an `unwrap`
        };
        // At most `u16::MAX` by the lines above.
        #[allow(clippy::cast_possible_truncation)]
        Self { name, when: When::UNKNOWN, len: len as u16, reason, begun: reason.is_timeout() }
    }

    /// With the time after which another call may be admitted, kept to eight digits and rounded up.
    #[inline]
    #[must_use]
    pub const fn after(self, wait: Duration) -> Self {
        self.after_nanos(Nanos::from_duration(wait))
    }

    /// As [`after`](Self::after).
    #[inline]
    pub(crate) const fn after_nanos(mut self, wait: Nanos) -> Self {
        self.when = When::encode(wait.0);
        self
    }

    /// That can never be admitted, however long one waits.
    #[inline]
    #[must_use]
    pub const fn never(mut self) -> Self {
        self.when = When::NEVER;
        self
    }

    /// Time had run out before the body began.
    pub(crate) const fn before_it_began(mut self) -> Self {
        self.begun = false;
        self
    }

    /// Whether the body had begun when time ran out on it: else the callee has nothing to do with it.
    pub(crate) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Why.
    #[inline]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The name of the policy that refused: as declared, or `module::path::function` for what a function has inline.
    #[inline]
    pub const fn policy(&self) -> &'static str {
        // SAFETY: `new` took both from one `&'static str`, and cut it at a character boundary.
        #[allow(unsafe_code)]
        unsafe {
            let bytes = core::slice::from_raw_parts(self.name.as_ptr(), self.len as usize);
            core::str::from_utf8_unchecked(bytes)
        }
    }

    /// How long to wait before another call can be admitted; `None` if unknown or never.
    #[inline]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self.when.decode() {
            Some(ns) => Some(Duration::from_nanos(ns)),
            None => None,
        }
    }

    /// Whether no wait can help: the request itself is larger than what the policy ever admits.
    #[inline]
    pub const fn is_never(&self) -> bool {
        self.when.0 == When::NEVER.0
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}`", self.reason.as_str(), self.policy().escape_debug())?;
        match self.retry_after() {
            Some(wait) => write!(f, " (retry after {:?})", readable(wait)),
            None if self.is_never() => f.write_str(" (never admitted)"),
            None => Ok(()),
        }
    }
}

/// A wait as people read it: from a millisecond on without fractions of one, rounded up.
const fn readable(wait: Duration) -> Duration {
    const MS: u128 = 1_000_000;
    let ns = wait.as_nanos();
    if ns < MS {
        return wait;
    }
    // What fits in a `Duration` of 64 bits of nanoseconds fits in as many of milliseconds.
    #[allow(clippy::cast_possible_truncation)]
    Duration::from_millis(ns.div_ceil(MS) as u64)
}

#[allow(clippy::missing_fields_in_debug)] // all that it holds, decoded
impl fmt::Debug for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected")
            .field("reason", &self.reason)
            .field("policy", &self.policy())
            .field("retry_after", &self.retry_after())
            .field("never", &self.is_never())
            .finish()
    }
}

impl PartialEq for Rejected {
    fn eq(&self, other: &Self) -> bool {
        self.reason == other.reason
            && self.when.0 == other.when.0
            && self.policy() == other.policy()
    }
}

impl Eq for Rejected {}

impl core::error::Error for Rejected {
    /// A mark that there was a refusal. An error type that forwards its source (`#[error(transparent)]`, `io::Error`) hides the
    /// refusal that it wraps, but not this, so an outer guard finds it all the same.
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        Some(&Refusal)
    }
}

/// At the end of the chain of sources of every error that carries a refusal.
#[derive(Debug)]
pub(super) struct Refusal;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused by resil")
    }
}

impl core::error::Error for Refusal {}

/// A wait in 32 bits: 27 bits of mantissa, 5 of exponent (value = mantissa · 2^exponent nanoseconds).
///
/// Exact below 134 ms, within 2⁻²⁶ above, up to nine years; rounded up, so that nobody comes back too early.
#[derive(Clone, Copy)]
struct When(u32);

impl When {
    const UNKNOWN: Self = Self(u32::MAX);
    const NEVER: Self = Self(u32::MAX - 1);
    const LONGEST: Self = Self(u32::MAX - 2);
    const MANTISSA: u32 = 27;

    const fn encode(ns: u64) -> Self {
        let bits = u64::BITS - ns.leading_zeros();
        let mut exponent = bits.saturating_sub(Self::MANTISSA);
        // A shift by less than 64: `exponent` is at most 37.
        let mut mantissa = ns.div_ceil(1 << exponent);
        if mantissa == 1 << Self::MANTISSA {
            mantissa >>= 1;
            exponent += 1;
        }
        if exponent > 31 {
            return Self::LONGEST;
        }
        // 27 bits by construction.
        #[allow(clippy::cast_possible_truncation)]
        let word = exponent << Self::MANTISSA | mantissa as u32;
        if word > Self::LONGEST.0 { Self::LONGEST } else { Self(word) }
    }

    const fn decode(self) -> Option<u64> {
        if self.0 > Self::LONGEST.0 {
            return None;
        }
        let mantissa = (self.0 & ((1 << Self::MANTISSA) - 1)) as u64;
        Some(mantissa << (self.0 >> Self::MANTISSA))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_fits_in_two_registers() {
        assert!(size_of::<Rejected>() <= 16);
        assert_eq!(size_of::<Result<(), Rejected>>(), size_of::<Rejected>());
    }

    #[test]
    fn never_and_not_yet_differ() {
        let refused = Rejected::new(Reason::RateLimited, "quota");
        assert_eq!((refused.retry_after(), refused.is_never()), (None, false));
        assert_eq!((refused.never().retry_after(), refused.never().is_never()), (None, true));
        assert_eq!(refused.after(Duration::ZERO).retry_after(), Some(Duration::ZERO));
        let longest = refused.after(Duration::MAX).retry_after().expect("a wait, not `never`");
        assert!(longest > Duration::from_secs(9 * 365 * 86_400));
    }

    #[test]
    fn names_survive_whole_and_long_ones_are_cut_at_a_character() {
        assert_eq!(Rejected::new(Reason::Throttled, "").policy(), "");
        let long: &'static str = Box::leak("ä".repeat(40_000).into_boxed_str());
        let kept = Rejected::new(Reason::Throttled, long).policy();
        assert_eq!(kept.len(), 65_534);
        assert!(kept.chars().all(|c| c == 'ä'));
    }

    #[test]
    fn a_wait_is_printed_without_fractions_of_a_millisecond() {
        let shown = |wait| Rejected::new(Reason::CircuitOpen, "x").after(wait).to_string();
        assert_eq!(
            shown(Duration::from_nanos(9_976_343_808)),
            "circuit open: `x` (retry after 9.977s)"
        );
        assert_eq!(shown(Duration::from_micros(1_001)), "circuit open: `x` (retry after 2ms)");
        assert_eq!(shown(Duration::from_micros(250)), "circuit open: `x` (retry after 250µs)");
    }

    #[test]
    fn control_characters_are_escaped_where_a_name_is_printed() {
        let shown = Rejected::new(Reason::CircuitOpen, "a\nb").to_string();
        assert_eq!(shown, "circuit open: `a\\nb`");
    }

    proptest! {
        #[test]
        fn a_wait_is_never_shortened_and_hardly_lengthened(ns in 0..(1_u64 << 57)) {
            let kept = When::encode(ns).decode().expect("in range");
            prop_assert!(kept >= ns);
            prop_assert!(kept - ns <= ns >> 26);
        }
    }
}
