//! A clone of what is no argument.
use resil::resilient;

struct Client;

impl Client {
    #[resilient(retry, clone(ordre, self))]
    fn call(self, order: String) -> Result<String, std::io::Error> {
        Ok(order)
    }
}

fn main() {}
