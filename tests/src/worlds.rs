//! One behaviour in several worlds: a sync function, an async one on tokio's paused clock, an async one without any runtime.
//!
//! Invariant: time is virtual in each of them, and what a test asserts is the same in each of them.

use resil::testing::{IntoSpan, ManualClock, Paused, pause};
use std::cell::RefCell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Where a test takes place: what its clock shows and how its tasks wait.
#[derive(Clone, Debug)]
pub struct World {
    clock: Clock,
}

#[derive(Clone, Debug)]
enum Clock {
    /// Nothing waits: who sleeps moves the clock.
    Sync(ManualClock, Duration),
    Manual(ManualClock, Duration),
    Tokio(tokio::time::Instant),
}

impl World {
    /// The world of sync functions on a manual clock, which shows 0 now.
    pub fn sync(clock: &ManualClock) -> Self {
        Self { clock: Clock::Sync(clock.clone(), clock.now().to_duration()) }
    }

    /// The world of a manual clock, which shows 0 now.
    pub fn manual(clock: &ManualClock) -> Self {
        Self { clock: Clock::Manual(clock.clone(), clock.now().to_duration()) }
    }

    /// The world of the running runtime's clock, which shows 0 now.
    pub fn tokio() -> Self {
        Self { clock: Clock::Tokio(tokio::time::Instant::now()) }
    }

    /// What the clock shows.
    pub fn now(&self) -> Duration {
        match &self.clock {
            Clock::Sync(clock, begin) | Clock::Manual(clock, begin) => {
                clock.now().to_duration().saturating_sub(*begin)
            }
            Clock::Tokio(begin) => begin.elapsed(),
        }
    }

    /// What the clock shows, in whole milliseconds.
    pub fn ms(&self) -> u64 {
        u64::try_from(self.now().as_millis()).expect("not that long")
    }

    /// Lets virtual time pass.
    pub async fn sleep(&self, span: impl IntoSpan) {
        match &self.clock {
            Clock::Sync(clock, _) => clock.advance(span),
            Clock::Manual(..) | Clock::Tokio(_) => resil::__private::sleep(span.into_span()).await,
        }
    }
}

/// The calls of a body, in order.
#[derive(Debug)]
pub struct Calls {
    world: World,
    begun: RefCell<Vec<u64>>,
}

impl Calls {
    /// None yet.
    pub fn new(world: &World) -> Self {
        Self { world: world.clone(), begun: RefCell::default() }
    }

    /// The body begins; its number, from 1.
    pub fn begin(&self) -> u32 {
        self.begun.borrow_mut().push(self.world.ms());
        self.count()
    }

    /// How often it began.
    pub fn count(&self) -> u32 {
        u32::try_from(self.begun.borrow().len()).expect("not that often")
    }

    /// When it began each time, in milliseconds.
    pub fn begun(&self) -> Vec<u64> {
        self.begun.borrow().clone()
    }

    /// Where it takes place.
    pub fn world(&self) -> &World {
        &self.world
    }
}

/// Counts how often it was woken.
#[derive(Debug, Default)]
pub struct Wakes(AtomicU64);

impl Wakes {
    /// The count, and a waker that raises it.
    pub fn pair() -> (Arc<Self>, Waker) {
        let wakes = Arc::new(Self::default());
        (Arc::clone(&wakes), wakes.into())
    }

