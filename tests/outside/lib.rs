//! The example of the design, in a crate that has nothing to do with the workspace: it does what is written in it.

pub mod payments;
pub mod policies;
