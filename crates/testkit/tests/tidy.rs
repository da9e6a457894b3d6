//! Conventions that the compiler does not check: each file says what it is for and stays short, lock files contain no
//! URLs, every dependency is used.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of lines of a source file without its tests.
const LINES_MAX: usize = 450;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The files with one of the extensions, without build output and installed packages.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                let skipped = matches!(name, "target" | "node_modules" | ".git" | "dist" | "data");
                if !skipped && !name.starts_with('.') && !name.ends_with("-dist") {
                    folders.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn every_source_file_begins_by_saying_what_it_is_for() {
    let silent: Vec<String> = files(&[".rs"])
        .iter()
        .filter(|path| !fs::read_to_string(path).expect("a text").starts_with("//!"))
        .map(|path| shown(path))
        .collect();
    assert!(silent.is_empty(), "without a module doc: {silent:#?}");
}

#[test]
fn no_source_file_is_more_than_one_thing() {
    let long: Vec<String> = files(&[".rs"])
        .iter()
        .filter(|path| !shown(path).contains("/tests/") && !shown(path).ends_with("tests.rs"))
        .filter_map(|path| {
            let text = fs::read_to_string(path).expect("a text");
            let lines = text.lines().take_while(|line| *line != "#[cfg(test)]").count();
            (lines > LINES_MAX).then(|| format!("{} has {lines} lines", shown(path)))
        })
        .collect();
    assert!(long.is_empty(), "over {LINES_MAX} lines: {long:#?}");
}

#[test]
fn lock_files_hold_no_download_addresses() {
    let leaking: Vec<String> = files(&["package-lock.json"])
        .iter()
        .filter(|path| fs::read_to_string(path).expect("a text").contains("\"resolved\": \"http"))
        .map(|path| shown(path))
        .collect();
    assert!(leaking.is_empty(), "with addresses: {leaking:?}");
}

fn without_comments(text: &str) -> String {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| [line, "\n"]).collect()
}

/// Whether `sources` use the crate as the start of a path: `tower_http::` does not name `tower`.
fn names(sources: &str, crate_name: &str) -> bool {
    sources.match_indices(crate_name).any(|(at, _)| {
        let in_a_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let begins = !sources[..at].ends_with(in_a_word);
        let after = &sources[at + crate_name.len()..];
        begins && ["::", ";", " as "].iter().any(|follows| after.starts_with(follows))
    })
}

#[test]
fn a_crate_is_named_by_its_whole_name() {
    assert!(names("use tower::ServiceBuilder;", "tower"));
    assert!(!names("use tower_http::trace;", "tower"));
    assert!(!names("use my_tower::x;", "tower"));
    assert!(!names(&without_comments("// tower::x\n"), "tower"));
}

#[test]
fn every_dependency_is_used() {
    let mut unused = Vec::new();
    for manifest in files(&["Cargo.toml"]) {
        let folder = manifest.parent().expect("a folder");
        if folder == root() {
            continue;
        }
        let sources: String = files(&[".rs"])
            .iter()
            .filter(|path| path.starts_with(folder))
            .map(|path| without_comments(&fs::read_to_string(path).expect("a text")))
            .collect();
        let text = fs::read_to_string(&manifest).expect("a text");
        let mut in_dependencies = false;
        for line in text.lines() {
            if line.starts_with('#') {
                continue;
            }
            if line.starts_with('[') {
                in_dependencies = line.contains("dependencies");
                continue;
            }
            let Some((name, _)) = line.split_once(['=', '.']).filter(|_| in_dependencies) else {
                continue;
            };
            let name = name.trim();
            if !names(&sources, &name.replace('-', "_")) {
                unused.push(format!("{}: {name}", shown(&manifest)));
            }
        }
    }
    assert!(unused.is_empty(), "named in a manifest and nowhere else: {unused:#?}");
}

#[test]
fn nothing_unfinished_is_left_in_the_code() {
    let marks = ["TO".to_owned() + "DO", "FIX".to_owned() + "ME", "todo".to_owned() + "!("];
    let mut found = Vec::new();
    for path in files(&[".rs", ".ts", ".tsx", ".js"]) {
        let text = fs::read_to_string(&path).expect("a text");
        for (number, line) in text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark.as_str())) {
                found.push(format!("{}:{}", shown(&path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
