//! The order of the stages, as a test.

use std::fs;
use std::path::Path;

/// A module, and which modules of this crate it may import.
const STAGES: [(&str, &[&str]); 14] = [
    ("diag", &[]),
    ("body", &[]),
    ("values", &["diag"]),
    ("syntax", &["diag", "values"]),
    ("policies", &["diag", "values", "syntax"]),
    ("args", &["diag", "values", "syntax", "policies"]),
    ("target", &["diag", "values", "body"]),
    ("plan", &["diag", "values", "policies", "args", "body", "target"]),
    ("check", &["diag", "values", "policies", "args", "body", "target", "plan"]),
    ("emit", &["values", "policies", "body", "target", "plan", "check"]),
    ("registry", &["diag", "values", "syntax", "policies"]),
    ("classify", &["diag", "values", "syntax"]),
    ("fallback", &["diag", "args", "target", "plan", "check", "emit"]),
    ("snapshots", &["classify", "fallback", "registry"]),
];

#[test]
fn a_stage_imports_only_earlier_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (stage, allowed) in STAGES {
        let (file, folder) = (root.join(stage).with_extension("rs"), root.join(stage));
        let mut files = vec![];
        if file.exists() {
            files.push(file);
        }
        if folder.exists() {
            files.extend(
                fs::read_dir(folder).expect("readable").map(|file| file.expect("readable").path()),
            );
        }
        assert!(!files.is_empty(), "there is no stage {stage}");
        for file in files {
            let text = fs::read_to_string(&file).expect("readable");
            for import in text.split("crate::").skip(1) {
                let named: String =
                    import.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let grouped = import
                    .strip_prefix('{')
                    .and_then(|list| list.split('}').next())
                    .unwrap_or(&named);
                for module in
                    grouped.split(',').map(|part| part.trim().split(':').next().unwrap_or_default())
                {
                    let known = STAGES.iter().any(|(stage, _)| *stage == module);
                    assert!(
                        !known || module == stage || allowed.contains(&module),
                        "{} imports the later stage {module}",
                        file.display()
                    );
                }
            }
        }
    }
}
