//! The circuit breaker beside a plain sequential one: the same states, counts, refusals and waits, whatever it goes by and whatever
//! happens to it.

use proptest::collection::vec;
use proptest::prelude::*;
use resil::testing::pause;
use resil::{CircuitBreaker, Permit, Ratio, State, Window};
use std::time::Duration;
use tests::breaker::{Mode, counter};

const SLOW_MS: u64 = 100;
const OPEN_MS: u64 = 1_000;
const LONGEST_MS: u64 = 8_000;
const PROBES: u32 = 3;
const PROBE_TIMEOUT_MS: u64 = 5_000;
const MIN_CALLS: usize = 3;
/// Failures, then slow calls, in percent.
const RATES: (usize, usize) = (50, 60);

#[derive(Clone, Copy, Debug)]
struct Mark {
    failed: bool,
    slow: bool,
}

/// What closed goes by.
#[derive(Debug)]
enum Counted {
    Calls { size: usize, marks: Vec<Mark> },
    Time { bucket_ms: u64, begun: Vec<u64>, marks: Vec<(u64, Mark)> },
    Row { length: u32, row: u32, since_closed: u32 },
}

#[derive(Debug)]
struct Ticket {
    generation: u32,
    state: State,
    start: u64,
}

/// The plain breaker.
#[derive(Debug)]
struct Plain {
    timed: bool,
    now: u64,
    state: State,
    generation: u32,
    counted: Counted,
    /// Openings without a full window between.
    streak: u32,
    open_until: u64,
    lease: u64,
    issued: u32,
    probes: Vec<Mark>,
    lost: u64,
    would_open: u32,
}

fn reached(percent: usize, part: usize, whole: usize) -> bool {
    part * 100 >= percent * whole
}

fn count(marks: &[Mark], wanted: fn(&Mark) -> bool) -> usize {
    marks.iter().filter(|mark| wanted(mark)).count()
}

impl Counted {
    fn clear(&mut self) {
        match self {
            Self::Calls { marks, .. } => marks.clear(),
            Self::Time { begun, marks, .. } => {
                begun.clear();
                marks.clear();
            }
            Self::Row { row, since_closed, .. } => (*row, *since_closed) = (0, 0),
        }
    }

    /// What the window holds at `now`, and whether more than that has been.
    fn held(&self, now: u64) -> (Vec<Mark>, bool) {
        match self {
            Self::Calls { size, marks } => {
                let last = marks.len().saturating_sub(*size);
                (marks[last..].to_vec(), marks.len() >= *size)
            }
            Self::Time { bucket_ms, begun, marks } => {
                let Some(newest) = begun.last() else { return (Vec::new(), false) };
                let now = now / bucket_ms * bucket_ms;
                let now = now.max(*newest);
                let remembered = begun[begun.len().saturating_sub(11)];
                let held = |began: u64| began >= remembered && now - began < 10 * bucket_ms;
                let marks = marks.iter().filter(|(began, _)| held(*began)).map(|(_, mark)| *mark);
                (marks.collect(), !held(begun[0]))
            }
            Self::Row { row, .. } => {
                (vec![Mark { failed: true, slow: false }; *row as usize], false)
            }
        }
    }

    /// Whether the outcome opens, and whether it was closed for a full window.
    fn take(&mut self, now: u64, mark: Mark, timed: bool) -> (bool, bool) {
        let mut begins = true;
        match self {
            Self::Calls { size, marks } => {
                marks.push(mark);
                let surplus = marks.len().saturating_sub(*size);
                marks.drain(..surplus);
            }
            Self::Time { bucket_ms, begun, marks } => {
                begins = begun.last().is_none_or(|newest| now >= newest + *bucket_ms);
                if begins {
                    begun.push(now / *bucket_ms * *bucket_ms);
                }
                marks.push((begun[begun.len() - 1], mark));
            }
            Self::Row { length, row, since_closed } => {
                let bad = mark.failed || mark.slow;
                *row = if bad { *row + 1 } else { 0 };
                *since_closed += 1;
                return (bad && *row >= *length, *since_closed >= *length);
            }
        }
        let (held, full) = self.held(0);
        let opens = held.len() >= MIN_CALLS
            && (reached(RATES.0, count(&held, |mark| mark.failed), held.len())
                || timed && reached(RATES.1, count(&held, |mark| mark.slow), held.len()));
        (opens, full && begins)
    }
}

impl Plain {
    fn change(&mut self, state: State) {
        (self.state, self.generation) = (state, self.generation + 1);
        self.counted.clear();
        self.probes.clear();
        self.issued = 0;
    }

    fn open(&mut self, from: u64) {
        self.change(State::Open);
        self.open_until = from + (OPEN_MS << self.streak.min(9)).min(LONGEST_MS);
        self.streak += 1;
    }

    fn out(&self) -> u32 {
        self.issued - u32::try_from(self.probes.len()).unwrap()
    }

