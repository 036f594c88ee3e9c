//! What a retry asks before it loads the callee once more.

/// What bounds the additional load of all who share it.
///
/// [`RetryBudget`](crate::RetryBudget) is the one of this crate. Each call that is admitted pays in, each additional attempt that is launched is
/// paid for.
pub trait Budget: Sync {
    /// A call was admitted: its first attempt loads the callee.
    fn deposit(&self);
    /// Whether an additional attempt may be made.
    fn withdraw(&self) -> Withdrawal;
    /// An attempt whose withdrawal was [`Taken`](Withdrawal::Taken) was not made after all.
    fn give_back(&self);
    /// Its name, as declared.
    fn name(&self) -> &'static str;
}

/// What a [`Budget`] says to an additional attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[must_use = "what was taken is either used or given back"]
pub enum Withdrawal {
    /// It is paid for.
    Taken,
    /// It may be made and costs nothing: the budget is disabled.
    Free,
    /// It may not be made.
    Refused,
}
