//! What a body asks about its time: how much is left, and whether to go on.

use crate::contract::{Reason, Rejected};
use crate::time::{Ambient, Deadline, Owner};
use core::time::Duration;

/// How long the running code may still take: until the soonest timeout or deadline that guarded functions above have set;
/// zero if that has passed, `None` without one.
///
/// In a sync function the timeout of the attempt counts as well; an async one is dropped when that is over.
///
/// # Cost
/// One thread-local read, and one clock reading if there is a deadline.
///
/// # Examples
/// ```
/// use std::net::TcpStream;
/// # use resil_core as resil;
///
/// fn patient(stream: &TcpStream) -> std::io::Result<()> {
///     // Zero is no timeout to a socket.
///     resil::deadline::check()?;
///     stream.set_read_timeout(resil::deadline::remaining())
/// }
/// # let _ = patient;
/// ```
#[inline]
pub fn remaining() -> Option<Duration> {
    Deadline::current().remaining()
}

/// Whether the running code should go on: for a sync body to stop at, between two steps.
///
/// A sync function whose limit it is counts and reports it, once the error has arrived there; by then it names itself. To an
/// async one, which drops a body that waits, this is an error like any other that is returned in time.
///
/// # Errors
/// [`Rejected`] with the reason and the name of the limit that has passed.
///
/// # Cost
/// One thread-local read, and one clock reading if there is a deadline.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// fn sum(numbers: &[u64]) -> Result<u64, resil::Rejected> {
///     let mut sum = 0;
///     for chunk in numbers.chunks(1_000) {
///         resil::deadline::check()?;
///         sum += chunk.iter().sum::<u64>();
///     }
///     Ok(sum)
/// }
/// assert_eq!(sum(&[1, 2, 3]), Ok(6));
/// ```
#[inline]
pub fn check() -> Result<(), Rejected> {
    let ambient = Ambient::current();
    if ambient.at.is_expired() { Err(passed(ambient)) } else { Ok(()) }
}

#[cold]
fn passed(ambient: Ambient) -> Rejected {
    let Owner { name, attempt } = ambient.owner();
    let reason = if attempt { Reason::TimedOut } else { Reason::DeadlineExceeded };
    Rejected::new(reason, name)
}

#[cfg(all(test, feature = "test-util"))]
mod tests {
    use super::*;
    use crate::deadline::DeadlineLimit;
    use crate::testing::pause;
    use crate::time::testkit::poll_once;
    use core::pin::pin;
    use core::task::Poll;

    static CALL: DeadlineLimit =
        DeadlineLimit::builder("shop::call").after(Duration::from_millis(100)).build();

    #[test]
    fn without_a_limit_there_is_no_end() {
        let clock = pause();
        let before = clock.readings();
        assert_eq!((remaining(), check()), (None, Ok(())));
        assert_eq!(clock.readings(), before);
    }

    #[test]
    fn t04_it_says_whose_time_is_up() {
        let clock = pause();
        let said = CALL.run_blocking(|| {
            assert_eq!((remaining(), check()), (Some(Duration::from_millis(100)), Ok(())));
            clock.advance("100ms");
            assert_eq!(remaining(), Some(Duration::ZERO));
            check()
        });
        let exceeded = Rejected::new(Reason::DeadlineExceeded, "shop::call");
        assert_eq!(said, Ok(Err(exceeded)));

        let mut polled = pin!(CALL.run(async {
            clock.advance("100ms");
            check()
        }));
        assert_eq!(poll_once(polled.as_mut()), Poll::Ready(Ok(Err(exceeded))));

        let carried = Deadline::after(Duration::from_millis(1));
        clock.advance("1ms");
        let mut task = pin!(carried.attach(async { check() }));
        let exceeded = Rejected::new(Reason::DeadlineExceeded, "attached");
        assert_eq!(poll_once(task.as_mut()), Poll::Ready(Err(exceeded)));
    }
}
