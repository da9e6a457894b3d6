//! Notes on older turns: what is left of them in the request when the window has moved on.
//!
//! Without a model the notes are sentences of the conversation itself: those that carry facts – names, numbers,
//! dates – chosen by how much of the conversation they cover and how little they repeat, spread over the whole
//! range. A model's notes are made in the background and used from the next compaction on.
//!
//! Invariant: notes claim exactly the range of turns that they were made from; the turns stay in the log.

mod extract;

use std::fmt::Write;
use std::sync::Arc;

use futures::StreamExt;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::failure::{UpstreamError, UpstreamFault};
use crate::history::{self, HistoryTurn};
use crate::model::{Block, Message, Model, ModelEvent, ModelRequest, Role, SystemBlock};
use crate::prompt::{self, quote};
use crate::session::head::Summary;
use crate::session::record::TurnRecord;
use crate::tokens;

/// The longest notes of a model, in tokens.
pub const SUMMARY_TOKENS_MAX: u32 = 800;
/// The most tokens of turns that a model condenses at once.
const MATERIAL_TOKENS_MAX: u32 = 8_000;
/// Who made notes that no model made.
pub const EXTRACTION: &str = "extraction";

/// Notes on `turns` and on what `previous` covers, in at most `tokens_max`; `None` where that is too little for
/// any. Notes that do not reach up to the turns stay as they are.
pub fn condense(
    previous: Option<&Summary>,
    turns: &[HistoryTurn],
    tokens_max: u32,
    now: Timestamp,
) -> Option<Summary> {
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else { return previous.cloned() };
    if let Some(previous) = previous.filter(|previous| previous.to + 1 < first.turn) {
        return Some(previous.clone());
    }
    let text = extract::notes(previous, turns, tokens_max);
    (!text.is_empty()).then(|| Summary {
        from: previous.map_or(first.turn, |previous| previous.from),
        to: last.turn,
        tokens: tokens::count(&text),
        text,
        by: EXTRACTION.into(),
        modelled_to: previous.map_or(0, |previous| previous.modelled_to),
        at: now,
    })
}

/// Condenses by a model.
pub async fn by_model(
    model: &dyn Model,
    previous: Option<&str>,
    turns: &[Arc<TurnRecord>],
) -> Result<String, UpstreamError> {
    let mut material = String::new();
    if let Some(previous) = previous {
        let _ = writeln!(material, "{}", quote("earlier notes", previous));
    }
    let mut room = MATERIAL_TOKENS_MAX;
    for turn in turns.iter().filter(|turn| turn.is_history()) {
        let results = history::results_text(turn);
        let origin = format!("turn {}", turn.turn);
        let said = format!("User: {}\n{results}\nAssistant: {}", turn.message, turn.reply);
        // What does not fit is among the earlier notes.
        let tokens = tokens::count(&said);
        if tokens > room {
            break;
        }
        room -= tokens;
        let _ = writeln!(material, "{}", quote(&origin, &said));
    }
    let request = ModelRequest {
        system: vec![SystemBlock {
            text: prompt::SUMMARIZE.trim_end().to_owned(),
            cache_breakpoint: false,
        }],
        messages: vec![Message { role: Role::User, content: vec![Block::text(material)] }],
        tools: Vec::new(),
        reply_tokens_max: SUMMARY_TOKENS_MAX,
        temperature: 0.2,
    };
    let mut stream = model.stream(&request, CancellationToken::new()).await?;
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let ModelEvent::Text(more) = event? {
            text.push_str(&more);
        }
    }
    let text = text.trim().to_owned();
    if text.is_empty() {
        let reason = "it answered nothing";
        return Err(UpstreamError::new(model.name(), UpstreamFault::Malformed, reason));
    }
    Ok(text)
}
