//! What answers look like, with the field names of the requirement. REST shows the same.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use throughline_engine::engine::{ExpiryState, SaidMessage, expiry_state};
use throughline_engine::model::Role;
use throughline_engine::preset::{Advice, Preset, Review};
use throughline_engine::session::LoadedSession;
use utoipa::ToSchema;

/// A conversation partner: a session with a persona.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContextView {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The prompt that makes the persona.
    pub system_prompt: String,
    /// The persona's character.
    pub personality: String,
    /// 0.0–1.0.
    pub temperature: f64,
    /// The longest reply, in tokens.
    pub max_tokens: u32,
    /// The most history that is shown, in tokens.
    pub max_history_tokens: u32,
    /// Days from the last interaction until it expires.
    pub expiry_days: u32,
    /// When it was created.
    pub created_at: String,
    /// The last interaction.
    pub updated_at: String,
    /// When it expires.
    pub expires_at: String,
    /// Whether it can be talked to.
    pub is_active: bool,
    /// Whether it has expired.
    pub is_expired: bool,
    /// Set within a day of its expiry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry_warning: Option<String>,
    /// The preset it started from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset_id: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Exchanges so far.
    pub exchanges: u64,
}

impl ContextView {
    /// The context as it is at `now`; `None` for a session without a persona.
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

/// A sentence when the expiry is near.
pub fn expiry_warning(at: Option<Timestamp>, state: ExpiryState, now: Timestamp) -> Option<String> {
    let at = at.filter(|_| state == ExpiryState::Near)?;
    let hours = (at.duration_since(now) + SignedDuration::from_mins(59)).as_hours();
    Some(format!("it expires in {hours} h, at {at}; any interaction extends it"))
}

/// A number as people wrote it: 0.7 and not 0.699999988079071.
pub fn plain(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| f64::from(number))
}

/// A message of a conversation.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// `TURN-user` or `TURN-assistant`.
    pub id: String,
    /// The context it belongs to.
    pub context_id: String,
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub content: String,
    /// Its tokens.
    pub token_count: u32,
    /// When.
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

/// A stored starting point for a persona.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PresetView {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// The prompt that makes the persona.
    pub system_prompt: String,
    /// The persona's character.
    pub default_personality: String,
    /// Settings of contexts made from it.
    pub default_settings: SettingsView,
    /// When it was made.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// Whether it is offered.
    pub is_active: bool,
    /// Whether it comes with the product.
    pub is_built_in: bool,
    /// Whether its wording may still change.
    pub experimental: bool,
    /// Arbitrary data kept with it.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
}

/// Settings that a preset gives.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    /// 0.0–1.0.
    pub temperature: f64,
    /// The longest reply, in tokens.
    pub max_tokens: u32,
    /// The most history, in tokens.
    pub max_history_tokens: u32,
    /// Days until expiry.
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

/// How likely a persona's prompt is to work.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// 0–100.
    pub score: u8,
    /// Whether it is good enough as it is.
    pub effective: bool,
    /// What to change, the weightiest first.
    pub advice: Vec<AdviceView>,
}

/// One thing to change.
#[derive(Debug, Clone, Serialize, JsonSchema, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdviceView {
    /// What it is about: `length`, `role`, `pressure`…
    pub aspect: String,
    /// What to write.
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
