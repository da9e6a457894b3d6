//! What tools named in a turn, stored with the session.
//!
//! Invariant: it contains hashes of words, no text.

use serde_json::Value;

use super::forms::{Detail, forms};
use crate::session::record::{CallRecord, TurnKind, TurnRecord};
use crate::session::tool_words::{ToolWords, WordHash};

/// All text a tool returned in one call.
pub(super) fn answered(call: &CallRecord) -> String {
    let json = call.output.as_ref().and_then(|output| output.json.as_ref()).map(Value::to_string);
    format!("{}\n{}", call.result_text(), json.unwrap_or_default())
}

#[derive(Debug, Clone, Default)]
pub struct Named {
    words: Vec<WordHash>,
    closed: Vec<String>,
}

impl Named {
    /// What tools named in a turn. For an imported turn, everything that was said.
    pub fn of(record: &TurnRecord) -> Self {
        let mut named = Self::default();
        for call in &record.calls {
            named.answer(call);
        }
        if record.kind == TurnKind::Imported {
            named.text(&record.message);
            named.text(&record.reply);
        }
        named
    }

    /// The same for a turn of an imported session.
    pub fn of_imported(record: &TurnRecord) -> Self {
        let mut named = Self::of(record);
        named.text(&record.message);
        named.text(&record.reply);
        named
    }

    /// What a tool named in one call.
    pub fn of_call(call: &CallRecord) -> Self {
        let mut named = Self::default();
        named.answer(call);
        named
    }

    fn text(&mut self, text: &str) {
        self.words.extend(forms(text, Detail::Parts).iter().map(|form| WordHash::of(form)));
    }

    pub fn answer(&mut self, call: &CallRecord) {
        let all = forms(&answered(call), Detail::Parts);
        self.words.extend(all.iter().map(|form| WordHash::of(form)));
        if call.closed_world {
            let server = &call.tool.server;
            self.closed.push(server.clone());
            self.words.extend(all.iter().map(|form| WordHash::of_private(server, form)));
        }
    }

    pub fn remember(&self, words: &mut ToolWords) {
        words.extend(self.words.iter().copied());
        self.closed.iter().for_each(|server| words.close(server));
    }
}
