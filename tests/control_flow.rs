//! MC01: however a body is left, its outcome is recorded once, with the right verdict, and comes out unchanged.

#![allow(clippy::needless_return, clippy::needless_question_mark, clippy::needless_continue)] // they are the subject

use resil::{Kind, resilient};
use std::pin::pin;
use std::task::Poll;
use tests::{Calls, Fault, counts, poll_once, worlds};

/// A body that succeeds or fails, and what is recorded of one success and one failure.
macro_rules! leaves {
    ($name:ident: |$number:ident, $good:ident| $($body:tt)*) => {
        worlds! {
            $name:
            [retry(max = 2, backoff = constant("1ms"), jitter = none), circuit_breaker]
            (calls: &Calls, $good: bool) -> Result<u32, Fault> { let $number = calls.begin(); $($body)* }
            |world| {
                let calls = Calls::new(&world);
                assert_eq!(call(&calls, true).await, Ok(1));
                let calls = Calls::new(&world);
                assert_eq!(call(&calls, false).await, Err(Fault::Down(2)), "retried, as an error at the end is");
                assert_eq!(counts(Kind::CircuitBreaker, NAME), [("success", 1), ("failure", 2)]);
                assert_eq!(
                    counts(Kind::Retry, NAME),
                    [("calls", 2), ("attempts", 3), ("first_try", 1), ("exhausted", 1), ("retries", 1)]
                );
            }
        }
    };
}

fn judge(number: u32, good: bool) -> Result<u32, Fault> {
    if good { Ok(number) } else { Err(Fault::Down(number)) }
}

leaves! {
    mc01_by_the_tail: |number, good|
    judge(number, good)
}

leaves! {
    mc01_by_return: |number, good|
    return judge(number, good);
}

leaves! {
    mc01_by_a_question_mark_at_the_end: |number, good|
    Ok(judge(number, good)?)
}

leaves! {
    mc01_by_a_question_mark_in_the_middle: |number, good|
    let number = judge(number, good)?;
    Ok(number)
}

leaves! {
    mc01_by_return_in_a_nested_match: |number, good|
    match (number, good) {
        (1.., true) => match number {
            0 => unreachable!(),
            _ => return Ok(number),
        },
        _ => {
            if !good {
                return Err(Fault::Down(number));
            }
        }
    }
    unreachable!()
}

leaves! {
    mc01_by_return_in_a_loop: |number, good|
    for step in 0.. {
        if step == 5 {
            if good {
                return Ok(number);
            }
            break;
        }
        if step % 2 == 0 {
            continue;
        }
    }
    Err(Fault::Down(number))
}

leaves! {
    mc01_by_the_value_of_a_labelled_block: |number, good|
    'found: {
        if good {
            break 'found Ok(number);
        }
        Err(Fault::Down(number))
    }
}

leaves! {
    mc01_a_return_in_a_closure_or_an_inner_function_is_theirs: |number, good|
    fn inner(number: u32) -> u32 {
        if number > 0 {
            return number;
        }
        unreachable!()
    }
    let closure = |good: bool| -> Result<(), Fault> {
        if good {
            return Ok(());
        }
        return Err(Fault::Mine);
    };
    let _ = closure(!good);
    judge(inner(number), good)
}

leaves! {
    mc01_one_branch_may_diverge: |number, good|
    let number = if number == 0 { panic!("never") } else { number };
    judge(number, good)
}

#[test]
fn mc01_an_async_block_in_the_body_has_returns_of_its_own() {
    #[resilient(circuit_breaker, name = "mc01_block")]
    async fn call(good: bool) -> Result<u32, Fault> {
        let inner: Result<u32, Fault> = async {
            if !good {
                return Err(Fault::Down(1));
            }
            let number = judge(5, good)?;
            Ok(number)
        }
        .await;
        Ok(inner.unwrap_or(7))
    }
    assert_eq!(poll_once(pin!(call(true))), Poll::Ready(Ok(5)));
    assert_eq!(poll_once(pin!(call(false))), Poll::Ready(Ok(7)));
    assert_eq!(counts(Kind::CircuitBreaker, "mc01_block"), [("success", 2)]);
}

worlds! {
    mc01_a_body_without_a_value_is_left_by_a_bare_return:
    [fallback = |_| (), circuit_breaker]
    (calls: &Calls, early: bool) -> () {
        calls.begin();
        if early {
            return;
        }
        calls.begin();
    }
    |world| {
        let calls = Calls::new(&world);
        call(&calls, true).await;
        assert_eq!(calls.count(), 1);
        call(&calls, false).await;
        assert_eq!((calls.count(), counts(Kind::CircuitBreaker, NAME)), (3, vec![("success", 2)]));
    }
}

worlds! {
    mc01_none_by_a_question_mark_is_what_the_patterns_say_it_is:
    [fallback = value(None), circuit_breaker, failure = None]
    (found: Option<u32>) -> Option<u32> {
        let found = found?;
        Some(found + 1)
    }
    |_world| {
        assert_eq!((call(Some(1)).await, call(None).await), (Some(2), None));
        assert_eq!(counts(Kind::CircuitBreaker, NAME), [("success", 1), ("failure", 1)]);
    }
}
