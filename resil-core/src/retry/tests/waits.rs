//! How long is waited, and that event and sleep say the same.

use super::*;

#[test]
fn rt03_the_sleeps_start_at_the_base_and_the_events_say_the_same() {
    let clock = pause();
    let retry = plain().max_attempts(4).build();
    let ((_, starts), events) = recorded(|| call(&retry, &clock, Deadline::NEVER, fail));
    assert_eq!(starts, [ms(0), ms(100), ms(300), ms(700)]);
    assert_eq!(scheduled(&events), [(2, ms(100)), (3, ms(200)), (4, ms(400))]);
    assert_eq!(stops(&events), [(4, Stop::Attempts)]);
}

#[test]
fn r04_a_drawn_wait_is_the_same_in_event_and_sleep() {
    let clock = pause();
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated] {
        let retry = plain().max_attempts(6).jitter(jitter).build();
        let ((_, starts), events) = recorded(|| call(&retry, &clock, Deadline::NEVER, fail));
        let slept: Vec<Duration> =
            starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let said: Vec<Duration> = scheduled(&events).into_iter().map(|(_, wait)| wait).collect();
        assert_eq!(said, slept);
        assert_eq!(said.len(), 5);
    }
}

/// Pinned by its type: unsigned, or none at all.
#[test]
fn r05_no_wait_is_negative() {
    static ONCE: Retry = Retry::builder("f").max_attempts(1).build();
    let next: fn(&mut Attempts<'static>, Judgement, Deadline) -> Option<Nanos> = Attempts::next;
    assert_eq!(next(&mut ONCE.start(), Judgement::TRANSIENT, Deadline::NEVER), None);
}

#[test]
fn r06_a_wait_of_zero_is_at_once() {
    let clock = pause();
    let retry = plain().backoff(Backoff::constant(Duration::ZERO)).build();
    let (_, starts) = call(&retry, &clock, Deadline::NEVER, fail);
    assert_eq!(starts, [Duration::ZERO; 3]);
}

#[test]
fn r18_what_decorrelated_jitter_drew_belongs_to_its_call() {
    let retry = plain()
        .backoff(Backoff::exponential(ms(1), s(100)))
        .max_attempts(50)
        .jitter(Jitter::Decorrelated)
        .build();
    let mut long = retry.start();
    let longest = (0..40).filter_map(|_| long.next(Judgement::TRANSIENT, Deadline::NEVER)).max();
    assert!(longest > Some(Nanos::from_ms(3)), "each draw builds on the one before");
    for _ in 0..100 {
        let first = retry.start().next(Judgement::TRANSIENT, Deadline::NEVER);
        assert!(first <= Some(Nanos::from_ms(3)), "a first draw is at most three times the base");
    }
}

#[test]
fn r10_a_hint_lengthens_the_wait_and_never_shortens_it() {
    let clock = pause();
    let retry = plain().build();
    let hinted =
        |hint| call(&retry, &clock, Deadline::NEVER, move |_| Judgement::TRANSIENT.after(hint)).1;
    assert_eq!(hinted(ms(150)), [ms(0), ms(150), ms(350)], "150, then its own 200");
    assert_eq!(hinted(ms(0)), [ms(0), ms(100), ms(300)]);
    assert_eq!(hinted(s(10)), [s(0), s(10), s(20)]);
}

#[test]
fn rt20_above_max_pushback_it_gives_up_at_once() {
    let clock = pause();
    let retry = plain().build();
    for hint in [s(10) + Duration::from_nanos(1), s(120), Duration::from_secs(u64::MAX)] {
        let before = clock.now();
        let ((judgement, starts), events) = recorded(|| {
            call(&retry, &clock, Deadline::NEVER, |_| Judgement::TRANSIENT.after(hint))
        });
        let kept = hint.min(Duration::from_nanos(u64::MAX - 1));
        assert_eq!((judgement.retry_after(), starts.len()), (Some(kept), 1));
        assert_eq!(clock.now(), before);
        assert_eq!(stops(&events), [(1, Stop::Pushback)]);
    }
    // Within the cap and past the deadline: no sleep until the timeout either.
    let before = clock.now();
    let deadline = Deadline::after(s(5));
    let (_, events) =
        recorded(|| call(&retry, &clock, deadline, |_| Judgement::TRANSIENT.after(s(9))));
    assert_eq!((stops(&events), clock.now()), (vec![(1, Stop::Deadline)], before));
    // Zero follows no hint.
    let strict = plain().max_pushback(Duration::ZERO).build();
    assert_eq!(
        call(&strict, &clock, Deadline::NEVER, |_| Judgement::TRANSIENT.after(ms(1))).1.len(),
        1
    );
    assert_eq!(
        call(&strict, &clock, Deadline::NEVER, |_| Judgement::TRANSIENT.after(ms(0))).1.len(),
        3
    );
}

#[test]
fn r11_a_hint_keeps_the_index_of_the_backoff() {
    let clock = pause();
    let retry = plain().max_attempts(4).build();
    let (_, starts) = call(&retry, &clock, Deadline::NEVER, |n| match n {
        2 => Judgement::TRANSIENT.after(s(1)),
        _ => Judgement::TRANSIENT,
    });
    assert_eq!(
        starts,
        [ms(0), ms(100), ms(1_100), ms(1_500)],
        "100, the hint, then 400 as if nothing was"
    );
    // Nor does it enter what decorrelated jitter draws from.
    let retry = plain().max_attempts(4).jitter(Jitter::Decorrelated).build();
    for _ in 0..200 {
        let mut attempts = retry.start();
        let _ = attempts.next(Judgement::TRANSIENT.after(s(9)), Deadline::NEVER);
        let second = attempts.next(Judgement::TRANSIENT, Deadline::NEVER).expect("a second wait");
        assert!(second.to_duration() <= ms(900), "{second:?}");
    }
}

#[test]
fn b30_a_retried_refusal_waits_as_told_at_least_and_counts_as_an_attempt() {
    let _clock = pause();
    let retry = plain().on_rejected(true).build();
    let open = Rejected::new(Reason::CircuitOpen, "gateway");
    let wait_of = |attempts: &mut Attempts<'_>, told: u64, deadline| {
        attempts.refused(open.after(ms(told)), deadline).map(Nanos::to_duration)
    };
    let mut attempts = retry.start();
    assert_eq!(wait_of(&mut attempts, 3_000, Deadline::NEVER), Some(s(3)));
    assert_eq!(attempts.number(), 2);
    assert_eq!(
        wait_of(&mut attempts, 50, Deadline::NEVER),
        Some(ms(200)),
        "its own backoff is longer"
    );
    let (third, events) = recorded(|| wait_of(&mut attempts, 50, Deadline::NEVER));
    assert_eq!((third, stops(&events)), (None, vec![(3, Stop::Attempts)]));
    // Longer than any pushback is fine: it is bounded by the deadline alone.
    assert_eq!(wait_of(&mut retry.start(), 30_000, Deadline::after(s(31))), Some(s(30)));
    let (late, events) = recorded(|| wait_of(&mut retry.start(), 30_000, Deadline::after(s(30))));
    assert_eq!((late, stops(&events)), (None, vec![(1, Stop::Deadline)]));
}

