//! The options that may change while calls are under way.
//!
//! Invariant: a snapshot may mix old and new values for the moment of a change; every use of it stands that
//! (`min_calls` is compared with the window that was read beside it).
//!
//! # Synchronisation
//! Relaxed throughout. Who changes an option revises the breaker's word afterwards (`AcqRel`), and an evaluation loads the word
//! (Acquire) before the options, so the first outcome after a change is judged by it.

use super::criterion::{Criterion, Kind, bucket_ms};
use super::options::BreakerOptions;
use crate::contract::Ratio;
use crate::sync::{AtomicU32, AtomicU64, Ordering::Relaxed};
use crate::time::Nanos;

/// [`BreakerOptions`], changeable.
pub(super) struct Live {
    slow_call: AtomicU64,
    /// Never changes.
    kind: Kind,
    /// Of the kinds that have a number.
    number: AtomicU32,
    /// Of a window of time.
    span: AtomicU64,
    min_calls: AtomicU32,
    failure_rate: AtomicU32,
    slow_rate: AtomicU32,
    open_for: AtomicU64,
    open_cap: AtomicU64,
    open_factor: AtomicU32,
    open_jitter: AtomicU32,
    max_open_for: AtomicU64,
    probe_timeout: AtomicU64,
    probes: AtomicU32,
}

impl Live {
    pub(super) const fn new(options: &BreakerOptions) -> Self {
        Self {
            slow_call: AtomicU64::new(options.slow_call.0),
            kind: options.criterion.kind(),
            number: AtomicU32::new(options.criterion.number()),
            span: AtomicU64::new(options.criterion.span().0),
            min_calls: AtomicU32::new(options.min_calls),
            failure_rate: AtomicU32::new(options.failure_rate.millionths()),
            slow_rate: AtomicU32::new(options.slow_rate.millionths()),
            open_for: AtomicU64::new(options.open_for.0),
            open_cap: AtomicU64::new(options.open_cap.0),
            open_factor: AtomicU32::new(options.open_factor),
            open_jitter: AtomicU32::new(options.open_jitter.millionths()),
            max_open_for: AtomicU64::new(options.max_open_for.0),
            probe_timeout: AtomicU64::new(options.probe_timeout.0),
            probes: AtomicU32::new(options.probes),
        }
    }

    /// The only option that a healthy call asks for, unless it goes into a window of time.
    #[inline]
    pub(super) fn slow_call(&self) -> Nanos {
        Nanos(self.slow_call.load(Relaxed))
    }

    /// The length of a bucket.
    #[inline]
    pub(super) fn bucket_ms(&self) -> u64 {
        bucket_ms(Nanos(self.span.load(Relaxed)))
    }

    pub(super) fn load(&self) -> BreakerOptions {
        let ratio = |cell: &AtomicU32| Ratio::from_millionths(cell.load(Relaxed));
        let nanos = |cell: &AtomicU64| Nanos(cell.load(Relaxed));
        BreakerOptions {
            criterion: match self.kind {
                Kind::Calls => Criterion::Calls(self.number.load(Relaxed)),
                Kind::Time => Criterion::Time(nanos(&self.span)),
                Kind::Consecutive => Criterion::Consecutive(self.number.load(Relaxed)),
            },
            min_calls: self.min_calls.load(Relaxed),
            failure_rate: ratio(&self.failure_rate),
            slow_call: self.slow_call(),
            slow_rate: ratio(&self.slow_rate),
            open_for: nanos(&self.open_for),
            open_factor: self.open_factor.load(Relaxed),
            open_cap: nanos(&self.open_cap),
            open_jitter: ratio(&self.open_jitter),
            max_open_for: nanos(&self.max_open_for),
            probes: self.probes.load(Relaxed),
            probe_timeout: nanos(&self.probe_timeout),
        }
    }

    pub(super) fn store(&self, options: &BreakerOptions) {
        self.slow_call.store(options.slow_call.0, Relaxed);
        self.number.store(options.criterion.number(), Relaxed);
        self.span.store(options.criterion.span().0, Relaxed);
        self.min_calls.store(options.min_calls, Relaxed);
        self.failure_rate.store(options.failure_rate.millionths(), Relaxed);
        self.slow_rate.store(options.slow_rate.millionths(), Relaxed);
        self.open_for.store(options.open_for.0, Relaxed);
        self.open_factor.store(options.open_factor, Relaxed);
        self.open_cap.store(options.open_cap.0, Relaxed);
        self.open_jitter.store(options.open_jitter.millionths(), Relaxed);
        self.max_open_for.store(options.max_open_for.0, Relaxed);
        self.probes.store(options.probes, Relaxed);
        self.probe_timeout.store(options.probe_timeout.0, Relaxed);
    }
}
