//! What an error means.

#[derive(Classify)]
enum PayError<T> {
    #[resil(transient)]
    Io(io::Error),
    #[resil(ignore)]
    Declined { code: u32 },
    #[resil(retry_after = "wait")]
    Busy { wait: Duration, shard: u8 },
    Corrupt,
    Inner(T, Rejected),
}
