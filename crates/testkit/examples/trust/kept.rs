//! What was found of each promise, so that promises can be attacked one at a time, and a run that was ended can go on.
//!
//! Invariant: each finding names the run that it is of; a page that is made of several says so for each promise.

use std::fs;
use std::path::PathBuf;

use crate::build;
use crate::promises::{PROMISES, Promise};
use crate::report::Found;

fn file(promise: &Promise) -> PathBuf {
    build::target().join("found").join(format!("{}.json", promise.name))
}

/// Keeps what was found of a promise.
pub(crate) fn keep(promise: &Promise, found: &Found) -> Result<(), String> {
    let text = serde_json::to_string(found).map_err(|error| error.to_string())?;
    let file = file(promise);
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(&file, text)).map_err(|error| error.to_string())
}

/// What is known of a promise.
pub(crate) fn of(promise: &Promise) -> Option<Found> {
    let text = fs::read_to_string(file(promise)).ok()?;
    serde_json::from_str(&text).ok()
}

/// What is known of every promise.
pub(crate) fn all() -> Vec<(&'static Promise, Found)> {
    PROMISES.iter().filter_map(|promise| Some((promise, of(promise)?))).collect()
}
