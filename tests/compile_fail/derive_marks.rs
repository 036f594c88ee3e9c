//! Marks that contradict each other, or name what is not there.
#[derive(resil::Classify)]
enum Fault {
    #[resil(transient, ignore)]
    Both,
    #[resil(transiant)]
    Misspelt,
    #[resil(retry_after = "wiat")]
    Busy { wait: std::time::Duration },
    #[resil(ignore, retry_after = "0")]
    Later(std::time::Duration),
    #[resil]
    Empty,
}

fn main() {}
