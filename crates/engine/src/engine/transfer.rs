//! Exports and imports sessions.
//!
//! The JSON export has the head and all records as stored, without what belongs to the server; importing and
//! exporting again gives the same bytes. Markdown is for people. [`super::import_check`] validates imports.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::access::{Action, Caller, authorize};
use crate::error::Result;
use crate::id::SessionId;
use crate::plain_text::plain_text;
use crate::sabotage::{self, Switch};
use crate::session::LoadedSession;
use crate::session::head::SessionHead;
use crate::session::record::TurnRecord;
use crate::session::sessions::encode;

use super::{Engine, import_check};

pub const EXPORT_FORMAT: &str = "throughline.session/1";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// [`EXPORT_FORMAT`].
    pub format: String,
    pub head: SessionHead,
    pub turns: Vec<TurnRecord>,
}

impl Engine {
    pub async fn export(&self, caller: &Caller, id: &SessionId) -> Result<Export> {
        let loaded = self.session(caller, id).await?;
        let turns = self.sessions.turns(&loaded, 0..loaded.head.turns).await?;
        Ok(Export {
            format: EXPORT_FORMAT.into(),
            head: import_check::portable(SessionHead::clone(&loaded.head)),
            turns: turns.iter().map(|turn| TurnRecord::clone(turn)).collect(),
        })
    }

    pub async fn export_markdown(&self, caller: &Caller, id: &SessionId) -> Result<String> {
        let export = self.export(caller, id).await?;
        Ok(plain_text(&markdown(&export)))
    }

    /// Imports a session under its own id or another one.
    pub async fn import(
        &self,
        caller: &Caller,
        export: Export,
        new_id: Option<SessionId>,
    ) -> Result<LoadedSession> {
        authorize(caller, Action::Write)?;
        let mut head = match sabotage::is(Switch::TrustImports) {
            true => export.head.clone(),
            false => import_check::checked(&export, self.limits())?,
        };
        let turns = export.turns;
        if let Some(id) = new_id {
            head.id = id;
        }
        let key = caller.session_key(&head.id);
        let log = turns.iter().map(|turn| encode(&key, turn)).collect::<Result<_>>()?;
        self.sessions.create(&key, head, log).await
    }
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
