//! Futures are `Send` wherever the plain ones are.

use super::{Fault, ready};
use resil::resilient;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

const fn is_send<T: Send>(value: T) -> T {
    value
}

/// `Send` and not `Sync`.
#[derive(Default)]
struct Own {
    cell: Cell<u8>,
}

impl Own {
    #[resilient(circuit_breaker = "calm")]
    async fn by_value(self) -> Result<u8, Fault> {
        std::future::ready(()).await;
        Ok(self.cell.get())
    }

    #[resilient(retry(max = 2, backoff = constant("0ms")), circuit_breaker = "calm", timeout = "1m", deadline = "2m")]
    async fn by_mut(&mut self, other: &mut Self) -> Result<u8, Fault> {
        std::future::ready(()).await;
        Ok(self.cell.get() + other.cell.get())
    }

    #[resilient(circuit_breaker = "calm")]
    async fn by_box(self: Box<Self>) -> Result<u8, Fault> {
        std::future::ready(()).await;
        Ok(self.cell.get())
    }
}

#[resilient(retry(max = 2, backoff = constant("0ms")), circuit_breaker = "calm")]
async fn owned(
    cell: Cell<u8>,
    (receiver, name): (Receiver<u8>, &'static str),
    call: impl Fn() -> u8 + Send,
) -> Result<u8, Fault> {
    std::future::ready(()).await;
    let first = receiver.try_recv().map_err(|_| Fault::Mine)?;
    Ok(first + cell.get() + call() + u8::try_from(name.len()).unwrap_or(0))
}

#[resilient(retry(max = 2, backoff = constant("0ms"), attempt = n), clone(cell))]
async fn cloned(cell: Cell<u8>) -> Result<u8, Fault> {
    std::future::ready(()).await;
    let own = cell;
    if n < 2 { Err(Fault::Down) } else { Ok(own.get()) }
}

/// What a cost is computed with is gone before anybody waits.
#[resilient(
    deadline = "2m",
    retry(max = 2, backoff = constant("0ms"), budget = "savings"),
    circuit_breaker = "calm",
    rate_limiter("plenty", cost = *std::rc::Rc::new(1)),
    bulkhead = "roomy",
    timeout = "1m",
    fallback = |_| Ok(0)
)]
async fn stack(cell: Cell<u8>, other: &mut Own) -> Result<u8, Fault> {
    std::future::ready(()).await;
    Ok(cell.get() + other.cell.get())
}

#[resilient(circuit_breaker = "calm")]
async fn named_in_a_string(cell: Cell<u8>) -> Result<String, Fault> {
    std::future::ready(()).await;
    Ok(format!("{cell:?}"))
}

/// Patterns that go through a reference, and one that binds nothing.
#[resilient(circuit_breaker = "calm", retry(max = 2))]
async fn patterns(
    (left, right): &(String, String),
    Pair((a, b), c): Pair<'_>,
    Unit: Unit,
) -> Result<usize, Fault> {
    std::future::ready(()).await;
    Ok(left.len() + right.len() + a.len() + b.len() + usize::from(c.get()) + (Unit, 0).1)
}

struct Pair<'a>(&'a (String, String), Cell<u8>);
struct Unit;

#[test]
fn mc20_patterns_keep_how_they_bind() {
    let strings = ("a".to_owned(), "bc".to_owned());
    let pair = Pair(&strings, Cell::new(1));
    assert_eq!(ready(is_send(patterns(&strings, pair, Unit))), Ok(7));
}

#[test]
fn mc20_owned_arguments_need_not_be_sync() {
    let (sender, receiver) = channel();
    sender.send(1).unwrap();
    let counter = Cell::new(0);
    let call = move || {
        counter.set(counter.get() + 4);
        counter.get()
    };
    assert_eq!(ready(is_send(owned(Cell::new(2), (receiver, "abc"), call))), Ok(10));
    assert_eq!(ready(is_send(Own::default().by_value())), Ok(0));
    assert_eq!(ready(is_send(Own::default().by_mut(&mut Own::default()))), Ok(0));
    assert_eq!(ready(is_send(Box::new(Own::default()).by_box())), Ok(0));
    assert_eq!(ready(is_send(cloned(Cell::new(5)))), Ok(5));
    assert_eq!(ready(is_send(stack(Cell::new(5), &mut Own::default()))), Ok(5));
    assert_eq!(ready(is_send(named_in_a_string(Cell::new(5)))).as_deref(), Ok("Cell { value: 5 }"));
}

struct Shared {
    greeting: String,
}

impl Shared {
    #[resilient(retry(max = 2), circuit_breaker = "calm", timeout = "1m", deadline = "2m", fallback = |_| Ok(String::new()))]
    async fn greet(self: Arc<Self>, name: String, sign: &str) -> Result<String, Fault> {
        tokio::task::yield_now().await;
        Ok(format!("{} {name}{sign}", self.greeting))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mc05_a_guarded_future_is_spawned_and_borrows_only_what_it_was_lent() {
    let shared = Arc::new(Shared { greeting: "hello".to_owned() });
    let name = "world".to_owned();
    let task = tokio::spawn(shared.greet(name, "!"));
    assert_eq!(task.await.unwrap().as_deref(), Ok("hello world!"));
}
