//! What an error means.
enum PayError<T> {
    Io(io::Error),
    Declined { code: u32 },
    Busy { wait: Duration, shard: u8 },
    Corrupt,
    Inner(T, Rejected),
}
impl<T> ::resil::Classify for PayError<T> {
    fn classify(&self) -> ::resil::Judgement {
        match self {
            Self::Io { .. } => ::resil::Judgement::TRANSIENT,
            Self::Declined { .. } => ::resil::Judgement::IGNORED,
            Self::Busy { wait: __resil_field, .. } => {
                ::resil::__private::with_hint(
                    ::resil::Judgement::TRANSIENT,
                    ::resil::__private::Hint::hint(__resil_field),
                )
            }
            Self::Corrupt { .. } => ::resil::Judgement::FAILURE,
            Self::Inner { 0: __resil_field_0, 1: __resil_field_1 } => {
                use ::resil::__private::Carry as _;
                if (&&&&::resil::__private::Carried(__resil_field_0))
                    .__resil_carries_refusal()
                    || (&&&&::resil::__private::Carried(__resil_field_1))
                        .__resil_carries_refusal()
                {
                    ::resil::Judgement::IGNORED
                } else {
                    ::resil::Judgement::FAILURE
                }
            }
        }
    }
}
