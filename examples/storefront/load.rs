//! The load: requests that arrive at a fixed rate, whether or not earlier ones were answered.
//!
//! Invariant: a request belongs to the phase in which it arrived, and its latency counts from the moment at which it
//! was to arrive, so that a client that falls behind cannot hide it.

use crate::client::{Client, Order, ShopError, Wish};
use crate::timetable::{Phase, Timetable};
use crate::watch::PHASE;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// How many of a hundred customers ask what sending costs: more than the carrier allows.
const QUOTES: u8 = 10;

/// How many products the shop has.
const PRODUCTS: u32 = 40;

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The upstream answered it (a declined card is an answer).
    Answered,
    /// A fallback answered it.
    Stale,
    /// It failed, or a policy refused it.
    Failed,
    /// The bare client's time limit ended it.
    TimeLimit,
    /// Too many were under way; it was not sent.
    NotSent,
}

/// One request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The index of the phase in which it arrived.
    pub(crate) phase: usize,
    /// When it was to arrive, counted from the start.
    pub(crate) at: Duration,
    /// How long it took from then on.
    pub(crate) took: Duration,
    pub(crate) wish: Wish,
    pub(crate) outcome: Outcome,
}

/// What arrives when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) rate: u32,
    pub(crate) checkouts: u8,
    pub(crate) max_in_flight: usize,
    pub(crate) seed: u64,
}

impl Load {
    /// Runs the whole timetable through a client and waits for the last answer.
    pub(crate) async fn run(
        self,
        client: Arc<Client>,
        timetable: &Timetable,
        start: Instant,
        name: &'static str,
    ) -> Vec<Sample> {
        let gap = Duration::from_secs(1) / self.rate;
        let bar = progress(name, timetable.total());
        let places = Arc::new(Semaphore::new(self.max_in_flight));
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let mut under_way = JoinSet::new();
        let mut samples = Vec::new();
        for number in 0.. {
            let at = gap * number;
            if at >= timetable.total() {
                break;
            }
            tokio::time::sleep_until((start + at).into()).await;
            let (phase, _) = timetable.at(at);
            show(&bar, at, timetable.phases[phase], &places, self.max_in_flight);
            let wish = self.wish(number, timetable.searches(at), &mut rng);
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                let took = (start + at).elapsed();
                samples.push(Sample { phase, at, took, wish, outcome: Outcome::NotSent });
                continue;
            };
            let client = Arc::clone(&client);
            under_way.spawn(PHASE.scope(phase, async move {
                let outcome = outcome(client.serve(wish).await);
                drop(place);
                Sample { phase, at, took: (start + at).elapsed(), wish, outcome }
            }));
            while let Some(Ok(sample)) = under_way.try_join_next() {
                samples.push(sample);
            }
        }
        while let Some(ended) = under_way.join_next().await {
            samples.push(ended.expect("a request's task does not panic"));
        }
        bar.finish_and_clear();
        samples
    }

    /// What the customer of this number wants; `searches` of a hundred search.
    fn wish(self, number: u32, searches: u8, rng: &mut fastrand::Rng) -> Wish {
        let (luck, product) = (rng.u8(0..100), rng.u32(0..PRODUCTS));
        match luck {
            luck if luck < self.checkouts => Wish::Checkout(Order { number }),
            luck if luck < self.checkouts + QUOTES => Wish::Quote(product),
            luck if luck < self.checkouts + QUOTES + searches => Wish::Search(product),
            _ => Wish::Product(product),
        }
    }
}

fn outcome(answer: Result<bool, ShopError>) -> Outcome {
    match answer {
        Ok(false) | Err(ShopError::Declined) => Outcome::Answered,
        Ok(true) => Outcome::Stale,
        Err(ShopError::Http(error)) if error.is_timeout() => Outcome::TimeLimit,
        Err(_) => Outcome::Failed,
    }
}

fn progress(name: &'static str, total: Duration) -> ProgressBar {
    let bar = ProgressBar::new(u64::try_from(total.as_millis()).unwrap_or(u64::MAX));
    let style = ProgressStyle::with_template("{prefix:>8} [{bar:40}] {msg}");
    bar.set_style(style.expect("the template is well formed").progress_chars("=> "));
    bar.set_prefix(name);
    bar
}

fn show(bar: &ProgressBar, at: Duration, phase: Phase, places: &Semaphore, of: usize) {
    let under_way = of - places.available_permits();
    bar.set_message(format!("{:<10} {under_way:>4} requests under way", phase.as_str()));
    bar.set_position(u64::try_from(at.as_millis()).unwrap_or(u64::MAX));
}
