//! Time in sync functions: what came late is looked at when it is there.

#[resilient(timeout = "200ms")]
fn alone(conn: &mut Conn) -> io::Result<impl Iterator<Item = u8>> {
    conn.get()
}

#[resilient(deadline = "1s", timeout = "200ms")]
fn whole(conn: &mut Conn) -> io::Result<u32> {
    conn.count()
}

#[resilient(timeout("200ms", late = timeout), fallback = value(0))]
fn dropped(conn: &mut Conn) -> u32 {
    conn.count()
}

#[resilient(
    deadline = "1s",
    retry(max = 3, before = refresh(conn)),
    circuit_breaker("gateway", failure = Ok(0)),
    timeout = "200ms",
)]
fn stack(conn: &mut Conn) -> Result<u32, PayError> {
    conn.count()
}
