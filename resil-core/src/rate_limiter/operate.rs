//! What an operator does with a limiter: look at it, empty it, change its options.

use super::bucket::{Replaced, Word};
use super::options::{LimiterOptions, Start};
use super::{COUNTED, Desk, RateLimiter, Settings};
use crate::cell::Rate;
use crate::cell::gcra::Quota;
use crate::contract::{Counter, InvalidOption, Kind, Location, Policy, Setting, Value};
use crate::sync::Ordering;
use crate::sync::fixed::MutexGuard;
use crate::time::{self, Nanos};
use core::time::Duration;

/// Looking at it.
impl RateLimiter {
    /// Its name, as declared.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// How many permits could be taken now, in all shards together.
    pub fn available(&self) -> u64 {
        let now = time::now();
        let of = |shard| self.bucket(shard).available(&self.eras, now);
        (0..self.shards).map(of).sum()
    }

    /// How many calls are waiting.
    pub fn waiting(&self) -> usize {
        self.desk().queue.waiting()
    }

    /// The options as they are now.
    pub fn options(&self) -> LimiterOptions {
        self.options_with(&self.desk().settings)
    }

    fn options_with(&self, settings: &Settings) -> LimiterOptions {
        LimiterOptions {
            rate: settings.rate,
            burst: settings.burst,
            wait: self.longest_wait(),
            start: self.start,
            shards: self.shards,
        }
    }

    /// Whether it limits anything.
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.enabled.load(Ordering::Relaxed) != 0
    }
}

/// Acting on it. Each takes effect on the next call.
impl RateLimiter {
    /// Lets every call pass and takes nothing. Permits go on coming in, and who waits goes on waiting.
    pub fn disable(&self) {
        self.enabled.store(0, Ordering::Relaxed);
    }

    /// Limits again.
    pub fn enable(&self) {
        self.enabled.store(1, Ordering::Relaxed);
    }

    /// Takes all permits that are there. What was reserved stays reserved.
    pub fn drain(&self) {
        let now = time::now();
        for shard in 0..self.shards {
            self.bucket(shard).drain(&self.eras, now);
        }
    }

    /// As new: full, or empty if that is how it starts. Who waits has a right to the first permits. Counters keep on rising.
    pub fn reset(&self) {
        let mut desk = self.desk();
        for shard in 0..self.shards {
            self.begin_anew(&mut desk, shard, |quota, _, now| match self.start {
                Start::Full => Some(now),
                Start::Empty => Some(now.saturating_add(quota.burst)),
            });
        }
        self.call_all(desk);
    }

    /// The clock went back, or this is the first call of a limiter that starts empty: leaves an empty bucket.
    #[cold]
    pub(super) fn put_right(&self, shard: u32) {
        let mut desk = self.desk();
        let longest = self.longest_wait().max(desk.queue.longest_wait());
        let owed: u64 = desk.queue.of(shard).map(|seat| u64::from(seat.permits)).sum();
        self.begin_anew(&mut desk, shard, |quota, tat, now| {
            let tat = tat.saturating_sub(owed << quota.shift);
            quota.is_astray(tat, now, longest).then(|| now.saturating_add(quota.burst))
        });
        self.call_all(desk);
    }

    /// Puts a shard's word where `place` says, and those who wait in their order behind it.
    fn begin_anew(
        &self,
        desk: &mut Desk,
        shard: u32,
        place: impl Fn(&Quota, u64, u64) -> Option<u64>,
    ) {
        let permits = desk.queue.of(shard).map(|seat| u64::from(seat.permits)).sum();
        let placed = self.bucket(shard).replace(&self.eras, time::now, permits, place);
        let Some(Replaced { begin, era, quota, at }) = placed else { return };
        let mut seats: Vec<_> = desk.queue.of(shard).collect();
        seats.sort_by_key(|seat| seat.ticket.word().tat());
        let mut tat = begin;
        for seat in seats {
            tat = tat.saturating_add(u64::from(seat.permits) << quota.shift);
            seat.move_to(Word::new(tat, era), &quota, at);
        }
    }

