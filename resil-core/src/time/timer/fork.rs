//! What becomes of the timers in a child process.
//!
//! A fork copies the forking thread and all memory, but not the daemon, and not the threads that might hold a lock. So the
//! forking thread takes every lock beforehand, and in the child, before it lets them go, notes that there is no daemon and
//! forgets what was armed: the next timer that is armed, or polled again, starts one. A waker from before the fork is not
//! woken, since it may belong to an executor of which a thread that is not there any more held a lock; the daemon would wait
//! for that lock for ever. So in the child a wait from before goes on only once its future is polled again, and a hook from
//! before does not run at all: what it would end may be the parent's as well, where it does.
//!
//! `pthread_atfork` rather than a comparison of process ids: the latter would cost every arming a system call (the plan
//! of the parent's daemon may hide the need), and would not help with the locks.
//!
//! # Source
//! `pthread_atfork(3p)`, "Rationale".
//!
//! # Synchronisation
//! The locks are taken in one order, `DAEMON`'s first and the hooks' last, by the only code that holds two. No code of a user runs under any
//! of them, so no thread forks while it holds one.
//!
//! # Safety obligations
//! One call of `pthread_atfork`. The handlers are `extern "C"` functions that live as long as the program; they must not
//! unwind and do not: nothing in them panics. In the child they store to atomics and memory, and allocate or free nothing.

use super::daemon::{DAEMON, PLAN, SHARDS, State, TIMERS, lock};
use super::expiry;
use super::shard::Shard;
use crate::sync::fixed::{MutexGuard, OnceLock};
use crate::time::Nanos;
use core::cell::RefCell;

/// Every lock of the timer.
struct Held {
    daemon: MutexGuard<'static, State>,
    #[allow(dead_code)] // let go when dropped
    shards: [MutexGuard<'static, Shard>; SHARDS],
    #[allow(dead_code)] // as above
    hooks: MutexGuard<'static, ()>,
}

thread_local! {
    /// From before a fork of this thread until after it.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Registers the handlers, once.
pub(super) fn watch() {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // SAFETY: all three are functions of the signature asked for; see the module's obligations. Failure (no memory)
        // leaves a child without limits that fire by themselves, which the callers' own checks make up for.
        #[allow(unsafe_code)]
        unsafe {
            libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child));
        }
    });
}

extern "C" fn before() {
    // Fails only while the thread ends, in a destructor that forks.
    let _ = HELD.try_with(|held| {
        let daemon = lock(&DAEMON);
        let shards = core::array::from_fn(|shard| lock(&TIMERS[shard]));
        *held.borrow_mut() = Some(Held { daemon, shards, hooks: expiry::hold() });
    });
}

extern "C" fn in_parent() {
    let _ = HELD.try_with(|held| held.borrow_mut().take());
}

extern "C" fn in_child() {
    let _ = HELD.try_with(|held| {
        if let Some(mut held) = held.borrow_mut().take() {
            for shard in &mut held.shards {
                shard.forget();
            }
            expiry::forget();
            PLAN.reset();
            let daemon =
                core::mem::replace(&mut *held.daemon, State::Absent { retry_at: Nanos::ZERO });
            // Its memory is not freed: the child must not allocate yet.
            core::mem::forget(daemon);
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::time::testkit::{Wakes, block_on};
    use crate::time::{Ambient, Deadline, Nanos, Owner, Timer, now, sleep, with_expiry};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The exit code of a child process, in which `run` says whether all was well.
    fn in_a_child(run: impl FnOnce() -> bool) -> libc::c_int {
        // SAFETY: the child runs nothing of the test harness and ends with `_exit`. It starts a thread and allocates, which
        // the C library permits after a fork on this platform; if it hung, the alarm would end it.
        #[allow(unsafe_code)]
        let status = unsafe {
            match libc::fork() {
                0 => {
                    libc::alarm(30);
                    libc::_exit(if run() { 77 } else { 1 });
                }
                child => {
                    assert!(child > 0, "the process could be forked");
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                    status
                }
            }
        };
        assert!(libc::WIFEXITED(status), "it was not ended by the alarm");
        libc::WEXITSTATUS(status)
    }

    #[test]
    fn a_child_process_runs_no_hook_from_before_and_its_own_ones() {
        let within = |span, body: &mut dyn FnMut()| {
            let at = Deadline::at_instant(now().plus(span));
            let _scope = Ambient::current().watch(at, Owner { name: "test", attempt: true });
            body();
        };
        let (from_before, own) = (AtomicBool::new(false), AtomicBool::new(false));
        let raise = |flag: &AtomicBool| flag.store(true, Ordering::SeqCst);
        let until = |flag: &AtomicBool| {
            while !flag.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        };
        let mut code = 0;
        within(Nanos::from_ms(30), &mut || {
            let hook = || raise(&from_before);
            code = with_expiry(hook, || {
                let code = in_a_child(|| {
                    let by_then = from_before.load(Ordering::SeqCst);
                    // Past the time of the hook, in a scope that lies within and in one of a later time.
                    within(Nanos::from_ms(60), &mut || block_on(sleep(Nanos::from_ms(40))));
                    from_before.load(Ordering::SeqCst) == by_then
                });
                // The parent goes on as before.
                until(&from_before);
                code
            });
        });
        assert_eq!(code, 77);
        let code = in_a_child(|| {
            within(Nanos::from_ms(5), &mut || with_expiry(|| raise(&own), || until(&own)));
            true
        });
        assert_eq!(code, 77, "a thread of its own");
    }

    #[test]
    fn a_child_process_has_a_daemon_of_its_own_and_wakes_nobody_from_before() {
        block_on(sleep(Nanos::MILLI));
        let (woken, waker) = Wakes::pair();
        let (at, mut from_before) = (now().plus(Nanos::from_ms(30)), Timer::new());
        from_before.arm_at(at, &waker);
        let code = in_a_child(|| {
            block_on(sleep(Nanos::from_ms(60)));
            let forgotten = woken.times() == 0;
            // As when its future is polled again.
            from_before.renew(at, &waker);
            woken.wait();
            forgotten && woken.times() == 1
        });
        assert_eq!(code, 77);
        // The parent goes on as before.
        woken.wait();
        block_on(sleep(Nanos::MILLI));
    }
}
