//! Views of contexts, presets and reviews, shared by REST and MCP.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use throughline_engine::engine::{ExpiryState, SaidMessage, expiry_state};
use throughline_engine::model::Role;
use throughline_engine::preset::{Advice, Preset, Review};
use throughline_engine::session::LoadedSession;
use utoipa::ToSchema;

/// A session with a persona.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextView {
    /// Id of the context.
    pub id: String,
    /// Display name.
    pub name: String,
    /// System prompt of the persona.
    pub system_prompt: String,
    /// Character of the persona, in a sentence; may be empty.
    pub personality: String,
    /// Sampling temperature, 0–1.
    pub temperature: f64,
    /// Maximum tokens of a reply.
    pub max_tokens: u32,
    /// Maximum tokens of history in a request.
    pub max_history_tokens: u32,
    /// Days from the last interaction until it expires.
    pub expiry_days: u32,
    /// When it was created, in RFC 3339.
    pub created_at: String,
    /// Last turn or change, in RFC 3339.
    pub updated_at: String,
    /// When it expires, in RFC 3339; empty if never.
    pub expires_at: String,
    /// Whether it accepts messages: neither archived nor expired.
    pub is_active: bool,
    /// Whether it has expired.
    pub is_expired: bool,
    /// A warning in the last day, or the last quarter of a shorter life; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry_warning: Option<String>,
    /// Preset it was created from; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset_id: Option<String>,
    /// Tags for filtering.
    pub tags: Vec<String>,
    /// Number of turns, without erased ones.
    pub exchanges: u64,
}

impl ContextView {
    /// The context as of `now`; `None` for a session without a persona.
    pub fn of(loaded: &LoadedSession, now: Timestamp) -> Option<Self> {
        let head = &loaded.head;
        let persona = head.persona.as_ref()?;
        let state = expiry_state(head, now);
        Some(Self {
            id: head.id.to_string(),
            name: persona.name.clone(),
            system_prompt: persona.system_prompt.clone(),
            personality: persona.personality.clone(),
            temperature: plain(persona.temperature),
            max_tokens: persona.reply_tokens_max,
            max_history_tokens: persona.history_tokens_max,
            expiry_days: persona.expiry_days,
            created_at: head.created_at.to_string(),
            updated_at: head.last_activity.to_string(),
            expires_at: head.expires_at.map(|at| at.to_string()).unwrap_or_default(),
            is_active: head.deleted_at.is_none() && state != ExpiryState::Expired,
            is_expired: state == ExpiryState::Expired,
            expiry_warning: expiry_warning(head.expires_at, state, now),
            preset_id: persona.preset.clone(),
            tags: head.tags.clone(),
            exchanges: head.turns - head.erased_turns.min(head.turns),
        })
    }
}

/// A warning if the expiry is near.
pub fn expiry_warning(at: Option<Timestamp>, state: ExpiryState, now: Timestamp) -> Option<String> {
    let at = at.filter(|_| state == ExpiryState::Near)?;
    let left = at.duration_since(now).max(SignedDuration::ZERO);
    // Counted up, so that it is never nothing.
    let within = match left.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", (seconds + 59) / 60),
        seconds => format!("{} h", (seconds + 3_599) / 3_600),
    };
    Some(format!("it expires in {within}, at {at}; any interaction extends it"))
}

/// Rounds as displayed: 0.7 instead of 0.699999988079071.
pub fn plain(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| f64::from(number))
}

/// A message of a context.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// Id of the message: `TURN-user` or `TURN-assistant`.
    pub id: String,
    /// Id of the context.
    pub context_id: String,
    /// `user` or `assistant`.
    pub role: String,
    /// Text of the message.
    pub content: String,
    /// Tokens, by this server's count.
    pub token_count: u32,
    /// When it was said, in RFC 3339.
    pub created_at: String,
}

impl ConversationView {
    /// A message of `context`.
    pub fn of(context: &str, said: SaidMessage) -> Self {
        let role = match said.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        Self {
            id: said.id,
            context_id: context.to_owned(),
            role: role.to_owned(),
            content: said.content,
            token_count: said.tokens,
            created_at: said.at.to_string(),
        }
    }
}

/// A stored persona that contexts can be created from.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PresetView {
    /// Id of the preset.
    pub id: String,
    /// Display name.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// System prompt of the persona.
    pub system_prompt: String,
    /// Character of the persona, in a sentence; may be empty.
    pub default_personality: String,
    /// Settings of contexts created from it.
    pub default_settings: SettingsView,
    /// When it was created, in RFC 3339.
    pub created_at: String,
    /// When it was last changed, in RFC 3339.
    pub updated_at: String,
    /// Whether contexts can be created from it.
    pub is_active: bool,
    /// Whether it is part of Throughline.
    pub is_built_in: bool,
    /// Whether its wording may still change.
    pub experimental: bool,
    /// Arbitrary data of the application.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
}

/// Settings of contexts created from a preset.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    /// Sampling temperature, 0–1.
    pub temperature: f64,
    /// Maximum tokens of a reply.
    pub max_tokens: u32,
    /// Maximum tokens of history in a request.
    pub max_history_tokens: u32,
    /// Days from the last interaction until a context expires.
    pub expiry_days: u32,
}

impl From<Preset> for PresetView {
    fn from(preset: Preset) -> Self {
        let is_built_in = preset.is_built_in();
        Self {
            id: preset.id,
            name: preset.name,
            description: preset.description,
            system_prompt: preset.system_prompt,
            default_personality: preset.personality,
            default_settings: SettingsView {
                temperature: plain(preset.settings.temperature),
                max_tokens: preset.settings.max_tokens,
                max_history_tokens: preset.settings.max_history_tokens,
                expiry_days: preset.settings.expiry_days,
            },
            created_at: preset.created_at.to_string(),
            updated_at: preset.updated_at.to_string(),
            is_active: preset.active,
            is_built_in,
            experimental: preset.experimental,
            metadata: preset.metadata,
        }
    }
}

/// Review of a persona's prompt.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// Score, 0–100.
    pub score: u8,
    /// Whether the prompt can be used as it is: a score of at least 70.
    pub effective: bool,
    /// Suggestions, most important first.
    pub advice: Vec<AdviceView>,
}

/// A suggestion.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdviceView {
    /// What it is about, such as `length`, `role` or `pressure`.
    pub aspect: String,
    /// What to write instead.
    pub advice: String,
}

impl From<Review> for ReviewView {
    fn from(review: Review) -> Self {
        let effective = review.effective();
        let view = |Advice { aspect, advice }| AdviceView { aspect: aspect.to_owned(), advice };
        Self {
            score: review.score,
            effective,
            advice: review.advice.into_iter().map(view).collect(),
        }
    }
}
