//! Checks that the top-level modules of each crate form a graph without cycles.
//!
//! The graph is read from the sources: an edge goes from a file's module to each module that the file names as
//! `crate::…`, outside comments and tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Graph = BTreeMap<String, BTreeSet<String>>;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        match path.is_dir() {
            true => sources(&path, found),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
}

/// The code of a file, without comments and tests.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The modules that a text names as `crate::module` or `crate::{module, module}`.
fn named(code: &str) -> BTreeSet<String> {
    let first = |path: &str| -> String {
        path.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for (at, mark) in code.match_indices("crate::") {
        let rest = &code[at + mark.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(first(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    found.insert(first(&group[start..at]));
                    start = at + 1;
                    if c == '}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// The graph of the top-level modules of a crate.
fn graph(files: &[(PathBuf, String)]) -> Graph {
    let module_of = |path: &Path| -> Option<String> {
        let first = path.components().next()?.as_os_str().to_str()?;
        let name = first.strip_suffix(".rs").unwrap_or(first);
        (!matches!(name, "lib" | "main")).then(|| name.to_owned())
    };
    let is_test = |path: &Path| {
        path.iter().any(|part| part == "tests" || part.to_string_lossy().ends_with("tests.rs"))
    };
    let modules: BTreeSet<String> = files.iter().filter_map(|(path, _)| module_of(path)).collect();
    let mut graph = Graph::new();
    for (path, text) in files.iter().filter(|(path, _)| !is_test(path)) {
        let Some(module) = module_of(path) else { continue };
        let edges = named(&code(text)).into_iter().filter(|other| modules.contains(other));
        let edges: Vec<String> = edges.filter(|other| *other != module).collect();
        graph.entry(module).or_default().extend(edges);
    }
    graph
}

/// The modules reachable from `start`.
fn reached(graph: &Graph, start: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = vec![start];
    while let Some(module) = open.pop() {
        for next in graph.get(module).into_iter().flatten() {
            if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    found
}

/// The modules on a cycle, each with the others on it.
fn cycles(graph: &Graph) -> BTreeMap<String, Vec<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> =
        graph.keys().map(|module| (module, reached(graph, module))).collect();
    let on_cycle = graph.keys().filter(|module| reach[module].contains(*module));
    on_cycle
        .map(|module| {
            let with = reach[module].iter().filter(|other| reach[other].contains(module));
            (module.clone(), with.cloned().collect())
        })
        .collect()
}

#[test]
fn no_crate_has_modules_that_need_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut tangled = BTreeMap::new();
    for name in ["engine", "store", "upstream", "server", "testkit"] {
        let root = crates.join(name).join("src");
        let mut paths = Vec::new();
        sources(&root, &mut paths);
        let files: Vec<(PathBuf, String)> = paths
            .into_iter()
            .map(|path| {
                let text = fs::read_to_string(&path).expect("a text");
                (path.strip_prefix(&root).expect("below the root").to_owned(), text)
            })
            .collect();
        let found = cycles(&graph(&files));
        if !found.is_empty() {
            tangled.insert(name, found);
        }
    }
    assert!(tangled.is_empty(), "modules on a cycle: {tangled:#?}");
}

#[test]
fn a_cycle_is_found_and_a_tree_is_not_one() {
    let check = |files: &[(&str, &str)]| -> Vec<String> {
        let files: Vec<(PathBuf, String)> =
            files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect();
        cycles(&graph(&files)).into_keys().collect()
    };
    let tree = [
        ("a.rs", "use crate::b::Thing; // see crate::c"),
        ("b/mod.rs", "use super::Other;"),
        ("b/leaf.rs", "use crate::c;\n#[cfg(test)]\nmod tests { use crate::a; }"),
        ("c.rs", ""),
    ];
    assert_eq!(check(&tree), Vec::<String>::new());
    let cycle = [
        ("a.rs", "use crate::{b::{X, Y}, d};"),
        ("b.rs", "crate::c::go()"),
        ("c.rs", "use crate::a;"),
        ("d.rs", ""),
    ];
    assert_eq!(check(&cycle), ["a", "b", "c"]);
}
