//! Methods: every kind of `self`, in every kind of `impl`.

use super::{Fault, ready};
use resil::resilient;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Client {
    sent: Vec<u32>,
}

impl Client {
    const LIMIT: usize = 3;

    #[resilient(circuit_breaker = "calm")]
    fn by_ref(&self, n: usize) -> Result<u32, Fault> {
        self.sent.get(n).copied().ok_or(Fault::Mine)
    }

    #[resilient(retry(max = 4, backoff = constant("0ms"), attempt = n))]
    fn by_mut(&mut self) -> Result<usize, Fault> {
        self.sent.push(n);
        if self.sent.len() < Self::LIMIT { Err(Fault::Down) } else { Ok(self.sent.len()) }
    }

    #[resilient(retry(max = 4, backoff = constant("0ms"), attempt = n))]
    async fn by_mut_async(&mut self) -> Result<usize, Fault> {
        std::future::ready(()).await;
        self.sent.push(n);
        if self.sent.len() < Self::LIMIT { Err(Fault::Down) } else { Ok(self.sent.len()) }
    }

    #[resilient(circuit_breaker = "calm")]
    fn by_value(self) -> Result<Vec<u32>, Fault> {
        Ok(self.sent)
    }

    #[resilient(circuit_breaker = "calm")]
    fn by_mut_value(mut self, n: u32) -> Result<Self, Fault> {
        self.sent.push(n);
        Ok(self)
    }

    #[resilient(circuit_breaker = "calm")]
    fn by_box(mut self: Box<Self>, n: u32) -> Result<Box<Self>, Fault> {
        self.sent.push(n);
        Ok(self)
    }

    #[resilient(retry(max = 2, backoff = constant("0ms")), circuit_breaker = "calm")]
    async fn by_arc(self: Arc<Self>, suffix: String, prefix: &str) -> Result<String, Fault> {
        std::future::ready(()).await;
        Ok(format!("{prefix}{:?}{suffix}", self.sent))
    }

    #[resilient(circuit_breaker = "calm")]
    fn without() -> Result<Self, Fault> {
        Ok(Self { sent: vec![] })
    }
}

#[test]
fn every_kind_of_self_is_guarded() {
    let mut client = Client::without().unwrap();
    assert_eq!(client.by_ref(0), Err(Fault::Mine));
    assert_eq!(client.by_mut(), Ok(3));
    client.sent.clear();
    assert_eq!(ready(client.by_mut_async()), Ok(3));
    assert_eq!(client.sent, [1, 2, 3]);
    let client = client.by_mut_value(4).unwrap();
    assert_eq!(client.clone().by_value(), Ok(vec![1, 2, 3, 4]));
    let client = Box::new(client).by_box(5).unwrap();
    let text = ready(Arc::new(*client).by_arc("!".to_owned(), "sent: "));
    assert_eq!(text.as_deref(), Ok("sent: [1, 2, 3, 4, 5]!"));
}

/// `self` and `Self` inside of macros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Fast,
    Slow(u8),
}

trait Named {
    const NAME: &'static str;

    #[resilient(circuit_breaker = "calm")]
    fn name(&self) -> Result<String, Fault>
    where
        Self: Debug,
    {
        Ok(format!("{} {self:?}", Self::NAME))
    }

    fn shout(&self) -> Result<String, Fault>;
}

impl Named for Mode {
    const NAME: &'static str = "mode";

    #[resilient(circuit_breaker = "calm", retry(max = 2))]
    fn shout(&self) -> Result<String, Fault> {
        macro_rules! me {
            ($($this:tt)*) => {
                match $($this)* {
                    Self::Slow(n) => n,
                    Self::Fast => 0,
                }
            };
        }
        let Self::Slow(_) = Self::Slow(1) else { return Err(Fault::Mine) };
        let is_fast = matches!(self, Self::Fast);
        let same = <Self as Named>::name(self)?;
        Ok(format!("{} {is_fast} {} {same}", Self::NAME.to_uppercase(), me!(*self)))
    }
}

#[test]
fn mc10_self_means_the_same_inside_of_macros() {
    assert_eq!(Mode::Slow(3).shout().as_deref(), Ok("MODE false 3 mode Slow(3)"));
    assert_eq!(Mode::Fast.shout().as_deref(), Ok("MODE true 0 mode Fast"));
}

/// Async functions in traits, and their implementations.
trait Fetch {
    fn fetch(&self, key: &str) -> impl Future<Output = Result<usize, Fault>> + Send;
}

impl Fetch for Client {
    #[resilient(circuit_breaker = "calm", retry(max = 2), timeout = "1m")]
    async fn fetch(&self, key: &str) -> Result<usize, Fault> {
        std::future::ready(()).await;
        Ok(self.sent.len() + key.len())
    }
}

#[test]
fn mc23_methods_of_traits_are_guarded_where_they_have_a_body() {
    assert_eq!(ready(Client::default().fetch("four")), Ok(4));
}

/// Functions that a macro writes.
macro_rules! endpoint {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($this:ident: $($argument:ident: $ty:ty),*) -> $output:ty $body:block) => {
        impl Endpoint {
            $(#[$meta])*
            $vis fn $name(&$this, $($argument: $ty),*) -> $output $body
        }
    };
    (policies: $name:ident($n:ident), $breaker:literal, $max:literal, $on:pat, $body:block) => {
        #[resilient(circuit_breaker = $breaker, retry(max = $max, on = $on))]
        fn $name($n: u32) -> Result<u32, Fault> $body
    };
}

struct Endpoint(u32);

endpoint! {
    /// Written by a macro.
    #[resilient(circuit_breaker = "calm", retry(max = 2, backoff = constant("0ms")))]
    pub(crate) fn get(self: add: u32, log: &mut Vec<u32>) -> Result<u32, Fault> {
        log.push(add);
        if log.len() < 2 { return Err(Fault::Down); }
        Ok(self.0 + add)
    }
}

endpoint!(policies: by_macro(n), "calm", 2, Err(Fault::Down), { Ok(n) });

#[test]
fn mc09_functions_that_a_macro_writes_find_their_names() {
    let mut log = vec![];
    assert_eq!(Endpoint(1).get(2, &mut log), Ok(3));
    assert_eq!(log, [2, 2]);
    assert_eq!(by_macro(5), Ok(5));
}
