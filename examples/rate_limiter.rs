//! A rate limiter: so many calls in such a time, a short wait for who comes too early, and the rest are told when to come back.

use resil::{Rate, Rejected, resilient};
use std::time::{Duration, Instant};

mod policies {
    resil::registry! {
        /// The map service allows twenty requests a second, five of them at once.
        rate_limiter maps { rate = "20/s", burst = 5, wait = "120ms" }
    }
}
use policies::rate_limiter::maps;

/// A route costs as much as three tiles.
#[derive(Clone, Copy, Debug)]
enum Request {
    Tile,
    Route,
}

#[resilient(rate_limiter("maps", cost = if matches!(request, Request::Route) { 3 } else { 1 }))]
async fn ask(request: Request) -> Result<&'static str, Rejected> {
    Ok(match request {
        Request::Tile => "a tile",
        Request::Route => "a route",
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let begin = Instant::now();
    println!("a burst of five passes, then one comes in every 50 ms:");
    let asked: Vec<_> = (1..=9).map(|_| tokio::spawn(ask(Request::Tile))).collect();
    for (number, answer) in (1..).zip(asked) {
        let answer = answer.await.expect("it does not panic");
        let after = begin.elapsed().as_millis();
        match answer {
            Ok(answer) => println!("  {number}: {answer} after {after} ms"),
            Err(refused) => println!("  {number}: {refused}"),
        }
    }

    println!("a route is three:");
    tokio::time::sleep(Duration::from_millis(250)).await;
    for request in [Request::Route, Request::Route, Request::Route] {
        match ask(request).await {
            Ok(answer) => println!("  {answer}; {} left", maps.available()),
            Err(refused) => println!("  {refused}"),
        }
    }

    println!("the service asks for less, and gets it from now on:");
    maps.set_rate(Rate::per_second(2)).expect("it makes sense");
    maps.drain();
    // By hand: a permit now, or a refusal.
    if let Err(refused) = maps.acquire() {
        println!("  {refused}");
    }
    println!(
        "{}",
        resil::catalog().find(resil::Kind::RateLimiter, "maps").expect("it is linked in")
    );
}
