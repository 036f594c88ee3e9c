//! What can be said about a fallback: its name and where it stands.

use super::Fallback;
use crate::contract::{InvalidOption, Location};

/// Builds a [`Fallback`], in a `const` or at run time.
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct FallbackBuilder {
    name: &'static str,
    location: &'static Location<'static>,
}

impl FallbackBuilder {
    pub(super) const fn new(name: &'static str, location: &'static Location<'static>) -> Self {
        Self { name, location }
    }

    /// The policy.
    pub const fn build(self) -> Fallback {
        Fallback::new(self.name, self.location)
    }

    /// The policy, built like every other.
    ///
    /// # Errors
    /// None so far: it has no option that could be wrong.
    pub const fn try_build(self) -> Result<Fallback, InvalidOption> {
        Ok(self.build())
    }
}
