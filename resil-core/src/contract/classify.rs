//! How an error type says what its values mean.

use super::Judgement;

/// Says what a value means to the policies: success, failure, worth another attempt, or no vote.
///
/// `#[derive(Classify)]` writes it for an error enum. Where a function's error type implements it, `#[resilient]`
/// finds it by itself; in a generic function the word `classify` asks for it. Patterns of the attribute come first.
///
/// # Examples
/// ```
/// # use resil_core as resil;
/// use resil::{Classify, Judgement};
///
/// enum DbError { Deadlock, NoRow }
///
/// impl Classify for DbError {
///     fn classify(&self) -> Judgement {
///         match self {
///             DbError::Deadlock => Judgement::TRANSIENT,
///             DbError::NoRow => Judgement::IGNORED,
///         }
///     }
/// }
/// ```
pub trait Classify {
    /// What this value means. Called once an attempt, and only where no pattern of the attribute matched decides.
    fn classify(&self) -> Judgement;
}

impl<T, E: Classify> Classify for Result<T, E> {
    #[inline]
    fn classify(&self) -> Judgement {
        match self {
            Ok(_) => Judgement::SUCCESS,
            Err(error) => error.classify(),
        }
    }
}
