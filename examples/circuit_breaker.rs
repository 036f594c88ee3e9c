//! A circuit breaker by hand: a permit for each call, and what became of the call.

use resil::{Event, Observer, Rejected, State};
use std::thread::sleep;
use std::time::Duration;

mod policies {
    resil::registry! {
        /// Opens when half of the last ten calls failed, and looks again after half a second.
        circuit_breaker gateway { window = 10, min_calls = 4, failure_rate = "50%", open_for = "500ms", probes = 2 }
        /// Goes by the calls of the last ten seconds, however many they are, once there were a hundred.
        circuit_breaker search { window = "10s", min_calls = 100, failure_rate = "20%" }
        /// Opens after three failures in a row.
        circuit_breaker mailer { consecutive = 3, open_for = "1m" }
    }
}
use policies::circuit_breaker::{gateway, mailer, search};

/// Prints the breaker's transitions.
struct Print;

impl Observer for Print {
    fn event(&self, event: &Event) {
        if let Event::Transition { from, to, reason, .. } = event {
            println!("    {from} -> {to}: {reason:?}");
        }
    }
}

/// A call to something that is up or down.
fn call(up: bool) -> Result<(), Rejected> {
    let permit = gateway.acquire()?;
    if up {
        println!("  it answered");
        permit.success();
    } else {
        println!("  it failed");
        permit.failure(); // without a verdict (`?`, a panic) the permit is given back and does not vote
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    resil::set_observer(&Print)?;

    println!("the gateway is up, then it goes down:");
    for up in [true, true, false, false] {
        call(up)?;
    }

    println!("an open breaker refuses, and says for how long:");
    let refused = call(true).expect_err("it is open");
    println!("  {refused}");

    println!("when the wait is over, two probes decide:");
    sleep(Duration::from_millis(520));
    call(true)?;
    call(true)?;
    println!("it is {}", gateway.state());
    assert_eq!(gateway.state(), State::Closed);

    println!("a window of time goes by the share of failures, whatever the traffic:");
    for number in 0..1_000 {
        match search.acquire() {
            Ok(permit) if number % 10 == 0 => permit.failure(),
            Ok(permit) => permit.success(),
            Err(refused) => println!("  {refused}"),
        }
    }
    println!(
        "  {} of the last calls failed: {}",
        search.failure_rate().expect("a thousand are enough"),
        search.state()
    );
    assert_eq!(search.state(), State::Closed);

    println!("and failures in a row are that, whatever the share:");
    for up in [true, true, true, true, false, false, false] {
        let permit = mailer.acquire()?;
        if up { permit.success() } else { permit.failure() }
    }
    println!("  {}", mailer.acquire().expect_err("three in a row"));
    Ok(())
}
