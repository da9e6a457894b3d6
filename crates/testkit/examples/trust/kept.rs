//! What earlier runs of the same version found, so that promises can be attacked one at a time, or several at once.
//!
//! Invariant: a page never mixes versions, seeds or sizes.

use std::fs;
use std::path::PathBuf;

use crate::build;
use crate::promises::{PROMISES, Promise};
use crate::report::{Facts, Found};

/// Where the findings of runs like this one are.
fn folder(facts: &Facts) -> PathBuf {
    let same =
        facts.iter().filter(|(name, _)| matches!(*name, "version" | "seed" | "size" | "rounds"));
    let name: String = same.map(|(_, value)| format!("{value} ")).collect();
    let name = name.replace(|c: char| !c.is_alphanumeric() && c != '.', "-");
    build::target().join("found").join(name.trim_end_matches('-'))
}

fn file(promise: &Promise, facts: &Facts) -> PathBuf {
    folder(facts).join(format!("{}.json", promise.name))
}

/// Keeps what was found of a promise.
pub fn keep(promise: &Promise, found: &Found, facts: &Facts) -> Result<(), String> {
    let text = serde_json::to_string(found).map_err(|error| error.to_string())?;
    let written =
        fs::create_dir_all(folder(facts)).and_then(|()| fs::write(file(promise, facts), text));
    written.map_err(|error| error.to_string())
}

/// What is known of every promise.
pub fn all(facts: &Facts) -> Vec<(&'static Promise, Found)> {
    let found = |promise: &'static Promise| {
        let text = fs::read_to_string(file(promise, facts)).ok()?;
        Some((promise, serde_json::from_str(&text).ok()?))
    };
    PROMISES.iter().filter_map(found).collect()
}
