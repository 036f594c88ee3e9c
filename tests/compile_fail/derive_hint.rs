//! A field that does not say how long to wait.
#[derive(resil::Classify)]
enum Fault {
    #[resil(retry_after = "seconds")]
    Busy { seconds: u64 },
}

fn main() {}
