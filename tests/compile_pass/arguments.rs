//! Arguments: bound, changed, borrowed again, cloned and dropped as they should be.

use super::{Fault, ready};
use resil::resilient;
use std::cell::RefCell;
use std::rc::Rc;

#[resilient(circuit_breaker = "calm")]
fn changed(mut x: Vec<u8>, y: &mut u8, (mut a, b): (u8, u8)) -> Result<Vec<u8>, Fault> {
    x.push(*y);
    *y += 1;
    a += b;
    x.push(a);
    Ok(x)
}

#[resilient(circuit_breaker = "calm")]
async fn changed_async(mut x: Vec<u8>, y: &mut u8, (mut a, b): (u8, u8)) -> Result<Vec<u8>, Fault> {
    x.push(*y);
    std::future::ready(()).await;
    *y += 1;
    a += b;
    x.push(a);
    Ok(x)
}

#[test]
fn mc04_what_is_bound_as_mut_can_be_changed() {
    let mut y = 1;
    assert_eq!(changed(vec![], &mut y, (2, 3)), Ok(vec![1, 5]));
    assert_eq!(ready(changed_async(vec![], &mut y, (2, 3))), Ok(vec![2, 5]));
    assert_eq!(y, 3);
}

/// Fails until the log has three entries.
#[resilient(retry(max = 3, backoff = constant("0ms")))]
fn logged(log: &mut Vec<&'static str>, what: &'static str) -> Result<usize, Fault> {
    let log = &mut *log;
    log.push(what);
    if log.len() < 3 { Err(Fault::Down) } else { Ok(log.len()) }
}

struct Through<'a>(&'a mut Vec<&'static str>);

impl Extend<&'static str> for Through<'_> {
    fn extend<T: IntoIterator<Item = &'static str>>(&mut self, items: T) {
        self.0.extend(items);
    }
}

/// Moves its `&mut`, which is borrowed anew for each attempt.
#[resilient(retry(max = 3, backoff = constant("0ms")))]
async fn moved_away(log: &mut Vec<&'static str>, what: &'static str) -> Result<usize, Fault> {
    fn push<L: Extend<&'static str>>(mut log: L, what: &'static str) {
        log.extend([what]);
    }
    let kept = log;
    push(Through(&mut *kept), what);
    std::future::ready(()).await;
    if kept.len() < 3 { Err(Fault::Down) } else { Ok(kept.len()) }
}

#[test]
fn mc31_an_exclusive_reference_survives_the_first_attempt() {
    let mut log = vec![];
    assert_eq!(logged(&mut log, "a"), Ok(3));
    log.clear();
    assert_eq!(ready(moved_away(&mut log, "b")), Ok(3));
    assert_eq!(log, ["b", "b", "b"]);
}

/// Counts its clones.
#[derive(Debug)]
struct Counted(Rc<RefCell<u32>>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        *self.0.borrow_mut() += 1;
        Self(Rc::clone(&self.0))
    }
}

#[resilient(retry(max = 3, backoff = constant("0ms"), attempt = n), clone(order, mut_order))]
fn consumed(order: Counted, mut mut_order: Vec<u32>, until: u32) -> Result<Vec<u32>, Fault> {
    drop(order);
    mut_order.push(n);
    if n < until { Err(Fault::Down) } else { Ok(mut_order) }
}

#[allow(clippy::future_not_send)] // `Rc`
#[resilient(retry(max = 3, backoff = constant("0ms"), attempt = n), clone(order))]
async fn consumed_async(order: Counted, until: u32) -> Result<u32, Fault> {
    std::future::ready(()).await;
    drop(order);
    if n < until { Err(Fault::Down) } else { Ok(n) }
}

#[test]
fn mc31_a_moved_argument_is_cloned_while_a_later_attempt_is_possible() {
    let clones = |until| {
        let count = Rc::new(RefCell::new(0));
        let result = consumed(Counted(Rc::clone(&count)), vec![7], until);
        assert_eq!(Rc::strong_count(&count), 1);
        let sync = count.take();
        assert_eq!(
            ready(consumed_async(Counted(Rc::clone(&count)), until)).ok(),
            result.as_ref().ok().map(|_| until)
        );
        assert_eq!(count.take(), sync);
        (result, sync)
    };
    assert_eq!(clones(1), (Ok(vec![7, 1]), 1));
    assert_eq!(clones(2), (Ok(vec![7, 2]), 2));
    // The third and last attempt gets the argument itself.
    assert_eq!(clones(3), (Ok(vec![7, 3]), 2));
    assert_eq!(clones(4), (Err(Fault::Down), 2));
}

/// Not `Clone`, used by reference only.
struct Token(u32);

