//! The rounds of a turn: the calls that a model asked for, and their results, as messages.
//!
//! A later request shows the rounds of a turn as the last request of that turn did, so that it starts with the same
//! bytes. As a piece they are the JSON of their messages.
//!
//! Invariant: every call is followed by its result, also where results are cut.

use std::collections::BTreeSet;

use crate::model::{Block, Message, Role};
use crate::session::record::{CallRecord, ReplyForm, TurnKind, TurnRecord};
use crate::tool_spec::spec_name;

/// Maximum characters of a result in a new prefix; the log has all of it.
pub const RESULT_CHARACTERS_MAX: usize = 4_000;
/// Longer ids are no provider's.
const ID_BYTES_MAX: usize = 256;

/// Whether a model was sent the calls of a turn.
pub fn were_sent(record: &TurnRecord) -> bool {
    let asked = record.receipt.as_ref().is_some_and(|receipt| !receipt.no_model)
        && matches!(record.kind, TurnKind::Chat | TurnKind::Query)
        && !matches!(record.form, ReplyForm::Offline { .. } | ReplyForm::Sampling { .. });
    let is_id = |id: &str| {
        (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
    };
    asked && !record.calls.is_empty() && record.calls.iter().all(|call| is_id(&call.id))
}

/// Whether the last request of the turn had all of its calls. A turn that was stopped during a round sent none
/// after it.
pub fn ended_in_request(record: &TurnRecord) -> bool {
    let rounds = record.calls.iter().map(|call| call.round).max().unwrap_or(0);
    were_sent(record) && (!answer(record).is_empty() || record.requests() > rounds)
}

/// The messages of each round: what the model said and asked for, then the results.
pub fn messages(calls: &[CallRecord]) -> Vec<Message> {
    let mut messages = Vec::new();
    let rounds: BTreeSet<u32> = calls.iter().map(|call| call.round).collect();
    for round in rounds {
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        for call in calls.iter().filter(|call| call.round == round) {
            if !call.said_before.is_empty() {
                asked.push(Block::text(call.said_before.clone()));
            }
            asked.push(Block::ToolUse {
                id: call.id.clone(),
                name: spec_name(&call.tool),
                input: call.arguments.clone(),
            });
            answered.push(Block::ToolResult {
                id: call.id.clone(),
                content: call.shown_text(),
                is_error: !call.ok(),
            });
        }
        messages.push(Message { role: Role::Assistant, content: asked });
        messages.push(Message { role: Role::User, content: answered });
    }
    messages
}

/// The rounds as the text of a piece.
pub fn text(calls: &[CallRecord]) -> String {
    written(&messages(calls))
}

/// The messages of a piece.
pub fn read(text: &str) -> Vec<Message> {
    serde_json::from_str(text).unwrap_or_default()
}

/// The text of a piece with long results cut; `None` if there are none.
pub fn short(text: &str) -> Option<String> {
    let mut messages = read(text);
    let mut is_cut = false;
    for block in messages.iter_mut().flat_map(|message| &mut message.content) {
        let Block::ToolResult { content, .. } = block else { continue };
        if let Some((end, _)) = content.char_indices().nth(RESULT_CHARACTERS_MAX) {
            let all = content.chars().count();
            content.truncate(end);
            content.push_str(&format!("\n[cut: {RESULT_CHARACTERS_MAX} of {all} characters]"));
            is_cut = true;
        }
    }
    is_cut.then(|| written(&messages))
}

/// What the model said after its last call. The reply has what it said before each round, too.
pub fn answer(record: &TurnRecord) -> &str {
    let mut rest = record.reply.as_str();
    for call in &record.calls {
        rest = rest.strip_prefix(call.said_before.as_str()).unwrap_or(rest);
    }
    rest
}

fn written(messages: &[Message]) -> String {
    serde_json::to_string(messages).expect("messages are plain data")
}
