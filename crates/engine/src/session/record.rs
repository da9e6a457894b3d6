//! A turn in the log: the message, the calls, the reply or the error, the receipt.
//!
//! A failed turn is a turn. Records are never rewritten, except by an erasure: it replaces one by an empty record that
//! says so, and removes what was derived from it from the others.
//!
//! Invariant: everything the request was made of can be found until it is erased: in this record's `contents`, in
//! those of an earlier one, or in the turns and facts it names, of this session or another.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::UpstreamFault;
use crate::hash::ContentHash;
use crate::model::Usage;
use crate::piece::HistoryPart;
use crate::receipt::Receipt;
use crate::tool::{ToolName, ToolOutput};

use super::client_body::ClientBody;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// From 1 without gaps.
    pub turn: u64,
    /// When it was said: the time of its commit, unless an application or an import gave another.
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: TurnKind,
    pub message: String,
    pub reply: String,
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: TurnStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
    /// How the reply was made.
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: ReplyForm,
    /// In order, with their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    /// The entities the turn is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<EntityMention>,
    pub tokens: SaidTokens,
    /// Tokens as counted by the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Texts that the receipt refers to and no earlier record stores.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents: BTreeMap<ContentHash, String>,
    /// The request of a drop-in client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_body: Option<ClientBody>,
    /// The id under which that client knows the reply, if its protocol has such ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_reply: Option<String>,
    /// Arbitrary data of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Time until the reply was complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Where that time went, if it was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Whether a model answered without calling any of the tools offered: what it says about the world was not
    /// looked up.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_tool_called: bool,
}

/// How the stage of a model call begins.
pub const MODEL_STAGE: &str = "model ";

/// A part of a turn's time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// `recall`, `model NAME`, `tool SERVER:NAME`, `approval`, `reply` or `commit`.
    pub name: String,
    /// Since the turn began.
    pub start_ms: u64,
    pub took_ms: u64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What made a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// Recorded by an application that calls its own model.
    #[default]
    Recorded,
    Chat,
    /// A query: one tool call, put into words.
    Query,
    /// A request of a drop-in client.
    DropIn,
    /// Imported from elsewhere.
    Imported,
}

impl TurnKind {
    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Chat => "chat",
            Self::Query => "query",
            Self::DropIn => "drop_in",
            Self::Imported => "imported",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    #[default]
    Complete,
    /// With part of a reply; the stream was closed or broke off.
    Partial,
    /// With an error; the message is stored.
    Failed,
    Refused,
    Erased,
}

impl TurnStatus {
    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Erased => "erased",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnError {
    /// A stable name.
    pub code: String,
    pub message: String,
    /// How the model failed, where it was a model; absent in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<UpstreamFault>,
}

impl TurnError {
    /// An error that no model caused.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), cause: None }
    }

    /// The same error, caused by a model that failed in this way.
    pub fn caused_by(self, cause: UpstreamFault) -> Self {
        Self { cause: Some(cause), ..self }
    }
}

/// How a reply was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ReplyForm {
    /// By the application that recorded the turn.
    #[default]
    Caller,
    Model {
        /// `provider/model`.
        model: String,
    },
    /// Without a model.
    Offline {
        /// No model is configured, it failed, or the caller asked for none.
        why: String,
        /// Whether a model was called first and failed: the text is ours, never the assistant's.
        #[serde(default, skip_serializing_if = "is_default")]
        fallback: bool,
        /// The model that failed, as `provider/model`; absent in records of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// By the MCP client's own model (sampling).
    Sampling {
        /// The model named by the client.
        model: String,
    },
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CallRecord {
    pub id: String,
    #[serde(flatten)]
    pub tool: ToolName,
    pub arguments: Value,
    /// `None` if the tool could not be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ToolOutput>,
    /// Why it could not be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The round of the turn, from 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub round: u32,
    /// What the model said before its calls in that round; on the round's first call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_before: String,
    /// Bytes of the result shown to the model, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_bytes: Option<usize>,
    #[serde(default)]
    pub took_ms: u64,
    /// Whether its server says that the tool accesses nothing outside: its results are private.
    #[serde(default, skip_serializing_if = "is_default")]
    pub closed_world: bool,
    /// Whether the outcome is unknown because the server stopped during the call.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outcome_unknown: bool,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

impl CallRecord {
    pub fn ok(&self) -> bool {
        self.output.as_ref().is_some_and(|output| !output.is_error && !output.reports_failure())
    }

    /// The part of the result that the model was shown in the turn itself.
    pub fn shown_text(&self) -> String {
        let text = self.result_text();
        match self.shown_bytes {
            Some(bytes) if bytes < text.len() => {
                let shown = &text[..bytes];
                match self.output.as_ref().and_then(|output| output.whole_characters) {
                    Some(all) => {
                        format!("{shown}\n[cut: {} of {all} characters]", shown.chars().count())
                    }
                    None => format!("{shown}\n[cut: {bytes} of {} bytes]", text.len()),
                }
            }
            _ => text,
        }
    }

    /// The result, or why there is none.
    pub fn result_text(&self) -> String {
        match (&self.output, &self.error) {
            (Some(output), _) => output.told(),
            (None, Some(error)) => error.clone(),
            (None, None) => String::new(),
        }
    }
}

/// A reference to an entity of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityMention {
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    /// Its id in the user's system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How it was recognised: `cue`, `pattern`, `name`, `reference`, `result`…
    pub how: String,
    /// 0–1.
    pub confidence: f32,
}

/// Tokens by our count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SaidTokens {
    pub message: u32,
    pub reply: u32,
    /// Tool calls and their results.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calls: u32,
}

