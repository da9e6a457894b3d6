//! The smaller typed sections.

use std::path::PathBuf;

use serde::Deserialize;
use throughline_engine::id::AgentName;
use throughline_engine::pin::PinPolicy;

/// The section `log`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSettings {
    /// Filter of the log.
    pub filter: String,
    /// Whether to log one JSON object per line.
    pub json: bool,
}

/// The section `store`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// URL of the store.
    pub url: String,
    /// Path of the full-text index; empty for the default.
    pub index: String,
    /// Time limit of a search in it, in seconds.
    pub search_seconds_max: u64,
    /// Lifetime of a session after its last interaction, in seconds; 0 for none.
    pub session_ttl: u64,
    /// Whether this command may create a missing store.
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
    /// Size of the session cache, in bytes.
    pub sessions_bytes: u64,
    /// How long a session stays in the cache, in seconds.
    pub seconds: u64,
    /// Size of the vector cache, in bytes.
    pub vectors_bytes: u64,
    /// Size of the recall caches, in bytes: indexes of sessions and of users, at most half each.
    pub recall_bytes: u64,
    /// Size of the enrichment cache, in bytes.
    pub enrichment_bytes: u64,
    /// How long an enrichment is valid, in seconds.
    pub enrichment_seconds: u64,
    /// How long a look-up is valid, in seconds.
    pub look_up_seconds: u64,
}

/// The section `embedder`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbedderSettings {
    /// Kind of embedder.
    pub kind: EmbedderKind,
    /// Base URL, including the version.
    pub base_url: String,
    /// The provider's name of the model.
    pub model: String,
    /// Variable that holds the key.
    pub api_key_env: String,
    /// Time limit of a request, in seconds.
    pub seconds_max: u64,
}

/// Kind of embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbedderKind {
    /// Built into the binary.
    Embedded,
    /// An OpenAI-compatible endpoint.
    OpenAi,
}

/// The section `tools`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolsSettings {
    /// What to do with new tools.
    pub pin: PinPolicy,
}

/// The section `agents`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentsSettings {
    /// Folder with one subfolder per agent.
    pub folder: PathBuf,
    /// Agent of sessions that name none.
    pub default: AgentName,
    /// Interval of checks for changes, in seconds; 0 for none.
    pub poll_seconds: u64,
}

/// The section `packs`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacksSettings {
    /// Folder of packs.
    pub folder: PathBuf,
}

/// The section `lexicon`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LexiconSettings {
    /// Folder of languages.
    pub folder: PathBuf,
}

/// The section `backups`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSettings {
    /// Where backups are written.
    pub folder: PathBuf,
    /// Number of backups to keep.
    pub keep: usize,
    /// Interval of backups while serving, in hours; 0 for none.
    pub every_hours: u64,
    /// How long replaced stores and purged contexts are kept, in days; 0 for ever.
    pub kept_days: u32,
}

/// The section `telemetry`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Whether metrics are recorded.
    pub enabled: bool,
    /// OTLP/HTTP endpoint for spans; empty for none.
    pub otlp_endpoint: String,
}
