//! What is retried, and how each call is counted.

use super::*;

#[test]
fn rt09_calls_share_no_counter_and_no_backoff() {
    let clock = pause();
    let retry = plain().build();
    let waits = |first: &mut Attempts<'_>| {
        first.next(Judgement::TRANSIENT, Deadline::NEVER).map(Nanos::to_duration)
    };
    // Two at the same time, in lock-step.
    let (mut one, mut two) = (retry.start(), retry.start());
    for expected in [Some(ms(100)), Some(ms(200)), None] {
        assert_eq!((waits(&mut one), waits(&mut two)), (expected, expected));
    }
    // One after an exhausted one, and one after a success.
    assert_eq!(call(&retry, &clock, Deadline::NEVER, fail).1, [ms(0), ms(100), ms(300)]);
    let third_time = |n| {
        if n == 3 { Judgement::SUCCESS } else { Judgement::TRANSIENT }
    };
    assert_eq!(call(&retry, &clock, Deadline::NEVER, third_time).1, [ms(0), ms(100), ms(300)]);
    assert_eq!(call(&retry, &clock, Deadline::NEVER, fail).1, [ms(0), ms(100), ms(300)]);
}

#[test]
fn rt10_exhausted_on_a_value_is_no_success() {
    let clock = pause();
    let retry = plain().build();
    let mut served = 0;
    let (_, events) = recorded(|| {
        call(&retry, &clock, Deadline::NEVER, |_| {
            served += 1;
            Judgement::SUCCESS.retry() // an `Ok(503)` that `on` matches
        })
    });
    assert_eq!(served, 3);
    assert_eq!(stops(&events), [(3, Stop::Attempts)]);
    assert_eq!(counted(&retry), [0, 0, 1, 0, 0, 0]);
}

#[test]
fn r07_exhaustion_is_final_and_counted_once() {
    let retry = plain().max_attempts(1).build();
    let ((), events) = recorded(|| {
        let mut attempts = retry.start();
        for _ in 0..3 {
            assert_eq!(attempts.next(Judgement::TRANSIENT, Deadline::NEVER), None);
            assert_eq!(attempts.next(Judgement::SUCCESS, Deadline::NEVER), None);
            assert_eq!(attempts.next_by(Judgement::TRANSIENT, Deadline::NEVER, || ms(1)), None);
            assert_eq!(
                attempts.refused(Rejected::new(Reason::CircuitOpen, "b"), Deadline::NEVER),
                None
            );
        }
    });
    assert_eq!(stops(&events), [(1, Stop::Attempts)]);
    assert_eq!(counted(&retry), [0, 0, 1, 0, 0, 0]);
}

#[test]
fn t07_a_timed_out_attempt_is_retried_if_so_wished_and_a_deadline_never() {
    let timed_out = Rejected::new(Reason::TimedOut, "f");
    let too_late = Rejected::new(Reason::DeadlineExceeded, "f");
    let (with, without) = (plain().build(), plain().on_timeout(false).build());
    assert_eq!(with.start().judge(&timed_out), Judgement::TRANSIENT);
    assert_eq!(with.start().judge(&too_late), Judgement::FAILURE);
    assert_eq!(without.start().judge(&timed_out), Judgement::FAILURE);
    assert_eq!(without.start().judge(&too_late), Judgement::FAILURE);
}

#[test]
fn r15_what_is_aborted_or_ignored_is_not_retried() {
    let clock = pause();
    let retry = plain().build();
    for judgement in
        [Judgement::TRANSIENT.abort(), Judgement::TRANSIENT.ignore(), Judgement::FAILURE]
    {
        let (returned, events) = recorded(|| call(&retry, &clock, Deadline::NEVER, |_| judgement));
        assert_eq!((returned.1.len(), events.len()), (1, 0));
    }
    assert_eq!(counted(&retry), [0, 0, 0, 3, 0, 0]);
}

#[test]
fn b30_a_refusal_is_not_retried_unless_asked_and_told_when() {
    let open = Rejected::new(Reason::CircuitOpen, "gateway");
    let (not_asked, asked) = (plain().build(), plain().on_rejected(true).build());
    for (retry, refusal) in
        [(&not_asked, open.after(ms(1))), (&asked, open), (&asked, open.never())]
    {
        let (wait, events) = recorded(|| retry.start().refused(refusal, Deadline::NEVER));
        assert_eq!((wait, events.len()), (None, 0), "{refusal}");
    }
    assert_eq!(counted(&not_asked), [0, 0, 0, 0, 1, 0]);
    assert_eq!(counted(&asked), [0, 0, 0, 0, 2, 0]);
}

