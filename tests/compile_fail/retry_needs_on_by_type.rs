//! What is no `Result` behind its name has nothing to retry, unless somebody says so.
use resil::resilient;
use std::process::ExitStatus;

type Maybe = Option<u32>;

#[resilient(retry(max = 3))]
fn look_up(key: u32) -> Maybe {
    key.checked_sub(1)
}

#[resilient(retry(max = 3))]
fn run() -> ExitStatus {
    ExitStatus::default()
}

fn main() {}
