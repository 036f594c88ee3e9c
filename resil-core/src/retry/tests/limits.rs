//! How many attempts there are, and when none begins any more.

use super::*;

#[test]
fn rt06_attempts_are_as_many_as_written() {
    let clock = pause();
    for (builder, expected) in [
        (plain().max_attempts(1), 1),
        (plain().max_attempts(3), 3),
        (plain().max_retries(3), 4),
        (plain(), 3),
    ] {
        let retry = builder.build();
        let before = clock.now();
        let (_, starts) = call(&retry, &clock, Deadline::NEVER, fail);
        assert_eq!(starts.len(), expected);
        let took = clock.now().since(before).to_duration();
        assert_eq!(Some(&took), starts.last(), "no sleep after the last");
    }
}

#[test]
fn rt06_a_time_limit_is_not_also_a_limit_of_three() {
    let clock = pause();
    let retry = plain().backoff(Backoff::constant(s(1))).within(s(3_600)).build();
    let before = clock.now();
    let ((_, starts), events) = recorded(|| call(&retry, &clock, Deadline::NEVER, fail));
    assert_eq!(starts.len(), 3_601);
    assert_eq!(starts.last(), Some(&s(3_600)));
    assert_eq!(clock.now().since(before).to_duration(), s(3_600), "no sleep after the last");
    assert_eq!(stops(&events), [(3_601, Stop::Within)]);
}

#[test]
fn rt06_until_the_deadline_goes_on_until_the_deadline() {
    let clock = pause();
    let retry = plain().backoff(Backoff::constant(s(1))).unlimited_until_deadline().build();
    let ((_, starts), events) = recorded(|| call(&retry, &clock, Deadline::after(s(60)), fail));
    assert_eq!(starts.len(), 60);
    assert_eq!(stops(&events), [(60, Stop::Deadline)]);
    let (_, starts) = call(&retry, &clock, Deadline::NEVER, fail);
    assert_eq!(starts.len(), 3, "and never for ever");
}

#[test]
fn rt08_within_counts_from_the_start_of_the_call_and_includes_the_attempts() {
    let clock = pause();
    let retry = plain().backoff(Backoff::constant(Duration::ZERO)).within(s(5)).build();
    let (_, starts) = call(&retry, &clock, Deadline::NEVER, |_| {
        clock.advance("3s");
        Judgement::TRANSIENT
    });
    assert_eq!(starts, [s(0), s(3)]);
    // A running attempt is not interrupted, and is not followed by another.
    let (judgement, starts) = call(&retry, &clock, Deadline::NEVER, |_| {
        clock.advance("1h");
        Judgement::TRANSIENT
    });
    assert_eq!((judgement, starts), (Judgement::TRANSIENT, vec![s(0)]));
}

#[test]
fn rt08_no_wait_is_begun_that_would_end_after_within() {
    let clock = pause();
    let retry = plain().backoff(Backoff::constant(s(2))).within(s(5)).build();
    let before = clock.now();
    let ((_, starts), events) = recorded(|| call(&retry, &clock, Deadline::NEVER, fail));
    assert_eq!(starts, [s(0), s(2), s(4)]);
    assert_eq!(clock.now().since(before).to_duration(), s(4));
    assert_eq!(stops(&events), [(3, Stop::Within)]);
}

#[test]
fn r09_no_sleep_is_begun_that_would_end_past_the_deadline() {
    let clock = pause();
    let retry = plain().max_attempts(9).build();
    let before = clock.now();
    let ((_, starts), events) = recorded(|| call(&retry, &clock, Deadline::after(ms(500)), fail));
    assert_eq!(starts, [ms(0), ms(100), ms(300)], "the wait of 400 ms does not fit");
    assert_eq!(clock.now().since(before).to_duration(), ms(300), "it gives up at once");
    assert_eq!(stops(&events), [(3, Stop::Deadline)]);
    // Nor one that would end with the deadline: no time would be left for the attempt.
    assert_eq!(call(&retry, &clock, Deadline::after(ms(700)), fail).1.len(), 3);
    assert_eq!(call(&retry, &clock, Deadline::after(ms(701)), fail).1.len(), 4);
}

/// Of a deadline that was set further out.
const CALLER: Owner = Owner { name: "caller", attempt: false };

#[test]
fn r09_the_ambient_deadline_binds_as_well() {
    let clock = pause();
    let retry = plain().max_attempts(9).build();
    let _outer = Ambient::current().watch(Deadline::after(ms(500)), CALLER);
    assert_eq!(call(&retry, &clock, Deadline::NEVER, fail).1.len(), 3);
}

#[test]
fn rt21_after_the_deadline_no_attempt_begins() {
    let clock = pause();
    let retry = plain().backoff(Backoff::constant(Duration::ZERO)).max_attempts(10).build();
    let deadline = Deadline::after(ms(500));
    let mut attempts = retry.start();
    clock.advance("400ms");
    assert_eq!(attempts.next(Judgement::TRANSIENT, deadline), Some(Nanos::ZERO));
    // The second is ended by the deadline.
    clock.advance("100ms");
    let ended = attempts.judge(&Rejected::new(Reason::DeadlineExceeded, "f"));
    assert_eq!(attempts.next(ended, deadline), None);
    assert_eq!(counted(&retry), [0, 0, 0, 1, 0, 0]);
    // A sync body is not ended; what it returns late is not retried either.
    let mut attempts = retry.start();
    assert_eq!(attempts.next(Judgement::TRANSIENT, deadline), None);
}

#[test]
fn a_clock_that_goes_back_ends_no_call_early() {
    let clock = pause();
    let retry = plain().within(s(5)).build();
    let mut attempts = retry.start();
    clock.set("1s");
    assert_eq!(attempts.next(Judgement::TRANSIENT, Deadline::NEVER), Some(Nanos::from_ms(100)));
}