#[test]
fn r16_a_panic_goes_through_and_the_call_counts_as_abandoned() {
    let clock = pause();
    let retry = plain().build();
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        call(&retry, &clock, Deadline::NEVER, |n| {
            if n == 2 { panic!("in the body") } else { Judgement::TRANSIENT }
        })
    }));
    assert!(unwound.is_err());
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        retry.start().next_by(Judgement::TRANSIENT, Deadline::NEVER, || panic!("in the delay"))
    }));
    assert!(unwound.is_err());
    assert_eq!((counted(&retry), retry.retries()), ([0, 0, 0, 0, 0, 2], 1));
}

#[test]
fn r14_a_call_dropped_while_it_waits_counts_as_abandoned() {
    let retry = plain().build();
    let mut attempts = retry.start();
    assert!(attempts.next(Judgement::TRANSIENT, Deadline::NEVER).is_some());
    assert_eq!(retry.calls(), 0, "it has not ended");
    drop(attempts);
    assert_eq!(counted(&retry), [0, 0, 0, 0, 0, 1]);
}

#[test]
fn a_deadline_that_ends_the_hook_before_an_attempt_ends_the_call() {
    let retry = plain().build();
    let ((), events) = recorded(|| {
        let mut attempts = retry.start();
        assert!(attempts.next(Judgement::TRANSIENT, Deadline::NEVER).is_some());
        attempts.out_of_time();
        attempts.out_of_time();
    });
    assert_eq!(stops(&events), [(1, Stop::Deadline)], "one attempt was made");
    assert_eq!(counted(&retry), [0, 0, 1, 0, 0, 0]);
}

#[test]
fn r17_calls_and_attempts_are_two_numbers() {
    let clock = pause();
    let retry = plain().build();
    for good in [1, 2, 3, 9] {
        call(&retry, &clock, Deadline::NEVER, |n| {
            if n == good { Judgement::SUCCESS } else { Judgement::TRANSIENT }
        });
    }
    assert_eq!((retry.calls(), retry.attempts(), retry.retries()), (4, 9, 5));
    assert_eq!(counted(&retry), [1, 2, 1, 0, 0, 0]);
    let mut listed = Vec::new();
    retry.counters(&mut |counter| listed.push((counter.name, counter.value)));
    assert_eq!(
        listed,
        [
            ("calls", 4),
            ("attempts", 9),
            ("first_try", 1),
            ("recovered", 2),
            ("exhausted", 1),
            ("not_retried", 0),
            ("refused", 0),
            ("abandoned", 0),
            ("retries", 5),
        ]
    );
}

static RETRY: Retry =
    Retry::builder("f").backoff(Backoff::constant(Duration::ZERO)).on_rejected(true).build();

/// Ends one call in some way; returns how many attempts it made.
fn one_call() -> u64 {
    const UNTOLD: Rejected = Rejected::new(Reason::CircuitOpen, "b");
    const TOLD: Rejected = UNTOLD.after(Duration::ZERO);
    let mut attempts = RETRY.start();
    let mut made = 1;
    loop {
        let deadline = Deadline::NEVER;
        let next = match rng::below(9) {
            0 => attempts.next(Judgement::SUCCESS, deadline),
            1 => attempts.next(Judgement::FAILURE, deadline),
            2 => attempts.next(Judgement::IGNORED, deadline),
            3 => attempts.next(attempts.judge(&Rejected::new(Reason::TimedOut, "f")), deadline),
            4 => attempts.refused(TOLD, deadline),
            5 => attempts.refused(UNTOLD, deadline),
            6 => return made, // cancelled
            7 => attempts.next(Judgement::TRANSIENT.after(s(60)), deadline),
            _ => attempts.next(Judgement::TRANSIENT, deadline),
        };
        if next.is_none() {
            return made;
        }
        made += 1;
    }
}

#[test]
fn rg12_every_call_is_in_exactly_one_outcome() {
    const THREADS: u64 = 8;
    const CALLS: u64 = 2_000;
    let made: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(move || (0..CALLS).map(|_| one_call()).sum::<u64>()))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(RETRY.calls(), THREADS * CALLS);
    assert_eq!(RETRY.attempts(), made);
    assert!(
        counted(&RETRY).iter().all(|&n| n > 100),
        "every way out was taken: {:?}",
        counted(&RETRY)
    );
    let mut listed = Vec::new();
    RETRY.counters(&mut |counter| listed.push((counter.name, counter.value)));
    assert_eq!(listed[0], ("calls", THREADS * CALLS));
    assert_eq!(listed[1], ("attempts", made));
    assert_eq!(listed[2..8].iter().map(|(_, value)| value).sum::<u64>(), listed[0].1);
}
