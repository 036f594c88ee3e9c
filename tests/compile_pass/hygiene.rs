//! Surroundings that mean harm: everything that an expansion might name is something else here.

use resil::resilient as guarded;

#[allow(unused, clippy::all, clippy::pedantic, clippy::nursery)]
mod hostile {
    use super::guarded as resilient;
    use crate::Fault as MyFault;

    pub(super) type Result<T> = ::std::result::Result<T, MyFault>;

    enum Shadow {
        Ok,
        Err,
        Some,
        None,
    }
    use Shadow::*;
    struct Option;
    struct Duration;
    struct Box;
    struct String;
    struct Future;
    struct Default;
    fn drop() {}
    mod std {}
    mod core {}
    mod alloc {}
    mod resil {}
    macro_rules! vec {
        ($($t:tt)*) => {
            compile_error!("vec")
        };
    }
    macro_rules! format {
        ($($t:tt)*) => {
            compile_error!("format")
        };
    }
    macro_rules! matches {
        ($($t:tt)*) => {
            compile_error!("matches")
        };
    }
    macro_rules! panic {
        ($($t:tt)*) => {
            compile_error!("panic")
        };
    }
    macro_rules! concat {
        ($($t:tt)*) => {
            compile_error!("concat")
        };
    }
    macro_rules! module_path {
        ($($t:tt)*) => {
            compile_error!("module_path")
        };
    }
    macro_rules! assert {
        ($($t:tt)*) => {
            compile_error!("assert")
        };
    }
    macro_rules! compile_error {
        ($($t:tt)*) => {
            nothing!()
        };
    }

    /// Every method that an expansion might call.
    trait Greedy: Sized {
        fn map_err(self) {}
        fn is_ok(self) -> bool {
            false
        }
        fn is_err(self) -> bool {
            false
        }
        fn next(self) {}
        fn start(self) {}
        fn settle(self) {}
        fn acquire(self) {}
        fn judge(self) {}
        fn number(self) {}
        fn refused(self) {}
        fn reason(self) {}
        fn is_timeout(self) {}
        fn ran(self) {}
        fn limit(self) {}
        fn deadline(self) {}
        fn cause(self) {}
        fn give(self) {}
        fn take(self) {}
        fn classify(self) {}
        fn ignore(self) {}
        fn retry(self) {}
        fn enter(self) {}
        fn enter_async(self) {}
        fn begin(self) {}
        fn begun(self) {}
        fn spend(self) {}
        fn admitted(self) {}
        fn acquire_gated(self) {}
    }
    impl<T> Greedy for T {}

    #[resilient(
        retry(max = 2, backoff = exponential("1ms", cap = "2ms"), attempt = n, on = ::core::result::Result::Err(MyFault::Down)),
        circuit_breaker = "calm",
        rate_limiter("plenty", cost = 1 + __resil_circuit_breaker),
        bulkhead = "roomy",
        ignore = ::core::result::Result::Err(MyFault::Mine),
        fallback = |__cause| ::core::result::Result::Ok(::core::convert::identity(7)),
        clone(__resil_outcome),
    )]
    pub(super) fn sync(
        __resil_outcome: u8,
        __resil_attempts: &mut u8,
        __resil_circuit_breaker: u32,
    ) -> Result<u8> {
        let _ = n;
        *__resil_attempts += 1;
        let __resil_judgement = __resil_outcome;
        Result::Ok(__resil_judgement + *__resil_attempts)
    }

    #[resilient(
        deadline = "2m",
        timeout = "1m",
        retry(max = 2, backoff = exponential("1ms", cap = "2ms"), attempt = n, budget = "savings"),
        circuit_breaker = "calm",
        rate_limiter("plenty", cost = n),
        bulkhead = "roomy",
        fallback(rejected = |_| ::core::result::Result::Ok(9), error = |__resil_cause| ::core::result::Result::Err(__resil_cause)),
    )]
    pub(super) async fn asynchronous(__resil_outcome: u8, __resil_attempts: &mut u8) -> Result<u8> {
        let _ = n;
        *__resil_attempts += 1;
        let __resil_judgement = __resil_outcome;
        Result::Ok(__resil_judgement + *__resil_attempts)
    }

    #[resilient(circuit_breaker = "calm", fallback = |_| 3)]
    pub(super) fn plain() -> u8 {
        2
    }
}

#[test]
fn mc12_nothing_of_the_surroundings_reaches_the_expansion() {
    let mut n = 1;
    assert_eq!(hostile::sync(1, &mut n, 2), Ok(3));
    assert_eq!(super::ready(hostile::asynchronous(1, &mut n)), Ok(4));
    assert_eq!(hostile::plain(), 2);
}

/// Locals that are named like ours.
#[guarded(circuit_breaker = "calm", retry(max = 2, backoff = constant("0ms"), before = *__resil_wait += 1))]
fn same_names(
    __resil_outcome: &str,
    __resil_circuit_breaker: usize,
    __resil_wait: &mut usize,
) -> Result<usize, super::Fault> {
    let __resil_held = __resil_outcome.len() + __resil_circuit_breaker;
    if *__resil_wait == 0 { Err(super::Fault::Down) } else { Ok(__resil_held + *__resil_wait) }
}

#[test]
fn mc11_our_names_and_the_users_do_not_meet() {
    assert_eq!(same_names("ab", 1, &mut 0), Ok(4));
}

/// `resil` behind another name.
mod facade {
    pub(super) mod inner {
        pub(in crate::hygiene) use resil as guard;
    }
}

mod renamed {
    use super::facade;

    /// Declared through the other name.
    mod policies {
        super::facade::inner::guard::registry! {
            circuit_breaker other { window = 5 }
        }
    }

    #[super::facade::inner::guard::resilient(
        crate = facade::inner::guard,
        registry = policies,
        circuit_breaker = "other",
        retry(max = 2),
        timeout = "1m",
        fallback = |_| Ok(1),
    )]
    pub(super) async fn through() -> Result<u8, crate::Fault> {
        std::future::ready(Ok(2)).await
    }

    #[super::facade::inner::guard::resilient(
        crate = "super::facade::inner::guard",
        circuit_breaker = policies::circuit_breaker::other,
    )]
    pub(super) fn by_path() -> Result<u8, crate::Fault> {
        Ok(3)
    }

    #[derive(super::facade::inner::guard::Classify)]
    #[resil(crate = super::facade::inner::guard)]
    pub(super) enum Classified {
        #[resil(transient)]
        Busy,
    }
}

#[test]
fn mc13_resil_is_found_where_it_is_said_to_be() {
    assert_eq!(super::ready(renamed::through()), Ok(2));
    assert_eq!(renamed::by_path(), Ok(3));
    assert!(resil::Classify::classify(&renamed::Classified::Busy).is_retryable());
}
