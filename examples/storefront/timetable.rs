//! The upstream's bad day: which phase it is in, and how it behaves there.
//!
//! Invariant: behaviour is a pure function of the time since the start, the seed and the number of the request, so that
//! both runs meet the same upstream.

use std::time::Duration;

/// What the upstream is going through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Phase {
    /// Quick, never fails.
    Healthy,
    /// As quick, but one answer in five is a 503: what a retry mends, at the price of more calls.
    Flaky,
    /// As healthy, while everybody searches at once.
    Rush,
    /// Five times slower, and a few requests are lost in a queue.
    Slow,
    /// Its database is gone: nearly every answer is a 503, after almost a second.
    Failing,
    /// Takes every request and answers none.
    Hanging,
    /// Coming back: slow and a little flaky at first, healthy at the end.
    Recovering,
}

impl Phase {
    pub(crate) const ALL: [Self; 7] = [
        Self::Healthy,
        Self::Flaky,
        Self::Rush,
        Self::Slow,
        Self::Failing,
        Self::Hanging,
        Self::Recovering,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Flaky => "flaky",
            Self::Rush => "rush",
            Self::Slow => "slow",
            Self::Failing => "failing",
            Self::Hanging => "hanging",
            Self::Recovering => "recovering",
        }
    }
}

/// What the upstream does with one request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Behaviour {
    /// Works for so long, then answers.
    Serve(Duration),
    /// Works for so long, then answers 503.
    Fail(Duration),
    /// Keeps the connection and says nothing.
    Hang,
}

/// The phases one after the other, each of the same length.
#[derive(Clone, Debug)]
pub(crate) struct Timetable {
    pub(crate) phases: Vec<Phase>,
    pub(crate) each: Duration,
    pub(crate) seed: u64,
}

impl Timetable {
    pub(crate) fn total(&self) -> Duration {
        self.each * u32::try_from(self.phases.len()).unwrap_or(u32::MAX)
    }

    /// Which phase it is so long after the start, and how much of it is over (0 to 1). The last one does not end.
    pub(crate) fn at(&self, elapsed: Duration) -> (usize, f64) {
        let position = elapsed.as_secs_f64() / self.each.as_secs_f64();
        let last = self.phases.len() - 1;
        // Not negative, and cut to the last phase.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let index = (position as usize).min(last);
        #[allow(clippy::cast_precision_loss)] // a handful of phases
        let over = (position - index as f64).clamp(0.0, 1.0);
        (index, over)
    }

    /// How many of a hundred customers search at that time.
    pub(crate) fn searches(&self, elapsed: Duration) -> u8 {
        match self.phases[self.at(elapsed).0] {
            Phase::Rush => 60,
            _ => 12,
        }
    }

    /// What happens to the `serial`-th request if it arrives so long after the start.
    pub(crate) fn behaviour(&self, elapsed: Duration, serial: u64) -> Behaviour {
        let (index, over) = self.at(elapsed);
        let mut rng =
            fastrand::Rng::with_seed(self.seed ^ serial.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let luck = rng.f64();
        let mut within = |low: f64, high: f64| millis(low + (high - low) * rng.f64());
        let quick = within(4.0, 12.0);
        match self.phases[index] {
            Phase::Flaky if luck < 0.20 => Behaviour::Fail(quick),
            Phase::Slow if luck < 0.06 => Behaviour::Hang,
            Phase::Slow => Behaviour::Serve(within(25.0, 55.0)),
            Phase::Failing if luck < 0.98 => Behaviour::Fail(within(700.0, 900.0)),
            Phase::Hanging => Behaviour::Hang,
            Phase::Recovering => {
                let ill = 1.0 - over;
                let took = within(4.0 + 20.0 * ill, 12.0 + 30.0 * ill);
                if luck < 0.20 * ill { Behaviour::Fail(took) } else { Behaviour::Serve(took) }
            }
            Phase::Healthy | Phase::Flaky | Phase::Rush | Phase::Failing => Behaviour::Serve(quick),
        }
    }
}

fn millis(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timetable() -> Timetable {
        Timetable { phases: Phase::ALL.to_vec(), each: Duration::from_secs(2), seed: 7 }
    }

    #[test]
    fn a_phase_begins_when_the_one_before_ends_and_the_last_stays() {
        let at = |ms| timetable().at(Duration::from_millis(ms)).0;
        assert_eq!((at(0), at(1_999), at(2_000), at(13_999), at(60_000)), (0, 0, 1, 6, 6));
    }

    #[test]
    fn the_same_request_meets_the_same_upstream_in_both_runs() {
        for serial in 0..1_000 {
            let when = Duration::from_millis(serial * 12);
            assert_eq!(timetable().behaviour(when, serial), timetable().behaviour(when, serial));
        }
    }

    #[test]
    fn each_phase_fails_as_often_as_it_says() {
        let share = |phase: u64, what: fn(Behaviour) -> bool| {
            let when = Duration::from_millis(phase * 2_000 + 1);
            (0..10_000).filter(|&n| what(timetable().behaviour(when, n))).count()
        };
        let (failed, hung) =
            (|b| matches!(b, Behaviour::Fail(_)), |b| matches!(b, Behaviour::Hang));
        assert_eq!(share(0, failed) + share(0, hung), 0);
        assert!((1_850..2_150).contains(&share(1, failed)));
        assert_eq!(share(2, failed) + share(2, hung), 0);
        assert!((500..700).contains(&share(3, hung)));
        assert!((9_700..9_900).contains(&share(4, failed)));
        assert_eq!(share(5, hung), 10_000);
        assert!((1_850..2_150).contains(&share(6, failed)));
    }
}