impl TurnRecord {
    /// Why a query failed: its own error, or that of its call.
    pub fn query_error(&self) -> Option<String> {
        let failed = self.calls.last().filter(|call| !call.ok()).map(CallRecord::result_text);
        self.error.as_ref().map(|error| error.message.clone()).or(failed)
    }

    /// Requests that were sent to a model, the first and one after each round of calls. A turn that ended during a round sent
    /// none after it. Turns of older versions have no stages, and count as complete.
    pub fn requests(&self) -> u32 {
        let asked = self.stages.iter().filter(|stage| stage.name.starts_with(MODEL_STAGE)).count();
        match u32::try_from(asked) {
            Ok(0) | Err(_) => self.calls.iter().map(|call| call.round).max().unwrap_or(0) + 1,
            Ok(asked) => asked,
        }
    }

    /// Whether a model may see it later as history. A failed turn stays in the log only: its content is our own
    /// text, or an error's.
    pub fn is_history(&self) -> bool {
        let own = matches!(self.form, ReplyForm::Offline { fallback: true, .. });
        !own && !matches!(self.status, TurnStatus::Failed | TurnStatus::Erased)
    }

    /// Whether a part may be recalled. A reply may not if it is our own text: that of a failed turn, or one without
    /// a model for which no tool gave anything.
    pub fn is_recallable(&self, part: HistoryPart) -> bool {
        let offline = matches!(self.form, ReplyForm::Offline { .. });
        let founded = !offline || self.calls.iter().any(CallRecord::ok);
        part != HistoryPart::Reply || (self.is_history() && founded)
    }

    /// The record that replaces an erased one.
    pub fn erased(turn: u64, at: Timestamp) -> Self {
        Self {
            turn,
            at,
            kind: TurnKind::Recorded,
            message: String::new(),
            reply: String::new(),
            status: TurnStatus::Erased,
            error: None,
            form: ReplyForm::Caller,
            calls: Vec::new(),
            entities: Vec::new(),
            tokens: SaidTokens::default(),
            usage: None,
            receipt: None,
            contents: BTreeMap::new(),
            client_body: None,
            client_reply: None,
            metadata: None,
            took_ms: None,
            stages: Vec::new(),
            no_tool_called: false,
        }
    }

    /// The turn as single messages with their kinds: `query`, `tool_result`, `response`, `error`.
    pub fn messages(&self) -> Vec<(MessageKind, String)> {
        let mut messages = vec![(MessageKind::Query, self.message.clone())];
        messages.extend(self.calls.iter().map(|c| (MessageKind::ToolResult, c.result_text())));
        if !self.reply.is_empty() {
            messages.push((MessageKind::Response, self.reply.clone()));
        }
        if let Some(error) = &self.error {
            messages.push((MessageKind::Error, error.message.clone()));
        }
        messages
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// From the user.
    Query,
    /// From the assistant.
    Response,
    /// From a tool.
    ToolResult,
    Error,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_words_are_not_recalled_and_the_users_are() {
        let answered = TurnRecord {
            status: TurnStatus::Complete,
            ..TurnRecord::erased(1, Timestamp::UNIX_EPOCH)
        };
        let offline =
            |fallback| ReplyForm::Offline { why: "no model".into(), fallback, model: None };
        for (record, recallable) in [
            (answered.clone(), true),
            (TurnRecord { status: TurnStatus::Failed, ..answered.clone() }, false),
            (TurnRecord { form: offline(false), ..answered.clone() }, false),
            (TurnRecord { form: offline(true), ..answered }, false),
        ] {
            assert_eq!(record.is_recallable(HistoryPart::Reply), recallable, "{record:?}");
            assert!(record.is_recallable(HistoryPart::Message));
        }
    }
}
