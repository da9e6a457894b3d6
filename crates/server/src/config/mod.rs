//! What is in force, and from where.
//!
//! A file a topic; the defaults are `default.toml`, compiled in.

mod server;

use std::path::Path;

use serde::Deserialize;
use throughline_engine::limits::Limits;

pub use server::ServerSettings;

use crate::failure::Failure;

/// The commented defaults, as `config init` prints them.
pub const DEFAULT_FILE: &str = include_str!("../../config/default.toml");

/// Everything that can be set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where and how to serve.
    pub server: ServerSettings,
    /// Where threads live.
    pub store: StoreSettings,
    /// Bounds of conversations.
    pub limits: Limits,
}

/// Where threads live.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSettings {
    /// The store's URL.
    pub url: String,
}

impl Config {
    /// The configuration from its layers.
    pub fn load(_file: Option<&Path>) -> Result<Self, Failure> {
        toml::from_str(DEFAULT_FILE)
            .map_err(|error| Failure::new(error.to_string(), "run throughline config check"))
    }
}
