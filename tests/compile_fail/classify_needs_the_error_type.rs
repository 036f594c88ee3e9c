//! The word `classify` where there is no error to ask.
use resil::resilient;

#[resilient(classify, retry(on = None))]
fn call() -> Option<u8> {
    Some(1)
}

fn main() {}