    /// The count.
    pub fn times(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls once, with a waker that does nothing.
pub fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Runs a future on this thread, which sleeps until it is woken. No runtime, and real time unless the clock is manual.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Arc::new(Unpark(thread::current())).into();
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Runs a future on this thread's manual clock, which moves on by a millisecond whenever the future waits for something.
///
/// # Panics
/// If it waits, and no timer would ever wake it.
pub fn run<F: Future>(clock: &ManualClock, future: F) -> F::Output {
    let (woken, waker) = Wakes::pair();
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        let before = woken.times();
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        while woken.times() == before {
            assert!(clock.timers() > 0, "it would wait for ever");
            clock.advance("1ms");
        }
    }
}

/// Runs the check of a sync function; nothing in it waits.
///
/// # Panics
/// If something waits.
pub fn at_once<F: Future>(future: F) -> F::Output {
    match poll_once(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a sync function waited"),
    }
}

/// Sets up a manual clock and the world of sync functions on it.
pub fn on_a_manual_clock() -> (Paused, World) {
    let clock = pause();
    let world = World::sync(&clock);
    (clock, world)
}

/// Sets up a manual clock and the world of async functions on it, to be driven by [`run`].
pub fn without_a_runtime() -> (Paused, World) {
    let clock = pause();
    let world = World::manual(&clock);
    (clock, world)
}

/// A test of a guarded function, in every world.
///
/// ```text
/// worlds! { name_of_the_test: [policies] (arguments) -> Returns { body } |world| { check } }
/// ```
///
/// With `with { … }` in front of the policies, each world has these items of its own: what is shared by functions, but not by
/// tests.
///
/// The check calls the function as `call(…).await`, and finds its policies in the catalogue under `NAME`. In the body
/// `pass!(world, span)` lets virtual time pass. With `async` in front, the body may await, and there is no sync world. The tests
/// are called `name_of_the_test::{sync, on_tokio, without_a_runtime}::holds`.
#[macro_export]
macro_rules! worlds {
    ($test:ident: $(with { $($item:item)* })? [$($policy:tt)*] ($($arg:ident: $ty:ty),*) -> $ret:ty { $($body:tt)* } |$world:ident| { $($check:tt)* }) => {
        mod $test {
            use super::*;

            mod sync {
                use super::*;
                const NAME: &str = ::core::concat!(::core::module_path!(), "::guarded");
                $($($item)*)?
                #[allow(unused_macros)]
                macro_rules! pass { ($place:expr, $span:expr) => { $crate::at_once($place.sleep($span)) }; }

                #[::resil::resilient($($policy)*)]
                fn guarded($($arg: $ty),*) -> $ret { $($body)* }

                async fn call($($arg: $ty),*) -> $ret { guarded($($arg),*) }

                #[test]
                fn holds() {
                    let (_clock, $world) = $crate::on_a_manual_clock();
                    $crate::at_once(async { let _ = NAME; $($check)* });
                }
            }

            $crate::worlds! { @asynchronous { $($($item)*)? } [$($policy)*] ($($arg: $ty),*) -> $ret { $($body)* } |$world| { $($check)* } }
        }
    };
    ($test:ident: $(with { $($item:item)* })? async [$($policy:tt)*] ($($arg:ident: $ty:ty),*) -> $ret:ty { $($body:tt)* } |$world:ident| { $($check:tt)* }) => {
        mod $test {
            use super::*;
            $crate::worlds! { @asynchronous { $($($item)*)? } [$($policy)*] ($($arg: $ty),*) -> $ret { $($body)* } |$world| { $($check)* } }
        }
    };
    (@asynchronous { $($item:item)* } [$($policy:tt)*] ($($arg:ident: $ty:ty),*) -> $ret:ty { $($body:tt)* } |$world:ident| { $($check:tt)* }) => {
        mod on_tokio {
            use super::*;
            const NAME: &str = ::core::concat!(::core::module_path!(), "::call");
            $($item)*
            #[allow(unused_macros)]
            macro_rules! pass { ($place:expr, $span:expr) => { $place.sleep($span).await }; }

            #[::resil::resilient($($policy)*)]
            async fn call($($arg: $ty),*) -> $ret { $($body)* }

            #[::tokio::test(start_paused = true)]
            async fn holds() {
                let $world = $crate::World::tokio();
                let _ = NAME;
                $($check)*
            }
        }

        mod without_a_runtime {
            use super::*;
            const NAME: &str = ::core::concat!(::core::module_path!(), "::call");
            $($item)*
            #[allow(unused_macros)]
            macro_rules! pass { ($place:expr, $span:expr) => { $place.sleep($span).await }; }

            #[::resil::resilient($($policy)*)]
            async fn call($($arg: $ty),*) -> $ret { $($body)* }

            #[test]
            fn holds() {
                let (clock, $world) = $crate::without_a_runtime();
                $crate::run(&clock, async { let _ = NAME; $($check)* });
            }
        }
    };
}
