//! Settings from the environment: `THROUGHLINE_SECTION__KEY`, and the variables of earlier systems.
//!
//! Invariant: `Debug` shows names only, never a value.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::SecretString;
use toml::Value;

use super::layers::{Layers, Origin, truth};
use crate::failure::Failure;

/// Variables that stand for one setting.
const SAME_AS: [(&str, &str); 7] = [
    ("SESSION_MAX_CONVERSATIONS", "limits.query_exchanges"),
    ("MAX_CONVERSATION_LENGTH", "limits.window_turns"),
    ("CONTEXT_CACHE_TTL", "cache.seconds"),
    ("SUMMARIZATION_ENABLED", "limits.summaries"),
    ("SUMMARIZATION_THRESHOLD", "limits.summary_threshold"),
    ("TELEMETRY_ENABLED", "telemetry.enabled"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "telemetry.otlp_endpoint"),
];

/// The bucket if the earlier variables name only a server.
const DEFAULT_BUCKET: &str = "sessions";

/// Environment variables.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

impl Environment {
    /// The variables of this process; those that are not UTF-8 are ignored.
    pub fn of_process() -> Self {
        let text = |value: std::ffi::OsString| value.into_string().ok();
        Self(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((text(name)?, text(value)?)))
                .collect(),
        )
    }

    /// These variables, for tests.
    pub fn of<const N: usize>(variables: [(&str, &str); N]) -> Self {
        Self(variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }

    /// A variable; an empty one counts as absent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A variable that holds a secret.
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        self.get(name).map(|value| value.to_owned().into())
    }

    /// All variables, for libraries that read their own.
    pub fn pairs(&self) -> Vec<(String, String)> {
        self.0.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Applies the environment to the layers.
    pub fn apply(&self, layers: &mut Layers) -> Result<(), Failure> {
        self.apply_store(layers)?;
        for (name, path) in SAME_AS {
            if let Some(value) = self.get(name) {
                layers.set_text(path, value, Origin::Environment(name.into()))?;
            }
        }
        self.apply_warning(layers)?;
        for (name, value) in &self.0 {
            let Some(setting) = name.strip_prefix("THROUGHLINE_") else { continue };
            if setting.contains("__") {
                let path = setting.to_ascii_lowercase().replacen("__", ".", 1);
                layers.set_text(&path, value, Origin::Environment(name.clone()))?;
            }
        }
        Ok(())
    }

    /// Applies the earlier variables for the store.
    fn apply_store(&self, layers: &mut Layers) -> Result<(), Failure> {
        let (bucket, endpoint) = (self.get("MINIO_BUCKET_NAME"), self.get("MINIO_ENDPOINT"));
        if let Some(name) =
            bucket.map(|_| "MINIO_BUCKET_NAME").or(endpoint.map(|_| "MINIO_ENDPOINT"))
        {
            let bucket = bucket.unwrap_or(DEFAULT_BUCKET);
            let endpoint = endpoint.unwrap_or("localhost:9000");
            let scheme = if endpoint.contains("://") { "" } else { "http://" };
            let url = format!("s3://{bucket}?endpoint={scheme}{endpoint}");
            layers.set("store.url", Value::from(url), Origin::Environment(name.into()));
        }
        if let Some(folder) = self.get("CONVERSATION_STORAGE_DIR") {
            let origin = Origin::Environment("CONVERSATION_STORAGE_DIR".into());
            layers.set("store.url", Value::from(format!("files:{folder}")), origin);
        }
        if self.switched_off("CONVERSATION_PERSISTENCE_ENABLED")? {
            let origin = Origin::Environment("CONVERSATION_PERSISTENCE_ENABLED".into());
            layers.set("store.url", Value::from("memory:"), origin);
        }
        if self.switched_off("CONVERSATION_AUTO_SAVE")? {
            return Err(Failure::wrong_use(
                "CONVERSATION_AUTO_SAVE is off, but every turn is saved before it is answered",
                "unset it, or use CONVERSATION_PERSISTENCE_ENABLED=false to store nothing",
            ));
        }
        Ok(())
    }

    /// The earlier variable takes a share or a percentage.
    fn apply_warning(&self, layers: &mut Layers) -> Result<(), Failure> {
        let name = "CONTEXT_WINDOW_WARNING_THRESHOLD";
        let Some(text) = self.get(name) else { return Ok(()) };
        let share = match text.trim().parse::<f64>() {
            Ok(percent) if percent > 1.0 && percent <= 100.0 => (percent / 100.0).to_string(),
            _ => text.to_owned(),
        };
        layers.set_text("limits.warning_share", &share, Origin::Environment(name.into()))
    }

    fn switched_off(&self, name: &str) -> Result<bool, Failure> {
        match self.get(name).map(|text| (text, truth(text))) {
            None | Some((_, Some(true))) => Ok(false),
            Some((_, Some(false))) => Ok(true),
            Some((text, None)) => Err(Failure::wrong_use(
                format!("{name} is {text:?}; it must be true or false"),
                "correct or unset the variable",
            )),
        }
    }
}
