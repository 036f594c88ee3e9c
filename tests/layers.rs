//! The layers of `resil-core` and the stages of `resil-macros`, read off the imports.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file below `folder`, with what a layer may not do: its code without comments, strings and unit tests.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 10, "{folder} has moved");
    let name = |file: &PathBuf| file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
    files.iter().map(|file| (name(file), code(&fs::read_to_string(file).unwrap()))).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn code(text: &str) -> String {
    let mut code = String::new();
    let mut testing = false;
    for line in text.lines() {
        testing |= line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
        // A file of tests only is marked in the file that declares it; what ends with its line is over with it.
        if testing && !line.starts_with(' ') && line.ends_with(';') {
            testing = false;
            continue;
        }
        let line = line.split("//").next().unwrap_or_default();
        if !testing {
            // What a macro expands to elsewhere is named at the root.
            code.push_str(&line.replace("$crate::", "$"));
            code.push('\n');
        }
    }
    code
}

fn is_test(file: &str) -> bool {
    file.ends_with("loom.rs")
        || file.ends_with("tests.rs")
        || file.contains("/tests/")
        || file.contains("/loom/")
        || file.ends_with("testkit.rs")
}

/// The first segment after each `root` in `code`, also of grouped imports.
fn named_after(code: &str, root: &str) -> Vec<String> {
    let segment = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = Vec::new();
    for (at, _) in code.match_indices(root) {
        let rest = &code[at + root.len()..];
        match rest.strip_prefix('{') {
            None => names.push(segment(rest)),
            Some(group) => names.extend(members(group).iter().map(|member| segment(member.trim()))),
        }
    }
    names
}

/// The members of a group of imports whose opening brace is gone.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut members) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' if depth == 0 => {
                members.push(&group[begin..at]);
                begin = at + 1;
            }
            '}' if depth == 0 => {
                members.push(&group[begin..at]);
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    members
}

/// `time/clock.rs` is of room `time`.
fn room(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

const POLICIES: [&str; 8] = [
    "circuit_breaker",
    "rate_limiter",
    "bulkhead",
    "retry",
    "timeout",
    "deadline",
    "fallback",
    "retry_budget",
];

#[test]
fn a_room_of_the_core_imports_only_lower_ones() {
    // sync · time · rng  ←  cell  ←  contract  ←  <policy folders>  ←  pipeline · expand · catalog  ←  lib.rs
    let base = ["sync", "time", "rng"];
    let mut below: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    below.extend(base.map(|room| (room, base.to_vec())));
    below.insert("cell", [&base[..], &["cell"]].concat());
    below.insert("contract", [&base[..], &["cell", "contract"]].concat());
    let vocabulary = below["contract"].clone();
    below.extend(POLICIES.map(|policy| (policy, [&vocabulary[..], &[policy]].concat())));
    let all = [&vocabulary[..], &POLICIES, &["pipeline", "catalog", "expand"]].concat();
    below.extend(["pipeline", "catalog", "expand", "testing"].map(|room| (room, all.clone())));

    for (file, code) in sources("resil-core/src") {
        if file == "lib.rs" || is_test(&file) {
            continue;
        }
        let allowed = below.get(room(&file)).unwrap_or_else(|| panic!("{file} is in no layer"));
        for name in named_after(&code, "crate::") {
            assert!(allowed.contains(&name.as_str()), "{file} imports `crate::{name}`");
        }
    }
}

#[test]
fn each_outside_door_is_in_one_file() {
    let doors: [(&[&str], &[&str]); 4] = [
        (&["sync::atomic", "std::sync", "loom::"], &["sync.rs"]),
        (&["Instant::now", "SystemTime", "clock_gettime", "quanta::"], &["time/clock.rs"]),
        (&["fastrand::"], &["rng.rs"]),
        (&["tokio::"], &["time/clock.rs", "time/timer/", "time/manual.rs"]),
    ];
    for (file, code) in sources("resil-core/src") {
        for (names, homes) in doors {
            let at_home = homes.iter().any(|home| file.starts_with(home)) || is_test(&file);
            for name in names {
                assert!(at_home || !code.contains(name), "{file} names `{name}`");
            }
        }
    }
}

#[test]
fn a_policy_folder_has_the_same_inner_names() {
    let files: Vec<String> = sources("resil-core/src").into_iter().map(|(file, _)| file).collect();
    for policy in POLICIES {
        for inner in ["mod.rs", "config.rs"] {
            let file = format!("{policy}/{inner}");
            assert!(files.contains(&file), "{file} is missing");
        }
    }
}
