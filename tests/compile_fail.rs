//! What is refused at compile time, and in which words: one rule a file, named after the rule.

#[test]
fn every_mistake_is_said_at_its_place_with_what_to_write_instead() {
    trybuild::TestCases::new().compile_fail("compile_fail/*.rs");
}
