//! What a run came to: counts and percentiles, for a phase or for a slice of time.

use crate::client::Wish;
use crate::load::{Outcome, Sample};
use crate::timetable::Timetable;
use crate::upstream::Log;
use crate::watch::{Note, states};
use resil::{Event, Reason, State, Stop};
use std::time::{Duration, Instant};

/// Everything that was measured while one client ran through the timetable.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: &'static str,
    pub(crate) samples: Vec<Sample>,
    pub(crate) notes: Vec<Note>,
    /// What the upstream has seen.
    pub(crate) log: Log,
    pub(crate) states: Vec<(Duration, State)>,
}

impl Run {
    pub(crate) fn new(
        name: &'static str,
        start: Instant,
        samples: Vec<Sample>,
        notes: Vec<Note>,
        log: Log,
    ) -> Self {
        Self { name, samples, states: states(&notes, start), notes, log }
    }

    /// Counts one phase.
    pub(crate) fn phase(&self, timetable: &Timetable, phase: usize) -> Tally {
        let mut tally = Tally::of(self.samples.iter().filter(|sample| sample.phase == phase));
        let here = |at: &Duration| timetable.at(*at).0 == phase;
        tally.upstream = self.log.arrivals.iter().filter(|at| here(at)).count();
        tally.turned_away = self.log.turned_away.iter().filter(|at| here(at)).count();
        let searches = self.log.searches.iter().filter(|(at, _)| here(at));
        tally.most_searches = searches.map(|(_, at_once)| *at_once).max().unwrap_or_default();
        for note in self.notes.iter().filter(|note| note.phase == phase) {
            match note.event {
                Event::Refused(rejected)
                | Event::TimedOut(rejected)
                | Event::DeadlineExceeded(rejected) => {
                    tally.count(rejected.reason());
                }
                Event::RetryScheduled { .. } => tally.retries += 1,
                Event::RetriesExhausted { stop: Stop::Budget, .. } => tally.withheld += 1,
                _ => {}
            }
        }
        tally
    }

    /// The requests that arrived in each slice of time: the middle of the slice in seconds, and what it came to.
    pub(crate) fn slices(&self, width: Duration) -> Vec<(f64, Tally)> {
        let slice = |at: Duration| (at.as_nanos() / width.as_nanos()) as usize;
        let count =
            self.samples.iter().map(|sample| slice(sample.at) + 1).max().unwrap_or_default();
        let mut groups = vec![Vec::new(); count];
        for sample in &self.samples {
            groups[slice(sample.at)].push(sample);
        }
        let mut tallies: Vec<_> = groups.into_iter().map(Tally::of).collect();
        for &at in &self.log.arrivals {
            if let Some(tally) = tallies.get_mut(slice(at)) {
                tally.upstream += 1;
            }
        }
        let middle = |index: usize| (index as f64 + 0.5) * width.as_secs_f64();
        tallies.into_iter().enumerate().map(|(index, tally)| (middle(index), tally)).collect()
    }
}

/// Counts of some requests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) requests: usize,
    /// Answered by the upstream or by a fallback.
    pub(crate) good: usize,
    /// Answered by a fallback.
    pub(crate) stale: usize,
    pub(crate) checkouts: usize,
    /// Checkouts that were answered.
    pub(crate) good_checkouts: usize,
    /// Not sent, because too many were under way.
    pub(crate) not_sent: usize,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// Calls that reached the upstream.
    pub(crate) upstream: usize,
    pub(crate) retries: usize,
    /// Retries that the budget did not pay for.
    pub(crate) withheld: usize,
    /// Calls that the carrier turned away with a 429.
    pub(crate) turned_away: usize,
    /// The most searches at a time.
    pub(crate) most_searches: u32,
    /// What time limits and gates ended, by reason.
    pub(crate) refused: Vec<(Reason, usize)>,
}

impl Tally {
    pub(crate) fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Self {
        let mut tally = Self::default();
        let mut times = Vec::new();
        for sample in samples {
            times.push(sample.took);
            let good = matches!(sample.outcome, Outcome::Answered | Outcome::Stale);
            let checkout = matches!(sample.wish, Wish::Checkout(_));
            tally.checkouts += usize::from(checkout);
            tally.good_checkouts += usize::from(checkout && good);
            tally.good += usize::from(good);
            match sample.outcome {
                Outcome::Stale => tally.stale += 1,
                Outcome::TimeLimit => tally.count(Reason::DeadlineExceeded),
                Outcome::NotSent => tally.not_sent += 1,
                Outcome::Answered | Outcome::Failed => {}
            }
        }
        times.sort_unstable();
        tally.requests = times.len();
        tally.p50 = percentile(&times, 50);
        tally.p99 = percentile(&times, 99);
        tally
    }

    /// Share of requests that were answered.
    pub(crate) fn success(&self) -> f64 {
        share(self.good, self.requests)
    }

    /// Share of requests that a fallback answered.
    pub(crate) fn fallback(&self) -> f64 {
        share(self.stale, self.requests)
    }

    /// Share of checkouts that were answered.
    pub(crate) fn checkout_success(&self) -> f64 {
        share(self.good_checkouts, self.checkouts)
    }

    pub(crate) fn refused(&self, reason: Reason) -> usize {
        self.refused.iter().find(|(r, _)| *r == reason).map_or(0, |(_, count)| *count)
    }

    fn count(&mut self, reason: Reason) {
        match self.refused.iter_mut().find(|(r, _)| *r == reason) {
            Some((_, count)) => *count += 1,
            None => self.refused.push((reason, 1)),
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The smallest value that so many percent of the sorted values do not exceed; zero of none.
fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Order;

    #[test]
    fn a_percentile_is_one_of_the_values_by_nearest_rank() {
        let sorted: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(percentile(&sorted, 50), Duration::from_millis(100));
        assert_eq!(percentile(&sorted, 99), Duration::from_millis(198));
        assert_eq!(percentile(&sorted[..1], 99), Duration::from_millis(1));
        assert_eq!(percentile(&[], 99), Duration::ZERO);
    }

    #[test]
    fn a_fallback_counts_as_success_and_by_itself() {
        let sample = |outcome, checkout| Sample {
            phase: 0,
            at: Duration::ZERO,
            took: Duration::from_millis(1),
            wish: if checkout { Wish::Checkout(Order { number: 1 }) } else { Wish::Product(1) },
            outcome,
        };
        let tally = Tally::of(&[
            sample(Outcome::Answered, true),
            sample(Outcome::Stale, false),
            sample(Outcome::Failed, true),
            sample(Outcome::TimeLimit, false),
        ]);
        assert!((tally.success() - 0.5).abs() < f64::EPSILON);
        assert!((tally.fallback() - 0.25).abs() < f64::EPSILON);
        assert!((tally.checkout_success() - 0.5).abs() < f64::EPSILON);
        assert_eq!(tally.refused(Reason::DeadlineExceeded), 1);
    }
}