#[test]
fn the_callers_own_delay_is_computed_once_and_only_when_needed() {
    let clock = pause();
    let retry = plain().backoff(Backoff::by()).jitter(Jitter::None).build();
    let mut asked = Vec::new();
    let mut attempts = retry.start();
    while let Some(wait) = {
        let number = attempts.number();
        attempts.next_by(Judgement::TRANSIENT, Deadline::NEVER, || {
            asked.push(number);
            ms(u64::from(number))
        })
    } {
        assert_eq!(wait.to_duration(), ms(u64::from(attempts.number() - 1)));
    }
    assert_eq!(asked, [1, 2], "not after the last attempt");
    let unasked = || -> Duration { panic!("nobody needs the delay") };
    assert_eq!(retry.start().next_by(Judgement::SUCCESS, Deadline::NEVER, unasked), None);
    let too_long = Judgement::TRANSIENT.after(s(11));
    assert_eq!(retry.start().next_by(too_long, Deadline::NEVER, unasked), None);
    // The hint and the deadline bind it like any other.
    let hinted = Judgement::TRANSIENT.after(ms(7));
    assert_eq!(retry.start().next_by(hinted, Deadline::NEVER, || ms(2)), Some(Nanos::from_ms(7)));
    let deadline = Deadline::after(ms(5));
    assert_eq!(retry.start().next_by(Judgement::TRANSIENT, deadline, || ms(5)), None);
    assert_eq!(clock.timers(), 0);
}

#[test]
fn jitter_spreads_the_callers_own_delay_if_it_was_asked_to() {
    let retry = plain().backoff(Backoff::by()).jitter(Jitter::Equal).build();
    rng::seed(1);
    let mut drawn: Vec<u64> = (0..100)
        .filter_map(|_| retry.start().next_by(Judgement::TRANSIENT, Deadline::NEVER, || ms(10)))
        .map(|wait| wait.0)
        .collect();
    drawn.sort_unstable();
    drawn.dedup();
    assert!(drawn.len() > 50);
    assert!(drawn.iter().all(|ns| (5_000_000..=10_000_000).contains(ns)));
}

#[test]
fn r19_the_same_seed_gives_the_same_waits() {
    let retry = plain().max_attempts(9).jitter(Jitter::Full).build();
    let waits = || {
        rng::seed(19);
        let mut attempts = retry.start();
        core::iter::from_fn(|| attempts.next(Judgement::TRANSIENT, Deadline::NEVER))
            .collect::<Vec<_>>()
    };
    assert_eq!(waits(), waits());
}
