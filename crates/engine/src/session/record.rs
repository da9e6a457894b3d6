//! One turn, as the log keeps it: the message, the calls, the reply or the error, the receipt.
//!
//! A failed turn is a turn. Records are never rewritten; erasing replaces one by an empty record that
//! says so.
//!
//! Invariant: whatever the request of this turn was made of can be found: in this record's `contents`, in
//! those of an earlier one, or in the words of the turns it quotes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hash::ContentHash;
use crate::model::Usage;
use crate::receipt::Receipt;
use crate::tool::{ToolName, ToolOutput};

use super::client_body::ClientBody;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Its number, from 1 without gaps.
    pub turn: u64,
    /// When it was committed.
    pub at: Timestamp,
    /// What made it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: TurnKind,
    /// What the user said.
    pub message: String,
    /// What the assistant said.
    pub reply: String,
    /// How it ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub status: TurnStatus,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
    /// How the reply came about.
    #[serde(default, skip_serializing_if = "is_default")]
    pub form: ReplyForm,
    /// Tool calls with their results, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    /// Things the turn is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<EntityMention>,
    /// Tokens of message and reply.
    pub tokens: SaidTokens,
    /// Tokens as the provider counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the request was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<Receipt>,
    /// Texts that the receipt names and no earlier record keeps.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contents: BTreeMap<ContentHash, String>,
    /// What a model client sent, for a turn of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_body: Option<ClientBody>,
    /// Whatever the caller wants to keep with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// How long the reply took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Whether a model answered without calling any of the tools that it was offered: what it says of the
    /// world, also that something is not there, was looked up by nobody.
    #[serde(default, skip_serializing_if = "is_default")]
    pub no_tool_called: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What made a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// Told to us by an application that calls its own model.
    #[default]
    Recorded,
    /// A chat turn.
    Chat,
    /// A query: one tool, worded.
    Query,
    /// A request of an unchanged model client.
    DropIn,
    /// TurnInput in from elsewhere.
    Imported,
}

impl TurnKind {
    /// Its name, as it is stored.
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

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// With a reply.
    #[default]
    Complete,
    /// With a part of a reply; the stream was closed or broke.
    Partial,
    /// With an error; the message is kept.
    Failed,
    /// A call was not approved.
    Refused,
    /// Its content was erased.
    Erased,
}

impl TurnStatus {
    /// Its name, as it is stored.
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

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnError {
    /// A stable name.
    pub code: String,
    /// What happened.
    pub message: String,
}

/// How a reply came about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ReplyForm {
    /// The application that recorded the turn.
    #[default]
    Caller,
    Model {
        /// `provider/model`.
        model: String,
    },
    /// The way without a model.
    Offline {
        /// Why: none configured, or it failed.
        why: String,
        /// Whether a model was asked first and failed: the words are our own, never the assistant's.
        #[serde(default, skip_serializing_if = "is_default")]
        fallback: bool,
    },
    /// The MCP client's own model, by sampling.
    Sampling {
        /// What the client said it used.
        model: String,
    },
}

/// A tool call with its result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CallRecord {
    /// The call's id.
    pub id: String,
    #[serde(flatten)]
    pub tool: ToolName,
    pub arguments: Value,
    /// What the tool answered; absent when it could not be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<ToolOutput>,
    /// Why it could not be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Which round of the turn it was made in, from 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub round: u32,
    /// What the model said before its calls in that round; on the round's first call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said_before: String,
    /// Bytes of the answer that the model was shown, where that was not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_bytes: Option<usize>,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub took_ms: u64,
    /// Whether its server says that the tool looks at nothing outside: what it answers is private.
    #[serde(default, skip_serializing_if = "is_default")]
    pub closed_world: bool,
    /// Whether nobody knows what came of it: the server stopped while the call was under way.
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
    /// Whether the call succeeded.
    pub fn ok(&self) -> bool {
        self.output.as_ref().is_some_and(|output| !output.is_error && !output.reports_failure())
    }

    /// What the model was shown of the answer in the turn itself.
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

    /// What the tool answered, or why it did not.
    pub fn result_text(&self) -> String {
        match (&self.output, &self.error) {
            (Some(output), _) => output.told(),
            (None, Some(error)) => error.clone(),
            (None, None) => String::new(),
        }
    }
}

/// A thing that a turn is about, in brief.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityMention {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    pub name: String,
    /// Its id in the user's system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How it was understood: `cue`, `pattern`, `name`, `reference`, `result`…
    pub how: String,
    /// 0–1.
    pub confidence: f32,
}

/// Tokens of what was said, by our count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SaidTokens {
    /// The message's.
    pub message: u32,
    /// The reply's.
    pub reply: u32,
}

impl TurnRecord {
    /// Why a query did not succeed: its own error, or that of the call that it made.
    pub fn query_error(&self) -> Option<String> {
        let failed = self.calls.last().filter(|call| !call.ok()).map(CallRecord::result_text);
        self.error.as_ref().map(|error| error.message.clone()).or(failed)
    }

    /// Whether a model may be shown it later as something that was said. A failed turn stays in the log and
    /// out of the history: what it holds is our own words, or an error's.
    pub fn is_history(&self) -> bool {
        let own = matches!(self.form, ReplyForm::Offline { fallback: true, .. });
        !own && !matches!(self.status, TurnStatus::Failed | TurnStatus::Erased)
    }

    /// The record that stands in for an erased one.
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
            metadata: None,
            took_ms: None,
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

/// What a single message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// From the user.
    Query,
    /// From the assistant.
    Response,
    /// From a tool.
    ToolResult,
    /// What went wrong.
    Error,
}
