//! A timeout: a limit for each attempt, so that one lost answer costs no more than that. Async, and sync on a real socket.

use resil::deadline::with_expiry;
use resil::{Rejected, resilient};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The first answer is lost on the way. The attempt is dropped after 100 ms, and the next one is quick.
#[resilient(timeout = "100ms", retry(max = 2, backoff = constant("10ms"), attempt = attempt))]
async fn ask(lost: u32) -> Result<u32, Rejected> {
    let takes = if attempt <= lost { Duration::from_secs(60) } else { Duration::from_millis(5) };
    println!("  attempt {attempt} will take {takes:?}");
    sleep(takes).await;
    Ok(42)
}

/// A sync body is not dropped. What blocks in it is ended from outside when its time is up: then `read` returns, and what
/// it returns, too late, is a timeout.
#[resilient(timeout = "100ms")]
fn ask_blocking(server: SocketAddr) -> io::Result<Vec<u8>> {
    let stream = TcpStream::connect(server)?;
    let mut answer = Vec::new();
    let hang_up = || drop(stream.shutdown(Shutdown::Both));
    with_expiry(hang_up, || (&stream).read_to_end(&mut answer))?;
    // Nothing came: the other side, or the hook, has hung up.
    if answer.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(answer) }
}

/// Answers every second caller, and lets the others wait.
fn serve(listener: &TcpListener) -> io::Result<()> {
    let mut waiting = Vec::new();
    for (number, stream) in (1..).zip(listener.incoming()) {
        let mut stream = stream?;
        if number % 2 == 0 {
            stream.write_all(b"42")?;
        } else {
            waiting.push(stream);
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    for lost in 0..=2 {
        println!("{lost} answers are lost:");
        let start = Instant::now();
        match ask(lost).await {
            Ok(answer) => println!("  {answer}, after {:?}", start.elapsed()),
            Err(rejected) => println!("  {rejected}, after {:?}", start.elapsed()),
        }
    }

    let listener = TcpListener::bind("127.0.0.1:0")?;
    let server = listener.local_addr()?;
    thread::spawn(move || serve(&listener));
    println!("from a socket that blocks:");
    for _ in 0..2 {
        let start = Instant::now();
        match ask_blocking(server) {
            Ok(answer) => {
                println!("  {}, after {:?}", String::from_utf8_lossy(&answer), start.elapsed());
            }
            Err(error) => println!("  {error}, after {:?}", start.elapsed()),
        }
    }
    Ok(())
}
