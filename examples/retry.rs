//! Retries: which failures are worth another attempt, how long to wait before it, and when to stop.

use resil::{Rejected, resilient};
use std::time::Instant;

#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("busy")]
    Busy,
    #[error("the token has expired")]
    Expired,
    #[error("no such page")]
    NotFound,
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

struct Server {
    fresh_token: bool,
    start: Instant,
}

/// Four attempts at most, further and further apart; `NotFound` will not change, so it is not asked for again.
#[resilient(retry(
    max = 4,
    backoff = exponential("40ms", cap = "200ms"),
    jitter = equal,
    abort = Err(FetchError::NotFound),
    before = server.fresh_token = true,
    attempt = attempt,
))]
async fn fetch(server: &mut Server, path: &str) -> Result<String, FetchError> {
    println!("  attempt {attempt} after {:?}", server.start.elapsed());
    match path {
        "/missing" => Err(FetchError::NotFound),
        "/private" if !server.fresh_token => Err(FetchError::Expired),
        "/popular" if attempt < 3 => Err(FetchError::Busy),
        "/down" => Err(FetchError::Busy),
        _ => Ok(format!("the page {path}")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    for path in ["/popular", "/private", "/missing", "/down"] {
        println!("{path}");
        let mut server = Server { fresh_token: false, start: Instant::now() };
        match fetch(&mut server, path).await {
            Ok(page) => println!("  {page}"),
            Err(error) => println!("  {error}"),
        }
    }
}
