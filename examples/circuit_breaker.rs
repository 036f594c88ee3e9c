//! A circuit breaker by hand: a permit for each call, and what became of the call.

use resil::{Event, Observer, Rejected, State};
use std::thread::sleep;
use std::time::Duration;

mod policies {
    resil::registry! {
        /// Opens when half of the last ten calls failed, and looks again after half a second.
        circuit_breaker gateway { window = 10, min_calls = 4, failure_rate = "50%", open_for = "500ms", probes = 2 }
    }
}
use policies::circuit_breaker::gateway;

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
    Ok(())
}
