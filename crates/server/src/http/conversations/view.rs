//! The view of a session.

use std::collections::VecDeque;

use axum::Json;
use axum::http::{HeaderName, HeaderValue};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use throughline_engine::agent::MemoryScope;
use throughline_engine::engine::expiry_state;
use throughline_engine::entity::Topic;
use throughline_engine::error::Error;
use throughline_engine::item::SessionItem;
use throughline_engine::mode::PromptMode;
use throughline_engine::persona::Persona;
use throughline_engine::receipt::effective;
use throughline_engine::session::LoadedSession;
use throughline_engine::session::head::{
    ForkedFrom, Pruning, SessionHead, Settings, Summary, TokenUsage, ToolExecution,
};
use throughline_engine::session::pending::{AwaitedCall, PendingTurn};
use utoipa::ToSchema;

use crate::http::condition::etag;
use crate::http::problem::Problem;
use crate::http::shapes;
use crate::persona_view::expiry_warning;

/// A response with its version as `ETag`.
pub type Versioned<T> = ([(HeaderName, HeaderValue); 1], Json<T>);

/// A session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Conversation {
    /// Id of the session.
    pub id: String,
    /// Number of commits so far; also the `ETag`.
    pub version: u64,
    /// Number of turns, including erased ones.
    pub turns: u64,
    /// Name of the agent; null for the default agent.
    pub agent: Option<String>,
    /// Title; null if it has none.
    pub title: Option<String>,
    /// Tags for filtering.
    pub tags: Vec<String>,
    /// Whether it accepts turns: neither archived nor expired.
    pub active: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// Last turn or change.
    pub last_activity: Timestamp,
    /// When it was archived; null if it was not.
    pub deleted_at: Option<Timestamp>,
    /// When it expires; null if never.
    pub expires_at: Option<Timestamp>,
    /// A warning in the last day, or the last quarter of a shorter life; null otherwise.
    pub expiry_warning: Option<String>,
    /// Settings of the session.
    pub settings: SettingsBody,
    /// Persona of the assistant; null if it has none.
    pub persona: Option<PersonaBody>,
    /// Rules, references and tools of the session.
    #[schema(value_type = Vec<shapes::SessionItemView>)]
    pub items: Vec<SessionItem>,
    /// What the last turns are about; null if not known.
    #[schema(value_type = Option<shapes::TopicView>)]
    pub topic: Option<Topic>,
    /// Summary of older turns; null if there is none.
    #[schema(value_type = Option<shapes::SummaryView>)]
    pub summary: Option<Summary>,
    /// The last tool calls, at most 20, newest last.
    #[schema(value_type = Vec<shapes::EarlierCall>)]
    pub tool_history: VecDeque<ToolExecution>,
    /// Token counts over the whole session.
    #[schema(value_type = shapes::SessionTokens)]
    pub usage: SessionTokens,
    /// Tokens of the last request, by this server's count.
    pub context_tokens: u32,
    /// Prompt mode of the last turn: `general`, `creation`, `search`, `modification` or `analysis`.
    pub mode: String,
    /// The last requests whose history did not fit, at most 20, newest last.
    #[schema(value_type = Vec<shapes::PruningView>)]
    pub prunings: VecDeque<Pruning>,
    /// Tool calls that wait for approval.
    #[schema(value_type = Vec<shapes::AwaitedCallView>)]
    pub awaiting_approval: Vec<AwaitedCall>,
    /// The turn that waits for those calls; null if none does.
    pub paused: Option<PausedTurn>,
    /// Origin of a forked session; null if it was not forked.
    #[schema(value_type = Option<shapes::ForkedFromView>)]
    pub forked_from: Option<ForkedFrom>,
    /// Number of turns whose content was erased.
    pub erased_turns: u64,
}

/// Token counts of a session, with those that are derived from them.
#[derive(Debug, Serialize)]
pub struct SessionTokens {
    #[serde(flatten)]
    counted: TokenUsage,
    effective_tokens: f64,
    replay_effective_tokens: f64,
}

impl From<TokenUsage> for SessionTokens {
    fn from(counted: TokenUsage) -> Self {
        Self {
            counted,
            effective_tokens: effective(counted.request_tokens, counted.stable_tokens),
            replay_effective_tokens: counted.replay.effective_tokens(),
        }
    }
}

/// A turn that continues once its tool calls are decided.
#[derive(Debug, Serialize, ToSchema)]
pub struct PausedTurn {
    /// The user's message.
    pub message: String,
    /// The reply so far.
    pub said: String,
    /// When it paused.
    pub at: Timestamp,
    /// When it is abandoned if its calls are not decided.
    pub expires_at: Timestamp,
}

/// Settings of a session.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SettingsBody {
    /// Context window in tokens, 256–10000000; default: that of the model or the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u32>,
    /// Fixed prompt mode: `general`, `creation`, `search`, `modification` or `analysis`; default: inferred from
    /// each message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Name of a configured model; default: that of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The user's time zone, an IANA name such as `Europe/Berlin`; default: `limits.timezone`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Scope of recall and memories: `off`, `session`, `agent` or `user`; default: that of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "session")]
    pub memory: Option<MemoryScope>,
    /// Whether nothing of the session is remembered outside of it; default `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Preferences of the user, included in requests as they are.
    #[schema(value_type = Object)]
    pub preferences: Map<String, Value>,
}