    /// Has everybody who waits look at his seat.
    fn call_all(&self, desk: MutexGuard<'_, Desk>) {
        let all = desk.queue.all();
        self.moves.fetch_add(1, Ordering::Relaxed);
        drop(desk);
        for wake in all {
            wake.wake();
        }
    }
}

/// Options that may change while calls are under way.
impl RateLimiter {
    /// How many permits come in, in which time. If no burst was ever set, it follows.
    ///
    /// The permits that are there stay there, as far as the burst allows, and what was reserved stays reserved: who waits is let in
    /// as the new rate has it, or is refused if that is later than it may wait. So a change gives nothing away and leaves nobody
    /// behind.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_rate(&self, rate: Rate) -> Result<(), InvalidOption> {
        self.change(|set, shards| {
            set.rate = rate;
            if set.burst_follows {
                set.burst = LimiterOptions::default_burst(rate, shards);
            }
        })
    }

    /// How many may pass at once. Permits that are there stay there, as far as they fit; a larger burst fills up as the rate has it.
    ///
    /// # Errors
    /// [`InvalidOption`] where that makes no sense; nothing is changed.
    pub fn set_burst(&self, permits: u32) -> Result<(), InvalidOption> {
        self.change(|set, _| {
            set.burst = permits;
            set.burst_follows = false;
        })
    }

    /// How long a call may wait, from the next one on.
    ///
    /// # Errors
    /// None so far: any wait makes sense.
    pub fn set_wait(&self, longest: Duration) -> Result<(), InvalidOption> {
        self.wait.store(Nanos::from_duration(longest).0, Ordering::Relaxed);
        Ok(())
    }

    fn change(&self, change: impl FnOnce(&mut Settings, u32)) -> Result<(), InvalidOption> {
        let mut desk = self.desk();
        let mut settings = desk.settings;
        change(&mut settings, self.shards);
        let options = self.options_with(&settings);
        options.check()?;
        desk.settings = settings;
        let new = options.quota();
        let era = self.bucket(0).load().era();
        let old = self.eras.load(era);
        if new == old {
            return Ok(());
        }
        self.eras.store(era + 1, &new);
        let longest = self.longest_wait().max(desk.queue.longest_wait());
        for shard in 0..self.shards {
            let at = self.bucket(shard).begin_era(&self.eras, time::now, longest);
            let (now, new_now) = (old.units(at), new.units(at));
            for seat in desk.queue.of(shard) {
                let tat = old.carried(seat.ticket.word().tat(), now, &new, new_now);
                seat.move_to(Word::new(tat, era + 1), &new, at);
            }
        }
        self.call_all(desk);
        Ok(())
    }
}

impl Policy for RateLimiter {
    fn kind(&self) -> Kind {
        Kind::RateLimiter
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn location(&self) -> &'static Location<'static> {
        self.location
    }

    fn state(&self) -> &'static str {
        if !self.is_enabled() {
            "disabled"
        } else if self.available() == 0 {
            "exhausted"
        } else {
            "ready"
        }
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled()
    }

    fn set_enabled(&self, on: bool) {
        if on {
            self.enable();
        } else {
            self.disable();
        }
    }

    fn settings(&self, visit: &mut dyn FnMut(Setting)) {
        let options = self.options();
        let wait = options.wait;
        let settings = [
            ("rate", Value::Rate(options.rate)),
            ("burst", Value::Count(options.burst.into())),
            (
                "wait",
                if wait == Nanos::ZERO { Value::Off } else { Value::Duration(wait.to_duration()) },
            ),
            ("start", Value::Word(options.start.as_str())),
            ("shards", Value::Count(options.shards.into())),
        ];
        for (name, value) in settings {
            visit(Setting { name, value });
        }
    }

    fn counters(&self, visit: &mut dyn FnMut(Counter)) {
        for (index, name) in COUNTED.into_iter().enumerate() {
            visit(Counter { name, value: self.counters.get(index) });
        }
    }
}
