//! The error of guarded functions in tests.

use resil::Rejected;

/// What a test's callee fails with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// The callee is down. The number tells one failure from another.
    #[error("down ({0})")]
    Down(u32),
    /// The caller's own mistake.
    #[error("mine")]
    Mine,
    /// A refusal of ours.
    #[error("refused")]
    Refused(#[from] Rejected),
}

impl Fault {
    /// The refusal, if it is one.
    pub const fn refusal(&self) -> Option<Rejected> {
        match self {
            Self::Refused(rejected) => Some(*rejected),
            Self::Down(_) | Self::Mine => None,
        }
    }
}
