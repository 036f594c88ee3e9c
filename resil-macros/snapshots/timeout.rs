//! Timeout alone: what is not written does not appear.

#[resilient(timeout = "200ms")]
async fn fetch(conn: Conn, key: &str) -> io::Result<impl Stream<Item = u8>> {
    const LIMIT: usize = 10;
    conn.get(key, LIMIT).await
}
