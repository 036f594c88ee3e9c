//! A shop whose upstream has a bad day, with and without `resil`.
//!
//! Everything is measured in the run: the upstream counts the calls that reach it, the client the latencies and
//! answers, an observer the refusals, retries and the breaker's states.
#![allow(clippy::cast_precision_loss)] // counts and milliseconds, far below 2^52

mod client;
mod knobs;
mod load;
mod policies;
mod report;
mod tally;
mod timeline;
mod timetable;
mod upstream;
mod watch;

use clap::Parser;
use client::{Bare, Client, Guarded, LIMIT};
use knobs::Knobs;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tally::Run;
use upstream::Upstream;
use watch::WATCH;

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let knobs = Knobs::parse();
    if resil::TEST_UTIL {
        return Err("built with resil's feature `test-util`, whose clocks are not the real ones; \
                    run it with `cargo run --release -p examples --example storefront`"
            .into());
    }
    resil::set_observer(&WATCH)?;
    resil::warm_up();
    let bare = run("bare", &knobs).await?;
    let guarded = run("guarded", &knobs).await?;

    let timetable = knobs.timetable();
    let rows = report::rows(&timetable, &bare, &guarded);
    report::print(&rows);
    timeline::draw(&knobs.out, &timetable, &bare, &guarded)?;
    println!("\ntimeline: {}", knobs.out.display());

    let broken = report::broken(&rows);
    for promise in &broken {
        println!("not kept: {promise}");
    }
    Ok(if knobs.check && !broken.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs the whole timetable through one of the two clients, against an upstream of its own.
async fn run(name: &'static str, knobs: &Knobs) -> Result<Run, Box<dyn Error>> {
    let timetable = knobs.timetable();
    let start = Instant::now() + Duration::from_millis(50); // by then it serves
    let upstream = Upstream::start(timetable.clone(), start)?;
    let client = match name {
        "bare" => Client::Bare(Bare::new(upstream.address(), Some(LIMIT))?),
        _ => Client::Guarded(Guarded::new(Bare::new(upstream.address(), None)?)),
    };
    let load = knobs.load();
    let samples = load.run(Arc::new(client), &timetable, start, name).await;
    Ok(Run::new(name, start, samples, WATCH.take(), upstream.stop()))
}
