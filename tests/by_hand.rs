//! The policies without the attribute: a retry around a breaker, a timeout, a deadline.

use resil::time::{self, Deadline};
use resil::{
    CircuitBreaker, DeadlineLimit, Judgement, Kind, Reason, Rejected, Retry, State, Timeout,
};
use std::future::{pending, ready};
use std::time::Duration;
use tests::{count, run, without_a_runtime};

const SECOND: Duration = Duration::from_secs(1);

static TIMEOUT: Timeout = Timeout::builder("by_hand_timeout").after(SECOND).build();
resil::register!(TIMEOUT);
static DEADLINE: DeadlineLimit = DeadlineLimit::builder("by_hand_deadline").after(SECOND).build();
resil::register!(DEADLINE);

#[test]
fn a_timeout_runs_a_future() {
    let (clock, _world) = without_a_runtime();
    assert_eq!(run(&clock, TIMEOUT.run(ready(7))), Ok(7));
    let begin = time::now();
    let ended = run(&clock, TIMEOUT.run(pending::<()>()));
    assert_eq!(ended, Err(Rejected::new(Reason::TimedOut, "by_hand_timeout")));
    assert_eq!(time::now().since(begin).to_duration(), SECOND);
    assert_eq!(count(Kind::Timeout, "by_hand_timeout", "timed_out"), 1);
}

#[test]
fn a_deadline_runs_a_future_and_is_seen_within() {
    static INNER: Timeout = Timeout::builder("by_hand_inner").after(SECOND).build();
    let (clock, _world) = without_a_runtime();
    let left = run(&clock, DEADLINE.run(async { Deadline::current().remaining() }));
    assert_eq!(left, Ok(Some(SECOND)));
    // Of two that end at once the wider one is named.
    let ended = run(&clock, DEADLINE.run(INNER.run(pending::<()>())));
    assert_eq!(ended, Err(Rejected::new(Reason::DeadlineExceeded, "by_hand_deadline")));
}

#[test]
fn a_retry_goes_around_a_breaker() {
    static RETRY: Retry = Retry::builder("by_hand_retry").max_attempts(3).build();
    let (_clock, _world) = without_a_runtime();
    let breaker = CircuitBreaker::builder("by_hand").window(2).min_calls(2).build();
    let mut attempts = RETRY.start();
    let outcome = loop {
        let permit = match breaker.acquire() {
            Ok(permit) => permit,
            Err(rejected) => break Err(rejected),
        };
        permit.settle(Judgement::TRANSIENT);
        match attempts.next(Judgement::TRANSIENT, Deadline::NEVER) {
            Some(wait) => time::sleep_blocking(wait),
            None => break Ok(attempts.number()),
        }
    };
    assert_eq!(outcome.unwrap_err().reason(), Reason::CircuitOpen, "two failures open it");
    assert_eq!(breaker.state(), State::Open);
}
