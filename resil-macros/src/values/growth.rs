//! Delays that grow: `exponential("20ms", factor = 2, cap = "1s")`.

use super::{Call, Count, Duration};
use crate::diag::{self, Diagnostics};
use proc_macro2::Ident;

/// A first delay, how it grows, and where that ends.
#[derive(Debug)]
pub(crate) struct Growth {
    pub(crate) base: Duration,
    pub(crate) factor: Option<Count>,
    /// There is one wherever [`Growth::check`] found nothing.
    pub(crate) cap: Option<Duration>,
    word: Ident,
    example: &'static str,
}

impl Growth {
    pub(crate) fn exponential(
        call: &Call<'_>,
        example: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        Self::read(call, &["factor", "cap"], example, out)
    }

    pub(crate) fn linear(
        call: &Call<'_>,
        example: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        Self::read(call, &["cap"], example, out)
    }

    fn read(
        call: &Call<'_>,
        names: &[&str],
        example: &'static str,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        let arguments = call.arguments(names, example, out)?;
        let base = arguments.one(call, example, out).map(Duration::read);
        let factor = arguments.named("factor").map(Count::read);
        let cap = arguments.named("cap").map(Duration::read);
        // All three are heard before the first that is wrong ends it.
        let (base, factor, cap) = (
            base.map(|base| out.take(base)),
            factor.map(|factor| out.take(factor)),
            cap.map(|cap| out.take(cap)),
        );
        let factor = factor.map_or(Some(None), |factor| factor.map(Some))?;
        let cap = cap.map_or(Some(None), |cap| cap.map(Some))?;
        Some(Self { base: base??, factor, cap, word: call.name.clone(), example })
    }

    /// What is wrong with how the numbers go together.
    pub(crate) fn check(&self) -> [syn::Result<()>; 3] {
        let factor = self.factor.map_or(Ok(()), |factor| factor.within("factor", 1..=u32::MAX));
        [factor, self.backoff_needs_cap(), self.cap_below_base()]
    }

    fn backoff_needs_cap(&self) -> syn::Result<()> {
        match self.cap {
            Some(_) => Ok(()),
            None => Err(diag::error(
                &self.word,
                format!("a delay that grows needs a `cap`, this `{}` has none", self.word),
                format!("`{}`", self.example),
            )),
        }
    }

    fn cap_below_base(&self) -> syn::Result<()> {
        match self.cap {
            Some(cap) if cap.ns < self.base.ns => Err(diag::error_at(
                cap.span,
                "the `cap` is shorter than the first delay",
                "a longer `cap`, or a shorter first delay",
            )),
            _ => Ok(()),
        }
    }
}
