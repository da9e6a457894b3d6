//! Taking a session out and bringing it in.
//!
//! The JSON export holds the head and every record as they are stored; importing and exporting again
//! gives the same bytes. Markdown is for people.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::access::{Action, Caller, authorize};
use crate::error::{Error, Result};
use crate::id::SessionId;
use crate::session::LoadedSession;
use crate::session::head::{FORMAT, SessionHead};
use crate::session::record::TurnRecord;
use crate::session::sessions::encode;

use super::Engine;

/// The name of the export's format.
pub const EXPORT_FORMAT: &str = "throughline.session/1";

/// A session outside the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// [`EXPORT_FORMAT`].
    pub format: String,
    /// The head.
    pub head: SessionHead,
    /// The turns.
    pub turns: Vec<TurnRecord>,
}

impl Engine {
    /// A session as a value that [`Engine::import`] takes.
    pub async fn export(&self, caller: &Caller, id: &SessionId) -> Result<Export> {
        let loaded = self.session(caller, id).await?;
        let turns = self.sessions.turns(&loaded, 0..loaded.head.turns).await?;
        Ok(Export {
            format: EXPORT_FORMAT.into(),
            // What is imported is a session of its own.
            head: SessionHead { life: None, ..SessionHead::clone(&loaded.head) },
            turns: turns.iter().map(|turn| TurnRecord::clone(turn)).collect(),
        })
    }

    /// A session in Markdown.
    pub async fn export_markdown(&self, caller: &Caller, id: &SessionId) -> Result<String> {
        let export = self.export(caller, id).await?;
        Ok(markdown(&export))
    }

    /// Brings an exported session in, under its own id or another one.
    pub async fn import(
        &self,
        caller: &Caller,
        export: Export,
        new_id: Option<SessionId>,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        check(&export)?;
        let Export { mut head, turns, .. } = export;
        if let Some(id) = new_id {
            head.id = id;
        }
        let key = caller.session_key(&head.id);
        let log = turns.iter().map(|turn| encode(&key, turn)).collect::<Result<_>>()?;
        self.sessions.create(&key, head, log).await
    }
}

fn check(export: &Export) -> Result<()> {
    if export.format != EXPORT_FORMAT {
        let given = &export.format;
        return Err(Error::invalid("format", format!("{given:?} is not {EXPORT_FORMAT:?}")));
    }
    if export.head.format > FORMAT {
        let given = export.head.format;
        return Err(Error::invalid("head.format", format!("{given} is newer than {FORMAT}")));
    }
    if export.head.turns != export.turns.len() as u64 {
        let (said, there) = (export.head.turns, export.turns.len());
        return Err(Error::invalid("head.turns", format!("it says {said}, there are {there}")));
    }
    for (at, record) in export.turns.iter().enumerate() {
        if record.turn != at as u64 + 1 {
            let reason = format!("number {} stands at place {}", record.turn, at + 1);
            return Err(Error::invalid("turns", reason));
        }
    }
    Ok(())
}

fn markdown(export: &Export) -> String {
    let head = &export.head;
    let mut text = format!("# {}\n\n", head.title.as_deref().unwrap_or(head.id.as_str()));
    let _ =
        writeln!(text, "Session `{}`, {} turns, begun {}.", head.id, head.turns, head.created_at);
    if !head.tags.is_empty() {
        let _ = writeln!(text, "Tags: {}.", head.tags.join(", "));
    }
    for turn in &export.turns {
        let _ = write!(text, "\n## {} · {}\n\n", turn.turn, turn.at);
        for line in turn.message.lines() {
            let _ = writeln!(text, "> {line}");
        }
        for call in &turn.calls {
            let outcome = if call.ok() { "" } else { " (failed)" };
            let _ = write!(text, "\n- `{}` `{}`{outcome}\n", call.tool, call.arguments);
        }
        if !turn.reply.is_empty() {
            let _ = write!(text, "\n{}\n", turn.reply);
        }
        if let Some(error) = &turn.error {
            let _ = write!(text, "\n*{}*\n", error.message);
        }
    }
    text
}
