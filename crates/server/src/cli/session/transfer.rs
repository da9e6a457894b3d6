//! `session export` and `session import`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use throughline_engine::engine::{EXPORT_FORMAT, Export};

use super::Format;
use crate::cli::local::{Local, session_id};
use crate::cli::output;
use crate::failure::Failure;
use crate::http::conversations::view::conversation;

/// The largest file that is brought in, in bytes.
const IMPORT_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Writes a session out.
pub async fn export(
    local: &Local,
    session: &str,
    format: Format,
    file: Option<PathBuf>,
) -> Result<(), Failure> {
    let id = session_id(session)?;
    let bytes = match format {
        Format::Json => {
            let export = local.engine.export(&local.caller, &id).await?;
            serde_json::to_vec(&export).unwrap_or_default()
        }
        Format::Markdown => local.engine.export_markdown(&local.caller, &id).await?.into_bytes(),
    };
    let Some(file) = file else {
        return Ok(std::io::stdout().lock().write_all(&bytes)?);
    };
    output::new_file(&file, &bytes)
}

/// Brings a file in: an export of ours, or of a chat product.
pub async fn import(
    local: &Local,
    file: &Path,
    id: Option<String>,
    json: bool,
) -> Result<(), Failure> {
    let text = read(file)?;
    if text.contains(EXPORT_FORMAT) {
        let export: Export = serde_json::from_str(&text).map_err(|error| {
            let what = format!("{} is not an export of ours: {error}", file.display());
            Failure::new(what, "throughline session export SESSION makes one")
        })?;
        let id = id.as_deref().map(session_id).transpose()?;
        let loaded = local.engine.import(&local.caller, export, id).await?;
        if json {
            return output::json(&conversation(&loaded, local.engine.now()));
        }
        let (id, turns) = (&loaded.head.id, loaded.head.turns);
        return output::line(format!("imported session {id} with {turns} turns"));
    }
    if id.is_some() {
        let what = "--id names one session, and this file is of a chat product";
        return Err(Failure::wrong_use(what, "leave --id out; ids follow from the file"));
    }
    let report = local.engine.import_chats(&local.caller, &text, None).await?;
    if json {
        return output::json(&json!(report));
    }
    for chat in &report.imported {
        let title = output::brief(chat.title.as_deref().unwrap_or("-"), 60);
        output::line(format!("{}  {} turns  {title}", chat.session, chat.turns))?;
    }
    for reason in &report.skipped {
        eprintln!("left out: {}", output::plain(reason));
    }
    let (new, there) = (report.imported.len(), report.already_there.len());
    output::line(format!(
        "imported {new}, {there} were there already, {} left out",
        report.skipped.len()
    ))
}

fn read(file: &Path) -> Result<String, Failure> {
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