    fn acquire(&mut self) -> Option<Ticket> {
        if self.state == State::Open && self.now >= self.open_until {
            self.change(State::HalfOpen);
        }
        if self.state == State::HalfOpen && self.out() > 0 && self.now >= self.lease {
            self.open(self.lease);
            return self.acquire();
        }
        match self.state {
            State::Open | State::ForcedOpen => return None,
            State::HalfOpen if self.issued == PROBES => return None,
            State::HalfOpen => {
                self.issued += 1;
                self.lease = self.lease.max(self.now + PROBE_TIMEOUT_MS);
                if self.issued == 1 {
                    self.lease = self.now + PROBE_TIMEOUT_MS;
                }
            }
            _ => {}
        }
        Some(Ticket { generation: self.generation, state: self.state, start: self.now })
    }

    /// Settled as failed or not, ignored (`None`), or dropped.
    fn settle(&mut self, ticket: &Ticket, failed: Option<bool>, dropped: bool) {
        if ticket.generation != self.generation {
            self.lost += 1;
            return;
        }
        let slow = self.timed && self.now.saturating_sub(ticket.start) > SLOW_MS;
        let failed = if dropped { slow.then_some(true) } else { failed };
        match (ticket.state, failed) {
            (State::HalfOpen, None) => self.issued -= 1,
            (State::HalfOpen, Some(failed)) => self.probe(Mark { failed, slow }),
            (State::Disabled, _) | (_, None) => {}
            (state, Some(failed)) => {
                let (opens, full) = self.counted.take(self.now, Mark { failed, slow }, self.timed);
                if opens && state == State::ObserveOnly {
                    self.would_open += 1;
                    self.change(State::ObserveOnly);
                } else if opens {
                    self.open(self.now);
                } else if full {
                    self.streak = 0;
                }
            }
        }
    }

    /// B8: decides once no ending of the missing probes would decide otherwise.
    fn probe(&mut self, mark: Mark) {
        let in_a_row = matches!(self.counted, Counted::Row { .. });
        self.probes.push(Mark { failed: mark.failed || in_a_row && mark.slow, ..mark });
        let missing = PROBES as usize - self.probes.len();
        // With failures in a row, half-open goes by the defaults.
        let rates = if in_a_row { (50, 100) } else { RATES };
        let opens = |ending: usize| {
            let (fails, slows) = (ending & 1 != 0, ending & 2 != 0);
            let failed = count(&self.probes, |mark| mark.failed) + missing * usize::from(fails);
            let slow = count(&self.probes, |mark| mark.slow) + missing * usize::from(slows);
            reached(rates.0, failed, PROBES as usize)
                || self.timed && reached(rates.1, slow, PROBES as usize)
        };
        let endings = [0, 1, 2, 3].map(opens);
        if endings == [true; 4] {
            self.open(self.now);
        } else if endings == [false; 4] {
            self.change(State::Closed);
        }
    }

