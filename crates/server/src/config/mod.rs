//! What is in force, and from where.
//!
//! Settings come in layers: the compiled-in defaults, a file, the environment, flags. Each value keeps
//! where it came from, so that `config show` can say so and an error can name it. Typed sections are a
//! file a topic.
//!
//! Invariant: a [`Config`] was built from known names only, each of the right type, each number within its range.
//!
//! # Layout
//!
//! - [`layers`]: values with their origins. [`mod@file`], [`environment`]: two of the layers.
//! - [`mod@settings`]: every setting with its default, range and sentence. [`places`]: where the store lies and what belongs to it.
//! - [`server`], [`oauth`], [`models`], [`servers`], [`sections`]: the sections, typed.

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
/// The file that is read when none is named.
pub const FILE_NAME: &str = "throughline.toml";

/// Everything that can be set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where and how to serve.
    pub server: ServerSettings,
    /// Whose access tokens are taken.
    pub oauth: OauthSettings,
    /// What is logged.
    pub log: LogSettings,
    /// Where threads live.
    pub store: StoreSettings,
    /// What stays in memory.
    pub cache: CacheSettings,
    /// Which model serves by default.
    pub models: ModelsSettings,
    /// Models.
    #[serde(default)]
    pub model: Vec<ModelEntry>,
    /// What turns text into vectors.
    pub embedder: EmbedderSettings,
    /// MCP servers by name.
    #[serde(default)]
    pub servers: BTreeMap<String, ServerEntry>,
    /// What becomes of new tools.
    pub tools: ToolsSettings,
    /// Where agents are defined.
    pub agents: AgentsSettings,
    /// Where packs are.
    pub packs: PacksSettings,
    /// Where further languages are.
    pub lexicon: LexiconSettings,
    /// Copies of the store.
    pub backups: BackupSettings,
    /// Counters.
    pub telemetry: TelemetrySettings,
    /// Bounds of conversations.
    pub limits: Limits,
    /// The environment, for the secrets that settings name.
    #[serde(skip)]
    pub environment: Environment,
}

impl Config {
    /// The configuration of this process: defaults, file, environment, and `flags` as pairs of a
    /// setting's path and its value.
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

    /// The defaults, with nothing of this machine: for tests.
    pub fn defaults() -> Result<Self, Failure> {
        Layers::defaults()?.typed()
    }

    /// What types alone do not tell.
    fn check(&self) -> Result<(), Failure> {
        if !self.store.url.is_empty() {
            self.store.url.parse::<throughline_store::StoreUrl>()?;
        }
        self.oauth.check()?;
        models::check(self)?;
        servers::check(&self.servers)
    }
}

/// The file that was named, or the usual one where it is there.
fn present_file(
    named: Option<&Path>,
    environment: &Environment,
) -> Result<Option<PathBuf>, Failure> {
    let named = named.map(Path::to_owned).or(environment.get("THROUGHLINE_CONFIG").map(Into::into));
    match named {
        Some(path) if path.is_file() => Ok(Some(path)),
        Some(path) => Err(Failure::wrong_use(
            format!("there is no configuration file {}", path.display()),
            "throughline config init > throughline.toml makes one",
        )),
        None => {
            let usual = PathBuf::from(FILE_NAME);
            Ok(usual.is_file().then_some(usual))
        }
    }
}

#[cfg(test)]
mod tests;
