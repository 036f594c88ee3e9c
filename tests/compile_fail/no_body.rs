//! A declaration without a body.
use resil::resilient;

trait Fetch {
    #[resilient(retry)]
    fn fetch(&self) -> Result<(), std::io::Error>;
}

fn main() {}