#[allow(clippy::needless_pass_by_value)]
#[resilient(retry(max = 3, backoff = constant("0ms"), attempt = n))]
fn by_reference(token: Token, text: String, read: impl Fn(&str) -> usize) -> Result<usize, Fault> {
    if n < 3 { Err(Fault::Down) } else { Ok(read(&text) + token.0 as usize) }
}

#[test]
fn mc31_arguments_that_are_only_read_need_nothing() {
    assert_eq!(by_reference(Token(2), "four".to_owned(), str::len), Ok(6));
}

/// Writes its name when it is dropped.
struct Noted<'a>(&'static str, &'a RefCell<Vec<&'static str>>);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(self.0);
    }
}

/// The same body with and without the attribute.
macro_rules! both {
    ($($policies:tt)*) => {
        fn plain(_: Noted<'_>, _held: Noted<'_>, used: Noted<'_>, (left, _): (Noted<'_>, Noted<'_>), log: &RefCell<Vec<&'static str>>) -> Result<(), Fault> {
            let _last = Noted("local", log);
            let moved = used;
            log.borrow_mut().push(left.0);
            drop(moved);
            Ok(())
        }

        #[resilient($($policies)*)]
        fn guarded(_: Noted<'_>, _held: Noted<'_>, used: Noted<'_>, (left, _): (Noted<'_>, Noted<'_>), log: &RefCell<Vec<&'static str>>) -> Result<(), Fault> {
            let _last = Noted("local", log);
            let moved = used;
            log.borrow_mut().push(left.0);
            drop(moved);
            Ok(())
        }

        #[allow(clippy::future_not_send)] // `RefCell`
        #[resilient($($policies)*)]
        async fn guarded_async(_: Noted<'_>, _held: Noted<'_>, used: Noted<'_>, (left, _): (Noted<'_>, Noted<'_>), log: &RefCell<Vec<&'static str>>) -> Result<(), Fault> {
            let _last = Noted("local", log);
            let moved = used;
            std::future::ready(()).await;
            log.borrow_mut().push(left.0);
            drop(moved);
            Ok(())
        }
    };
}

#[test]
fn mc17_arguments_are_dropped_in_the_order_of_the_plain_function() {
    both!(circuit_breaker = "calm");
    let log = RefCell::default();
    let noted = |name| Noted(name, &log);
    plain(noted("ignored"), noted("held"), noted("used"), (noted("left"), noted("right")), &log)
        .ok();
    let expected = log.take();
    guarded(noted("ignored"), noted("held"), noted("used"), (noted("left"), noted("right")), &log)
        .ok();
    assert_eq!(log.take(), expected);
    ready(guarded_async(
        noted("ignored"),
        noted("held"),
        noted("used"),
        (noted("left"), noted("right")),
        &log,
    ))
    .ok();
    assert_eq!(log.take(), expected);
    drop(guarded_async(
        noted("ignored"),
        noted("held"),
        noted("used"),
        (noted("left"), noted("right")),
        &log,
    ));
    assert_eq!(log.take().len(), 5);
}

#[resilient(circuit_breaker(window = 1, min_calls = 1, open_for = "1h"), name = "mc17_open")]
fn refused(_held: Noted<'_>, fails: bool) -> Result<(), Fault> {
    if fails { Err(Fault::Down) } else { Ok(()) }
}

#[test]
fn mc17_a_refused_call_drops_its_arguments_before_it_returns() {
    let log = RefCell::default();
    assert_eq!(refused(Noted("first", &log), true), Err(Fault::Down));
    assert!(matches!(refused(Noted("second", &log), false), Err(Fault::Rejected(_))));
    assert_eq!(log.take(), ["first", "second"]);
}

/// References to an argument may be returned.
#[resilient(circuit_breaker = "calm")]
fn returned(bytes: &mut [u8]) -> Result<&mut u8, Fault> {
    bytes.first_mut().ok_or(Fault::Mine)
}

#[resilient(circuit_breaker = "calm")]
async fn returned_async<'a>(bytes: &'a mut [u8], other: &str) -> Result<&'a mut u8, Fault> {
    std::future::ready(other.len()).await;
    bytes.first_mut().ok_or(Fault::Mine)
}

#[resilient(retry(max = 2, backoff = constant("0ms")), circuit_breaker = "calm")]
fn returned_shared<'a>(text: &'a str, separator: &str) -> Result<&'a str, Fault> {
    text.split(separator).next().ok_or(Fault::Mine)
}

#[test]
fn what_is_returned_may_be_borrowed() {
    let mut bytes = [1];
    *returned(&mut bytes).unwrap() += 1;
    *ready(returned_async(&mut bytes, "x")).unwrap() += 1;
    assert_eq!(bytes, [3]);
    assert_eq!(returned_shared("a-b", "-"), Ok("a"));
}