    fn window(&self) -> Window {
        let marks = match self.state {
            State::Closed | State::ObserveOnly => self.counted.held(self.now).0,
            _ => self.probes.clone(),
        };
        let number = |wanted: fn(&Mark) -> bool| u32::try_from(count(&marks, wanted)).unwrap();
        Window {
            calls: number(|_| true),
            failures: number(|mark| mark.failed),
            slow: number(|mark| mark.slow),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Call { failed: Option<bool>, lasts: u64 },
    Begin,
    End { which: usize, failed: Option<bool>, dropped: bool },
    Advance(u64),
    Resize(u64),
    Go(State),
    Reset,
}

fn verdict() -> impl Strategy<Value = Option<bool>> {
    prop_oneof![3 => Just(Some(true)), 5 => Just(Some(false)), 1 => Just(None)]
}

fn step() -> impl Strategy<Value = Step> {
    let state = [State::Closed, State::ForcedOpen, State::ObserveOnly, State::Disabled];
    prop_oneof![
        30 => (verdict(), prop_oneof![3 => Just(0), 1 => 99_u64..102])
            .prop_map(|(failed, lasts)| Step::Call { failed, lasts }),
        6 => Just(Step::Begin),
        6 => (0_usize..8, verdict(), prop::bool::weighted(0.2))
            .prop_map(|(which, failed, dropped)| Step::End { which, failed, dropped }),
        12 => (0_u64..400).prop_map(Step::Advance),
        4 => (0_u64..9_000).prop_map(Step::Advance),
        2 => (1_u64..12).prop_map(Step::Resize),
        1 => proptest::sample::select(state.to_vec()).prop_map(Step::Go),
        1 => Just(Step::Reset),
    ]
}

fn both(mode: Mode, timed: bool) -> (CircuitBreaker, Plain) {
    let ms = Duration::from_millis;
    let mut builder =
        CircuitBreaker::builder("model").open_for_exponential(ms(OPEN_MS), 2, ms(LONGEST_MS));
    builder = builder.probes(PROBES).probe_timeout(ms(PROBE_TIMEOUT_MS));
    if timed {
        builder = builder.slow_call(ms(SLOW_MS));
    }
    let rates = |builder: resil::CircuitBreakerBuilder| {
        builder.min_calls(3).failure_rate(Ratio::percent(50)).slow_rate(Ratio::percent(60))
    };
    let (builder, counted) = match mode {
        Mode::Calls => (rates(builder.window(6)), Counted::Calls { size: 6, marks: Vec::new() }),
        Mode::Time => (
            rates(builder.window_for(ms(3_000))),
            Counted::Time { bucket_ms: 300, begun: Vec::new(), marks: Vec::new() },
        ),
        Mode::Consecutive => {
            (builder.consecutive(3), Counted::Row { length: 3, row: 0, since_closed: 0 })
        }
    };
    let plain = Plain {
        timed,
        now: 0,
        state: State::Closed,
        generation: 1,
        counted,
        streak: 0,
        open_until: 0,
        lease: 0,
        issued: 0,
        probes: Vec::new(),
        lost: 0,
        would_open: 0,
    };
    (builder.build(), plain)
}

fn settle(permit: Permit<'_>, failed: Option<bool>) {
    match failed {
        Some(true) => permit.failure(),
        Some(false) => permit.success(),
        None => permit.ignore(),
    }
}

fn agrees(mode: Mode, timed: bool, steps: &[Step]) -> Result<(), TestCaseError> {
    let clock = pause();
    clock.set("0s");
    let ms = Duration::from_millis;
    let (breaker, mut plain) = both(mode, timed);
    let mut under_way = Vec::new();
    for step in steps {
        match *step {
            Step::Call { failed, lasts } => {
                let (permit, ticket) = (breaker.acquire(), plain.acquire());
                prop_assert_eq!(permit.is_ok(), ticket.is_some(), "{:?} of {:?}", step, plain);
                clock.advance(ms(lasts));
                plain.now += lasts;
                if let (Ok(permit), Some(ticket)) = (permit, ticket) {
                    settle(permit, failed);
                    plain.settle(&ticket, failed, false);
                }
            }
            Step::Begin => {
                let (permit, ticket) = (breaker.acquire(), plain.acquire());
                prop_assert_eq!(permit.is_ok(), ticket.is_some(), "{:?} of {:?}", step, plain);
                under_way.extend(permit.ok().zip(ticket));
            }
            Step::End { which, failed, dropped } if !under_way.is_empty() => {
                let (permit, ticket) = under_way.swap_remove(which % under_way.len());
                if dropped {
                    drop(permit);
                } else {
                    settle(permit, failed);
                }
                plain.settle(&ticket, failed, dropped);
            }
            Step::End { .. } => {}
            Step::Advance(by) => {
                clock.advance(ms(by));
                plain.now += by;
            }
            Step::Resize(to) => {
                let number = u32::try_from(to).unwrap();
                match &mut plain.counted {
                    Counted::Calls { size, .. } => {
                        let to = number.max(3);
                        *size = to as usize;
                        breaker.set_window(to).unwrap();
                    }
                    Counted::Time { bucket_ms, .. } => {
                        *bucket_ms = 100 * to;
                        breaker.set_window_for(ms(1_000 * to)).unwrap();
                    }
                    Counted::Row { length, .. } => {
                        *length = number;
                        breaker.set_consecutive(number).unwrap();
                    }
                }
            }
            Step::Go(state) => {
                match state {
                    State::ForcedOpen => breaker.force_open(),
                    State::ObserveOnly => breaker.observe_only(),
                    State::Disabled => breaker.disable(),
                    _ => breaker.close(),
                }
                if plain.state != state {
                    plain.change(state);
                }
            }
            Step::Reset => {
                breaker.reset();
                plain.change(State::Closed);
                plain.streak = 0;
            }
        }
        prop_assert_eq!(breaker.state(), plain.state, "{:?} of {:?}", step, plain);
        prop_assert_eq!(breaker.generation(), plain.generation);
        prop_assert_eq!(breaker.window(), plain.window(), "{:?} of {:?}", step, plain);
        prop_assert_eq!(counter(&breaker, "lost"), plain.lost);
        let left = plain.open_until.saturating_sub(plain.now);
        let wait = (plain.state == State::Open && left > 0).then(|| ms(left));
        prop_assert_eq!(breaker.retry_after(), wait, "{:?} of {:?}", step, plain);
    }
    Ok(())
}

proptest! {
    #[test]
    fn by_calls_it_agrees_with_a_plain_one(steps in vec(step(), 1..200), timed: bool) {
        agrees(Mode::Calls, timed, &steps)?;
    }

    #[test]
    fn by_time_it_agrees_with_a_plain_one(steps in vec(step(), 1..200), timed: bool) {
        agrees(Mode::Time, timed, &steps)?;
    }

    #[test]
    fn in_a_row_it_agrees_with_a_plain_one(steps in vec(step(), 1..200), timed: bool) {
        agrees(Mode::Consecutive, timed, &steps)?;
    }
}
