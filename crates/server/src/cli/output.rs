//! Output of commands: JSON, tables, colours, progress.
//!
//! Invariant: text from a store or a tool reaches a terminal without control characters.

use std::io::{IsTerminal, Write};
use std::path::Path;

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) use super::out::line;
use crate::failure::Failure;
pub(super) use throughline_engine::plain_text::plain_text as plain;

/// Prints a value as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    line(json_text(value)?)
}

/// Prints a response as JSON if requested, otherwise with `words`.
pub(super) fn show(
    as_json: bool,
    answer: &Value,
    words: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    if as_json { json(answer) } else { words() }
}

/// A value as JSON.
pub(super) fn json_text(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(error.to_string(), "this is a bug; please report it"))
}

/// Deserialises a response.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(|error| {
        let what = format!("the response does not match this version: {error}");
        Failure::new(what, "use the same version on both sides").coded("other_version")
    })
}

/// A field for people: text as it is, lists with commas, null as a dash.
pub(super) fn field(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::Null => "-".into(),
        Value::String(text) => plain(text),
        Value::Array(all) => {
            let words = all.iter().map(|one| one.as_str().map_or(one.to_string(), str::to_owned));
            plain(&words.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A time for people: to the second, in UTC.
pub(super) fn time(value: &Value, name: &str) -> String {
    let time = field(value, name);
    match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => time,
    }
}

/// The elements of a field; empty if it is not a list.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Prints the fields of an object, one per line; nested objects stay JSON.
pub(super) fn fields(value: &Value) -> Result<(), Failure> {
    let names = value.as_object().into_iter().flat_map(|object| object.keys());
    table(["", ""], names.map(|name| [name.replace('_', " "), field(value, name)]))
}

/// A rule, reference or tool, as it is typed.
pub(super) fn item(item: &Value) -> String {
    let (kind, name) = (field(item, "type"), field(item, "name"));
    match item["serverName"].as_str() {
        Some(server) => format!("{kind} {server}:{name}"),
        None => format!("{kind} {name}"),
    }
}

/// Prints a table.
pub(super) fn table<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<(), Failure> {
    line(table_text(headings, rows))
}

pub(super) fn table_text<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header(headings);
    for row in rows {
        table.add_row(row.map(|cell| plain(&cell)));
    }
    table.to_string()
}

/// Writes a file that must not exist yet.
pub(super) fn new_file(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let open = std::fs::File::options().write(true).create_new(true).open(file);
    open.and_then(|mut open| open.write_all(bytes)).map_err(|error| {
        let what = format!("{} cannot be written: {error}", file.display());
        Failure::new(what, "existing files are not overwritten; choose another name")
    })
}

/// The first line of a text, cut to `characters`.
pub(super) fn brief(text: &str, characters: usize) -> String {
    let first = plain(text.lines().next().unwrap_or_default());
    let more = first.chars().count() > characters || text.lines().nth(1).is_some();
    let mut cut: String = first.chars().take(characters).collect();
    if more {
        cut.push('…');
    }
    cut
}

/// A progress bar on standard error; hidden without a terminal.
pub(super) fn bar(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {eta}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style.progress_chars("=> ")).with_message(what)
}

/// A spinner with a count, for work of unknown length.
pub(super) fn counter(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{spinner} {msg} {pos}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::new_spinner().with_style(style).with_message(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_of_others_do_not_reach_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\r\u{7}c\td"), "a[31mbc\td");
    }

    #[test]
    fn a_long_or_many_lined_text_is_cut_and_says_so() {
        assert_eq!(brief("short", 10), "short");
        assert_eq!(brief("rather long", 6), "rather…");
        assert_eq!(brief("one\ntwo", 10), "one…");
    }
}
