//! Items that are no functions.
use resil::resilient;

#[resilient(retry)]
struct Client;

#[resilient(retry)]
impl Client {
    fn call(&self) -> Result<(), std::io::Error> {
        Ok(())
    }
}

fn main() {}
