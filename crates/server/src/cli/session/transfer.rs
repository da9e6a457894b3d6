//! `session export` and `session import`.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Format;
use crate::cli::api::{Api, Call, Named};
use crate::cli::local::session_id;
use crate::cli::out;
use crate::cli::output::{self, field};
use crate::failure::Failure;

/// Largest file to import, in bytes.
const IMPORT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Exports a session.
pub(super) async fn export(
    api: &Api,
    session: &str,
    format: Format,
    file: Option<PathBuf>,
    json: bool,
) -> Result<(), Failure> {
    let id = api.id(Named::Session, session).await?;
    let name = match format {
        Format::Json => "json",
        Format::Markdown => "markdown",
    };
    let call = Call::get(&["conversations", &id, "export"]).with("format", name);
    let bytes = api.bytes(call).await?;
    match (file, format, json) {
        (Some(file), _, true) => {
            output::new_file(&file, &bytes)?;
            output::json(&json!({"session": id, "file": file, "bytes": bytes.len()}))
        }
        (Some(file), _, false) => output::new_file(&file, &bytes),
        (None, Format::Markdown, true) => {
            output::json(&json!({"session": id, "markdown": String::from_utf8_lossy(&bytes)}))
        }
        // What somebody wrote must not give orders to a terminal.
        (None, _, _) if std::io::stdout().is_terminal() => {
            out::text(output::plain(&String::from_utf8_lossy(&bytes)))
        }
        (None, _, _) => out::bytes(&bytes),
    }
}

/// Imports an export of Throughline or of a chat product.
pub(crate) async fn import(
    api: &Api,
    file: &Path,
    format: Option<String>,
    id: Option<String>,
    json: bool,
) -> Result<(), Failure> {
    let text = read(file)?;
    if let Some(id) = &id {
        session_id(id)?;
    }
    let kind = match serde_json::from_str::<&serde_json::value::RawValue>(&text) {
        Ok(_) => "application/json",
        Err(_) => "text/markdown",
    };
    let call = Call::post(&["import"]).with_any("id", id).with_any("format", format);
    let report = api.json(call.document(kind, text)).await?;
    if json {
        return output::json(&report);
    }
    if report["imported"].is_null() {
        let (id, turns) = (field(&report, "id"), field(&report, "turns"));
        return output::line(format!("imported session {id} with {turns} turns"));
    }
    let (new, skipped) = (output::list(&report, "imported"), output::list(&report, "skipped"));
    for chat in new {
        let title = output::brief(&field(chat, "title"), 60);
        output::line(format!("{}  {} turns  {title}", field(chat, "id"), field(chat, "turns")))?;
    }
    for reason in skipped.iter().filter_map(Value::as_str) {
        eprintln!("skipped: {}", output::plain(reason));
    }
    let there = output::list(&report, "already_there").len();
    output::line(format!(
        "imported {}, {there} existed already, {} skipped",
        new.len(),
        skipped.len()
    ))
}

/// The text of a file, or of standard input.
pub(crate) fn read(file: &Path) -> Result<String, Failure> {
    let fail = |error: std::io::Error| {
        let what = format!("{} cannot be read: {error}", file.display());
        Failure::new(what, "name a text file, or - for standard input")
    };
    let mut text = String::new();
    let source: Box<dyn Read> = match file.to_str() {
        Some("-") => Box::new(std::io::stdin().lock()),
        _ => Box::new(std::fs::File::open(file).map_err(fail)?),
    };
    source.take(IMPORT_BYTES_MAX + 1).read_to_string(&mut text).map_err(fail)?;
    if text.len() as u64 > IMPORT_BYTES_MAX {
        let what = format!("{} is larger than {IMPORT_BYTES_MAX} bytes", file.display());
        return Err(Failure::new(what, "split it into several files"));
    }
    Ok(text)
}
