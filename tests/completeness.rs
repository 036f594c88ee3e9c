//! That every policy has its proofs: a row in the macros, a kind in the catalogue, tests, an example, a bench row.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names of the Rust files in a folder, without their endings.
fn files(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let rust = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    rust.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect()
}

/// The policies of `resil-core`: its folders that have options.
fn policies() -> BTreeSet<String> {
    let folders = fs::read_dir(root().join("resil-core/src")).unwrap();
    let paths = folders.map(|entry| entry.unwrap().path());
    let with_options = paths.filter(|path| path.join("config.rs").is_file());
    let policies: BTreeSet<_> =
        with_options.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(policies.len() >= 5, "the folders have moved: {policies:?}");
    policies
}

fn without(policies: BTreeSet<String>, have: &BTreeSet<String>) -> Vec<String> {
    policies.into_iter().filter(|policy| !have.contains(policy)).collect()
}

#[test]
fn every_policy_has_a_row_in_the_macros() {
    assert_eq!(without(policies(), &files("resil-macros/src/policies")), [""; 0]);
    let rows = text("resil-macros/src/policies/mod.rs");
    let order = rows
        .split("ORDER")
        .nth(1)
        .and_then(|rest| rest.split(';').nth(1))
        .expect("the default order");
    for policy in policies() {
        let row: String = policy.split('_').map(capitalised).collect();
        // A budget is part of `retry`, so that it has a name in the registry only.
        let (constant, placed) = if policy == "retry_budget" {
            ("KIND", rows.contains("BudgetSettings::KIND"))
        } else {
            ("KEY", order.contains(&format!("{row}::KEY")))
        };
        assert!(placed, "`{policy}` has no place in the order, or among the kinds");
        let name = text(&format!("resil-macros/src/policies/{policy}.rs"));
        assert!(
            name.contains(&format!("const {constant}: &'static str = \"{policy}\"")),
            "its key or kind is its name: {policy}"
        );
    }
}

fn capitalised(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

#[test]
fn every_policy_has_a_kind_in_the_catalogue() {
    let kinds = text("resil-core/src/contract/policy.rs");
    for policy in policies() {
        assert!(kinds.contains(&format!("=> \"{policy}\",")), "`{policy}` is no `Kind`");
        let its_own = text(&format!("resil-core/src/{policy}/mod.rs")) + &operate(&policy);
        assert!(its_own.contains("impl Policy for"), "`{policy}` is no `Policy`");
    }
}

/// Where a policy says what it is, if not in its `mod.rs`.
fn operate(policy: &str) -> String {
    fs::read_to_string(root().join(format!("resil-core/src/{policy}/operate.rs")))
        .unwrap_or_default()
}

#[test]
fn every_policy_has_tests_of_its_name() {
    assert_eq!(without(policies(), &files("tests")), [""; 0]);
}

#[test]
fn every_policy_has_an_example_of_its_name() {
    assert_eq!(without(policies(), &files("examples")), [""; 0]);
}

/// Nothing is found by itself here, so that a file could be forgotten.
#[test]
fn every_policy_has_a_bench_row() {
    let guarded = text("benches/src/guarded.rs");
    for policy in policies() {
        let used = |line: &str| line.starts_with("#[resilient(") && line.contains(&policy);
        assert!(guarded.lines().any(used), "no function of the benches is guarded by `{policy}`");
    }
}

#[test]
fn every_test_and_every_example_is_declared() {
    for (package, kind) in [("tests", "test"), ("examples", "example")] {
        let manifest = text(&format!("{package}/Cargo.toml"));
        for file in files(package) {
            let declared = format!("[[{kind}]]\nname = \"{file}\"\npath = \"{file}.rs\"");
            assert!(
                manifest.contains(&declared),
                "{package}/{file}.rs is not in {package}/Cargo.toml"
            );
        }
    }
}

/// The names of tests in a file: `fn name(`, and `name:` where a macro makes them.
fn tests_in(file: &str) -> Vec<String> {
    let name_of = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("async ").unwrap_or(line);
        let line = line.strip_prefix("fn ").unwrap_or(line);
        let end = line.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        line[end..].starts_with(['(', ':']).then(|| line[..end].to_owned())
    };
    text(&format!("tests/{file}.rs")).lines().filter_map(name_of).collect()
}

/// Of the semantics' rows and the cases from the field, those that speak of what is built.
const ROWS: &str = "
    b01 b02 b03 b04 b05 b06 b07 b08 b09 b10 b11 b12 b13 b14 b15 b16 b17 b18 b19 b20 b21 b22 b23 b24 b25 b26 b27 b28 b29 b30 b31 b32
    b33 b34 b35 b38 r01 r02 r03 r04 r06 r07 r09 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 t01 t02 t03 t04 t05 t06 t07 b36 b37
    t08 t09 t10 t11 f01 f02 f03 f04 x01 x02 x04 x05 x07 x08 x09 cb01 cb03 cb04 cb06 cb07 cb10 cb11 cb12 cb13 cb15 cb21 cb22 cb24 cb14 cb19
    cb25 cb26 rt02 rt03 rt05 rt06 rt08 rt09 rt10 rt11 rt18 rt20 rt21 to02 to05 to06 to07 to08 to09 to11 mc01 mc17 rg01 rg03 rg05 rg08 rg09
    rg10 rg11 rg12 rg14 rg19 rg20
    g01 g02 g03 g04 g05 g06 g08 g09 r08 rt13 rt14 rt15
    l12 l13 l14 k01 k02 k03 k04 k05 k06 k07 k08 k09 bh01 bh04 bh05 bh08 ls02
    l01 l02 l03 l04 l05 l06 l07 l08 l09 l10 l11 l15 l16 l17 rl01 rl06 rl08 rl09 rl10 rl11 rl13 rl14 rl15 rl16 rl17 rl18";

#[test]
fn every_row_and_case_of_what_is_built_has_a_test_named_after_it() {
    let tests: Vec<String> = files("tests").iter().flat_map(|file| tests_in(file)).collect();
    let ids: BTreeSet<&str> = tests.iter().flat_map(|name| name.split('_')).collect();
    let untested: Vec<_> = ROWS.split_whitespace().filter(|row| !ids.contains(row)).collect();
    assert_eq!(untested, [""; 0]);
}
