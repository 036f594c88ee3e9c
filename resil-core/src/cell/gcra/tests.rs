//! GCRA against exact arithmetic.
