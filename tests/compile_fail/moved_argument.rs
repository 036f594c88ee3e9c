//! A body that moves an argument cannot run twice: the compiler's own error, at `retry`.
use resil::resilient;

#[resilient(retry(max = 3))]
fn sync(order: String) -> Result<String, std::io::Error> {
    Ok(order)
}

#[resilient(retry(max = 3))]
async fn asynchronous(order: String) -> Result<String, std::io::Error> {
    Ok(order)
}

fn main() {}
