//! The configuration and its sources.
//!
//! Settings come in layers: built-in defaults, a file, the environment, options. Each value keeps its origin
//! for `config show` and error messages. There is one file per topic of typed sections.
//!
//! Invariant: a [`Config`] has known names only, each of the right type, each number within its range.
//!
//! # Layout
//!
//! - [`layers`]: values with their origins. [`mod@file`], [`environment`]: two of the layers.
//! - [`mod@settings`]: every setting with default, range and description. [`places`]: paths of the store and
//!   its companions.
//! - [`server`], [`oauth`], [`models`], [`servers`], [`sections`]: the typed sections.

mod environment;
mod file;
mod layers;
mod models;
mod oauth;
mod places;
mod sections;
mod server;
mod servers;
mod settings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use throughline_engine::limits::Limits;

pub use environment::Environment;
pub use layers::{EffectiveSetting, Layers, Origin};
pub use models::{ModelEntry, ModelsSettings};
pub use oauth::{OauthSettings, is_safe as is_safe_address};
pub use sections::{
    AgentsSettings, BackupSettings, CacheSettings, EmbedderKind, EmbedderSettings, LexiconSettings,
    LogSettings, PacksSettings, StoreSettings, TelemetrySettings, ToolsSettings,
};
pub use server::ServerSettings;
pub use servers::ServerEntry;
pub use settings::{Setting, all as settings, document as settings_document};

use crate::failure::Failure;

/// The commented defaults, as `config init` prints them.
pub const DEFAULT_FILE: &str = include_str!("../../config/default.toml");
/// File that is read if none is named.
pub const FILE_NAME: &str = "throughline.toml";

/// All settings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Address and limits of the server.
    pub server: ServerSettings,
    /// Accepted access tokens.
    pub oauth: OauthSettings,
    /// Logging.
    pub log: LogSettings,
    pub store: StoreSettings,
    pub cache: CacheSettings,
    /// Default model.
    pub models: ModelsSettings,
    /// Configured models.
    #[serde(default)]
    pub model: Vec<ModelEntry>,
    pub embedder: EmbedderSettings,
    /// MCP servers by name.
    #[serde(default)]
    pub servers: BTreeMap<String, ServerEntry>,
    /// Approval of new tools.
    pub tools: ToolsSettings,
    /// Folder of agents.
    pub agents: AgentsSettings,
    /// Folder of packs.
    pub packs: PacksSettings,
    /// Folder of further languages.
    pub lexicon: LexiconSettings,
    pub backups: BackupSettings,
    /// Metrics and traces.
    pub telemetry: TelemetrySettings,
    /// Limits of conversations.
    pub limits: Limits,
    /// The environment, for secrets that settings name.
    #[serde(skip)]
    pub environment: Environment,
}

impl Config {
    /// The configuration of this process: defaults, file, environment, and `flags` as pairs of path and value.
    pub fn load(
        file: Option<&Path>,
        environment: Environment,
        flags: &[(&str, String)],
    ) -> Result<(Self, Layers), Failure> {
        let mut layers = Layers::defaults()?;
        if let Some(path) = present_file(file, &environment)? {
            file::read(&path, &mut layers)?;
        }
        environment.apply(&mut layers)?;
        for (path, value) in flags {
            layers.set_text(path, value, Origin::Flag)?;
        }
        settings::check(&layers)?;
        places::resolve(&mut layers, &environment)?;
        let mut config = layers.typed()?;
        config.environment = environment;
        config.check()?;
        Ok((config, layers))
    }

    /// The defaults, independent of this machine, for tests.
    pub fn defaults() -> Result<Self, Failure> {
        Layers::defaults()?.typed()
    }

    /// Checks that types cannot express.
    fn check(&self) -> Result<(), Failure> {
        if !self.store.url.is_empty() {
            self.store.url.parse::<throughline_store::StoreUrl>()?;
        }
        let Limits { compact_at, compact_to, .. } = self.limits;
        if compact_to >= compact_at {
            return Err(Failure::wrong_use(
                format!(
                    "limits.compact_to is {compact_to}; it must be below limits.compact_at, which is {compact_at}"
                ),
                "a compaction frees what lies between the two; the defaults are 0.15 and 0.7",
            ));
        }
        self.oauth.check()?;
        models::check(self)?;
        servers::check(&self.servers)
    }
}

/// The named file, or the usual one if it exists.
fn present_file(
    named: Option<&Path>,
    environment: &Environment,
) -> Result<Option<PathBuf>, Failure> {
    let named = named.map(Path::to_owned).or(environment.get("THROUGHLINE_CONFIG").map(Into::into));
    match named {
        Some(path) if path.is_file() => Ok(Some(path)),
        Some(path) => Err(Failure::wrong_use(
            format!("there is no configuration file {}", path.display()),
            "create one with throughline config init > throughline.toml",
        )),
        None => {
            let usual = PathBuf::from(FILE_NAME);
            Ok(usual.is_file().then_some(usual))
        }
    }
}

#[cfg(test)]
mod tests;
