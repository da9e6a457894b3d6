//! The smaller sections, typed.

use std::path::PathBuf;

use serde::Deserialize;
use throughline_engine::id::AgentName;
use throughline_engine::pin::PinPolicy;

/// The section `log`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// What is logged.
    pub filter: String,
    /// One JSON object a line.
    pub json: bool,
}

/// The section `store`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// The store's URL.
    pub url: String,
    /// Where the full-text index is kept.
    pub index: String,
    /// How long a search in it may take, in seconds.
    pub search_seconds_max: u64,
    /// Seconds that a session lives after its last interaction.
    pub session_ttl: u64,
    /// Whether this command may make a store that is not there.
    #[serde(skip, default = "yes")]
    pub create: bool,
}

fn yes() -> bool {
    true
}

/// The section `cache`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// Sessions in memory, in bytes.
    pub sessions_bytes: u64,
    /// How long a session stays in memory.
    pub seconds: u64,
    /// Vectors in memory, in bytes.
    pub vectors_bytes: u64,
    /// What recall searches in memory, in bytes: indexes of sessions and of users, each at most a half.
    pub recall_bytes: u64,
    /// Enrichments in memory, in bytes.
    pub enrichment_bytes: u64,
    /// How long the enrichment of a message holds.
    pub enrichment_seconds: u64,
    /// How long what was looked up holds.
    pub look_up_seconds: u64,
}

/// The section `embedder`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderSettings {
    /// Which embedder.
    pub kind: EmbedderKind,
    /// The address with its version.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// The variable that holds the key.
    pub api_key_env: String,
    /// How long one request may take.
    pub seconds_max: u64,
}

/// An embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderKind {
    /// The one inside the binary.
    Embedded,
    /// An OpenAI-compatible endpoint.
    OpenAi,
}

/// The section `tools`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsSettings {
    /// What becomes of tools that nobody approved yet.
    pub pin: PinPolicy,
}

/// The section `agents`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentsSettings {
    /// A folder with one folder an agent.
    pub folder: PathBuf,
    /// The agent of sessions that name none.
    pub default: AgentName,
    /// How often the folder is looked at.
    pub poll_seconds: u64,
}

/// The section `packs`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacksSettings {
    /// A folder of packs.
    pub folder: PathBuf,
}

/// The section `lexicon`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LexiconSettings {
    /// A folder of languages.
    pub folder: PathBuf,
}

/// The section `backups`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSettings {
    /// Where they are written.
    pub folder: PathBuf,
    /// How many are kept.
    pub keep: usize,
    /// How often one is made while serving.
    pub every_hours: u64,
    /// How long what a restore replaced, and what was purged, is kept.
    pub kept_days: u32,
}

/// The section `telemetry`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Whether anything is counted.
    pub enabled: bool,
    /// Where spans are sent over OTLP/HTTP; nowhere when empty.
    pub otlp_endpoint: String,
}
