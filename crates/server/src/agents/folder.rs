//! A folder of agents; changed files are read again.
//!
//! Invariant: an unreadable file never removes its last valid version, and is reported in
//! [`Reading::problems`].

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use throughline_engine::agent::{Agent, Document};
use throughline_engine::id::AgentName;

use super::definition::Definition;
use super::header::{self, DocumentFile};

/// Largest file, in bytes.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// Maximum number of files per folder.
const FILES_MAX: usize = 1_000;
/// Maximum number of agents.
const AGENTS_MAX: usize = 200;

/// Result of reading the folder.
#[derive(Debug, Default)]
pub struct Reading {
    pub agents: Vec<Agent>,
    /// Problems, each with its file.
    pub problems: Vec<String>,
    /// Whether anything changed since the last reading.
    pub changed: bool,
}

/// A folder of agents, with the last valid version of every file.
#[derive(Debug)]
pub struct AgentFolder {
    root: PathBuf,
    documents: BTreeMap<PathBuf, FileState<DocumentFile>>,
    definitions: BTreeMap<PathBuf, FileState<Definition>>,
}

/// A file: its last modification, its last valid content, and its current problem.
#[derive(Debug, Clone)]
struct FileState<T> {
    stamp: Option<(SystemTime, u64)>,
    good: Option<T>,
    problem: Option<String>,
}

impl AgentFolder {
    /// The folder at `root`; a missing one is empty.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), documents: BTreeMap::new(), definitions: BTreeMap::new() }
    }

    /// Reads all changed files.
    pub fn look(&mut self) -> Reading {
        let mut reading = Reading::default();
        let mut seen = Vec::new();
        for folder in entries(&self.root, AGENTS_MAX, |path| path.is_dir()) {
            let stem = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match AgentName::new(stem) {
                Ok(name) => {
                    let agent = self.agent(name, &folder, &mut seen, &mut reading);
                    reading.agents.push(agent);
                }
                Err(error) => reading.problems.push(format!("{}: {error}", folder.display())),
            }
        }
        let before = self.documents.len() + self.definitions.len();
        self.documents.retain(|path, _| seen.contains(path));
        self.definitions.retain(|path, _| seen.contains(path));
        reading.changed |= self.documents.len() + self.definitions.len() != before;
        // Users see these messages, so the path of the folder is removed.
        let root = format!("{}{}", self.root.display(), std::path::MAIN_SEPARATOR);
        for problem in &mut reading.problems {
            *problem = problem.strip_prefix(&root).unwrap_or(problem).to_owned();
        }
        reading
    }

    fn agent(
        &mut self,
        name: AgentName,
        folder: &Path,
        seen: &mut Vec<PathBuf>,
        reading: &mut Reading,
    ) -> Agent {
        let path = folder.join("agent.toml");
        let definition = if path.is_file() {
            seen.push(path.clone());
            let read = |text: &str| Definition::read(text);
            look_at(&mut self.definitions, &path, read, reading)
        } else {
            None
        };
        let mut agent = definition.unwrap_or_default().agent(name);
        agent.rules = self.documents_in(&folder.join("rules"), seen, reading);
        agent.references = self.documents_in(&folder.join("references"), seen, reading);
        agent
    }

    fn documents_in(
        &mut self,
        folder: &Path,
        seen: &mut Vec<PathBuf>,
        reading: &mut Reading,
    ) -> Vec<Document> {
        let mut documents: Vec<Document> = Vec::new();
        let markdown = |path: &Path| path.extension().is_some_and(|ending| ending == "md");
        for path in entries(folder, FILES_MAX, markdown) {
            seen.push(path.clone());
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let read = |text: &str| header::read(&stem, text);
            let Some(written) = look_at(&mut self.documents, &path, read, reading) else {
                continue;
            };
            let DocumentFile { document, enabled } = written;
            if documents.iter().any(|other| other.name == document.name) {
                let name = &document.name;
                reading.problems.push(format!("{}: there is already a {name}", path.display()));
            } else if enabled {
                documents.push(document);
            }
        }
        documents.sort_by(|one, two| (one.priority, &one.name).cmp(&(two.priority, &two.name)));
        documents
    }
}

/// Content of a file, read again if it changed; its last valid version if it is broken.
fn look_at<T: Clone>(
    kept: &mut BTreeMap<PathBuf, FileState<T>>,
    path: &Path,
    read: impl FnOnce(&str) -> Result<T, String>,
    reading: &mut Reading,
) -> Option<T> {
    let stamp = fs::metadata(path).ok().and_then(|m| Some((m.modified().ok()?, m.len())));
    let entry = kept.entry(path.to_owned()).or_insert_with(|| {
        reading.changed = true;
        FileState { stamp: None, good: None, problem: None }
    });
    if entry.stamp.is_none() || entry.stamp != stamp {
        reading.changed = true;
        match text_of(path).and_then(|text| read(&text)) {
            Ok(good) => (entry.good, entry.problem) = (Some(good), None),
            Err(problem) => entry.problem = Some(format!("{}: {problem}", path.display())),
        }
        entry.stamp = stamp;
    }
    let fate = match entry.good {
        Some(_) => "its last valid version stays in use",
        None => "it is ignored",
    };
    reading.problems.extend(entry.problem.as_ref().map(|problem| format!("{problem}; {fate}")));
    entry.good.clone()
}

fn text_of(path: &Path) -> Result<String, String> {
    let size = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > FILE_BYTES_MAX {
        return Err(format!("it has {size} bytes; the limit is {FILE_BYTES_MAX}"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Entries of a folder that match, sorted by name.
fn entries(folder: &Path, most: usize, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        found.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| wanted(path)).collect();
    paths.sort();
    paths.truncate(most);
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_folder_is_read_and_a_broken_file_keeps_its_last_good_state() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "ops/agent.toml", "description = \"Operations\"\n");
        write(folder.path(), "ops/rules/a.md", "---\npriority: 2\n---\nSecond.");
        write(folder.path(), "ops/rules/b.md", "---\npriority: 1\n---\nFirst.");
        let mut agents = AgentFolder::new(folder.path());
        let reading = agents.look();
        let names =
            |r: &Reading| r.agents[0].rules.iter().map(|d| d.text.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&reading), ["First.", "Second."]);
        assert_eq!(reading.agents[0].description, "Operations");
        assert!(reading.changed && !agents.look().changed);

        write(folder.path(), "ops/rules/a.md", "---\npriority: second\n---\nSecond, changed.");
        let reading = agents.look();
        assert_eq!(names(&reading), ["First.", "Second."]);
        assert_eq!(reading.problems.len(), 1);
        let problem = &reading.problems[0];
        assert!(problem.starts_with("ops/rules/a.md: line 2: priority"), "{problem}");
        assert!(problem.ends_with("; its last valid version stays in use"), "{problem}");
        write(folder.path(), "ops/rules/c.md", "---\nname: c\n---\n");
        let problems = agents.look().problems;
        assert!(problems.contains(&"ops/rules/c.md: it has no text; it is ignored".to_owned()));
        fs::remove_file(folder.path().join("ops/rules/c.md")).unwrap();

        fs::remove_file(folder.path().join("ops/rules/a.md")).unwrap();
        let reading = agents.look();
        assert_eq!(names(&reading), ["First."]);
        assert!(reading.changed && reading.problems.is_empty());
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_agents() {
        assert!(AgentFolder::new("no-such-folder").look().agents.is_empty());
    }
}
