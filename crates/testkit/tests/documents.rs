//! Checks the documents: the list of pages is complete, every link leads to a file and a heading, and the README is short
//! and starts with its two commands. `scripts/check-docs` runs the commands.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A README must be short.
const README_LINES_MAX: usize = 100;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The pages beside the README, of `deploy` and of the clients, and all below `docs`.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let beside =
        ["deploy", "clients/python", "clients/typescript"].map(|folder| root().join(folder));
    let mut folders = vec![root(), docs.clone()];
    folders.extend(beside);
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() && folder.starts_with(&docs) {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The text without code: fenced blocks and `spans`.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let spans = line.split('`').enumerate().filter(|(place, _)| place % 2 == 0);
            kept.extend(spans.map(|(_, part)| part));
            kept.push('\n');
        }
    }
    kept
}

/// The targets of `[text](target)` and `![text](target)` that are not URLs.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets =
        prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// A heading's anchor, as GitHub and the site generate it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept =
        kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced && line.starts_with('#') {
            found.insert(anchor(line.trim_start_matches('#')));
        }
    }
    found
}

/// `folder/target` without `..`, whether or not it exists.
fn resolved(folder: &Path, target: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// What is wrong with a link on `page`.
fn broken(page: &Path, link: &str) -> Option<String> {
    let (file, heading) =
        link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
    let folder = page.parent().expect("a folder");
    let target = if file.is_empty() { page.to_owned() } else { resolved(folder, file) };
    if !target.exists() {
        return Some(format!("{} links to {link}, which is not there", shown(page)));
    }
    let missing = heading.filter(|heading| !anchors(&read(&target)).contains(*heading))?;
    Some(format!("{} links to {link}, which has no heading {missing}", shown(page)))
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let pages = pages();
    let broken: Vec<String> = pages
        .iter()
        .flat_map(|page| links(&read(page)).into_iter().filter_map(|link| broken(page, &link)))
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_list_of_pages_names_every_page() {
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let listed: BTreeSet<PathBuf> =
        links(&read(&summary)).iter().map(|link| resolved(&docs, link)).collect();
    let missing: Vec<String> = pages()
        .iter()
        .filter(|page| **page != summary && !listed.contains(*page))
        .map(|page| shown(page))
        .collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:#?}");
}

#[test]
fn the_readme_is_short_and_its_commands_are_the_two() {
    let readme = read(&root().join("README.md"));
    let lines = readme.lines().count();
    assert!(lines <= README_LINES_MAX, "README.md has {lines} lines");
    let whole: Vec<&str> = readme
        .split("```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```").map(|(block, _)| block.trim()))
        .filter(|block| !block.contains('\n'))
        .collect();
    assert_eq!(whole, ["cargo run --release -- serve --demo", "./scripts/test"]);
}

#[test]
fn links_and_headings_are_read_as_github_reads_them() {
    assert_eq!(
        links("see [a](b.md#c-d) and `[no](x)`\n```\n[no](y)\n```\n![p](q.png)"),
        ["b.md#c-d", "q.png"]
    );
    assert_eq!(anchor("What a call needs, `exactly`"), "what-a-call-needs-exactly");
}