/// A persona: the assistant's character and manner.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonaBody {
    /// Display name, 1–200 characters.
    pub name: String,
    /// System prompt, at most 32 KiB.
    #[serde(alias = "systemPrompt")]
    pub system_prompt: String,
    /// Character, in a sentence, at most 32 KiB; default: empty.
    #[serde(default)]
    pub personality: String,
    /// Sampling temperature, 0–1; default: 0.7.
    #[serde(default = "temperature")]
    pub temperature: f32,
    /// Maximum tokens of a reply, 1–200000; default: 1000.
    #[serde(default = "reply_tokens", alias = "maxTokens")]
    pub reply_tokens_max: u32,
    /// Maximum tokens of history in a request, 1–2000000; default: 15000.
    #[serde(default = "history_tokens", alias = "maxHistoryTokens")]
    pub history_tokens_max: u32,
    /// Days from the last interaction until the session expires, 1–3650; default: 7.
    #[serde(default = "expiry_days", alias = "expiryDays")]
    pub expiry_days: u32,
    /// Whether a heated message adds a reminder to stay calm; default `true`.
    #[serde(default = "yes", alias = "keepsCalm")]
    pub keeps_calm: bool,
    /// Preset it was created from; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
}

fn temperature() -> f32 {
    0.7
}
fn reply_tokens() -> u32 {
    1_000
}
fn history_tokens() -> u32 {
    15_000
}
fn expiry_days() -> u32 {
    7
}
fn yes() -> bool {
    true
}

/// The session with its version as `ETag`.
pub fn versioned(loaded: &LoadedSession, now: Timestamp) -> Versioned<Conversation> {
    (etag(loaded.version.number), Json(conversation(loaded, now)))
}

/// The view of a session as of `now`.
pub fn conversation(loaded: &LoadedSession, now: Timestamp) -> Conversation {
    let head: &SessionHead = &loaded.head;
    let pending = head.pending.as_ref().filter(|pending| pending.expires_at > now);
    Conversation {
        id: head.id.to_string(),
        version: loaded.version.number,
        turns: head.turns,
        agent: head.agent.as_ref().map(ToString::to_string),
        title: head.title.clone(),
        tags: head.tags.clone(),
        active: head.deleted_at.is_none() && !head.is_expired(now),
        created_at: head.created_at,
        last_activity: head.last_activity,
        deleted_at: head.deleted_at,
        expires_at: head.expires_at,
        expiry_warning: expiry_warning(head.expires_at, expiry_state(head, now), now),
        settings: SettingsBody::from(&head.settings),
        persona: head.persona.as_ref().map(PersonaBody::from),
        items: head.items.clone(),
        topic: head.entities.topic.clone(),
        summary: head.summary.clone(),
        tool_history: head.tool_history.clone(),
        usage: head.usage.into(),
        context_tokens: head.context_tokens,
        mode: head.mode.as_str().into(),
        prunings: head.prunings.clone(),
        awaiting_approval: pending
            .map(|pending| pending.undecided().cloned().collect())
            .unwrap_or_default(),
        paused: pending.map(|pending| PausedTurn::from(pending.as_ref())),
        forked_from: head.forked_from.clone(),
        erased_turns: head.erased_turns,
    }
}

impl From<&PendingTurn> for PausedTurn {
    fn from(pending: &PendingTurn) -> Self {
        Self {
            message: pending.message.clone(),
            said: pending.said.clone(),
            at: pending.at,
            expires_at: pending.expires_at,
        }
    }
}

impl From<&Settings> for SettingsBody {
    fn from(settings: &Settings) -> Self {
        Self {
            context_tokens: settings.context_tokens,
            mode: settings.mode.map(|mode| mode.as_str().into()),
            model: settings.model.clone(),
            timezone: settings.timezone.clone(),
            memory: settings.memory,
            private: settings.private,
            preferences: settings.preferences.clone(),
        }
    }
}

impl TryFrom<SettingsBody> for Settings {
    type Error = Problem;

    fn try_from(body: SettingsBody) -> Result<Self, Problem> {
        let mode = body.mode.as_deref().map(mode_of).transpose()?;
        if body.context_tokens.is_some_and(|tokens| !(256..=10_000_000).contains(&tokens)) {
            return Err(Problem::invalid("settings.context_tokens", "must be 256-10000000"));
        }
        if let Some(zone) = &body.timezone
            && jiff::tz::TimeZone::get(zone).is_err()
        {
            let reason = format!("{zone:?} is not an IANA time zone such as Europe/Berlin");
            return Err(Problem::invalid("settings.timezone", reason));
        }
        Ok(Self {
            context_tokens: body.context_tokens,
            mode,
            model: body.model,
            timezone: body.timezone,
            memory: body.memory,
            private: body.private,
            preferences: body.preferences,
        })
    }
}

fn mode_of(name: &str) -> Result<PromptMode, Problem> {
    serde_json::from_value(Value::from(name)).map_err(|_| {
        let reason = format!(
            "{:?} is not one of general, creation, search, modification, analysis",
            name.chars().take(40).collect::<String>()
        );
        Error::invalid("settings.mode", reason).into()
    })
}

impl From<&Persona> for PersonaBody {
    fn from(persona: &Persona) -> Self {
        Self {
            name: persona.name.clone(),
            system_prompt: persona.system_prompt.clone(),
            personality: persona.personality.clone(),
            temperature: persona.temperature,
            reply_tokens_max: persona.reply_tokens_max,
            history_tokens_max: persona.history_tokens_max,
            expiry_days: persona.expiry_days,
            keeps_calm: persona.keeps_calm,
            preset: persona.preset.clone(),
        }
    }
}

impl From<PersonaBody> for Persona {
    fn from(body: PersonaBody) -> Self {
        Self {
            name: body.name,
            system_prompt: body.system_prompt,
            personality: body.personality,
            temperature: body.temperature,
            reply_tokens_max: body.reply_tokens_max,
            history_tokens_max: body.history_tokens_max,
            expiry_days: body.expiry_days,
            keeps_calm: body.keeps_calm,
            preset: body.preset,
        }
    }
}
