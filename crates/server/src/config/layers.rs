//! Settings by path, each with its origin.
//!
//! Invariant: every path is in the defaults, or below `model` or `servers`, which take any number of entries.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use throughline_upstream::redact::{Redactor, without_path_tokens};
use toml::{Table, Value};

use super::{Config, DEFAULT_FILE};
use crate::failure::Failure;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The built-in defaults.
    Default,
    /// A line of a file.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A command-line option.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// A setting as shown by `config show`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct EffectiveSetting {
    /// `section.key`.
    pub setting: String,
    /// The value, without secrets.
    pub value: String,
    /// Where it came from.
    pub from: String,
    /// Allowed range of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// Description.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sentence: String,
}

/// All values with their origins.
#[derive(Debug, Clone)]
pub struct Layers {
    values: BTreeMap<String, (Value, Origin)>,
}

impl Layers {
    /// The built-in defaults.
    pub fn defaults() -> Result<Self, Failure> {
        let table: Table = DEFAULT_FILE.parse().map_err(|error: toml::de::Error| {
            Failure::new(format!("the built-in defaults: {}", error.message()), "report this")
        })?;
        let mut values = BTreeMap::new();
        for (section, settings) in table {
            for (key, value) in settings.as_table().cloned().unwrap_or_default() {
                values.insert(format!("{section}.{key}"), (value, Origin::Default));
            }
        }
        Ok(Self { values })
    }

    /// The value at a path, if it is a setting.
    pub fn get(&self, path: &str) -> Option<&Value> {
        self.values.get(path).map(|(value, _)| value)
    }

    /// Where the value at a path came from.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        self.values.get(path).map(|(_, origin)| origin)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Replaces a value.
    pub fn set(&mut self, path: &str, value: Value, origin: Origin) {
        self.values.insert(path.to_owned(), (value, origin));
    }

    /// Replaces a value; `text` is parsed as the default's type.
    pub fn set_text(&mut self, path: &str, text: &str, origin: Origin) -> Result<(), Failure> {
        let Some(default) = self.get(path) else {
            let nearest = nearest(path, self.paths());
            return Err(Failure::wrong_use(
                format!("there is no setting {path} ({origin})"),
                nearest,
            ));
        };
        let wanted = type_name(default);
        let value = match default {
            Value::Integer(_) => text.trim().parse().ok().map(Value::Integer),
            Value::Float(_) => text.trim().parse().ok().map(Value::Float),
            Value::Boolean(_) => truth(text).map(Value::Boolean),
            Value::Array(_) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Some(Value::Array(parts.map(Value::from).collect()))
            }
            _ => Some(Value::from(text)),
        };
        let Some(value) = value else {
            return Err(Failure::wrong_use(
                format!("{path} is {text:?} ({origin}); it must be {wanted}"),
                "see throughline config show for all settings",
            ));
        };
        self.set(path, value, origin);
        Ok(())
    }

    /// The typed configuration.
    pub fn typed(&self) -> Result<Config, Failure> {
        let mut table = Table::new();
        for (path, (value, _)) in &self.values {
            insert(&mut table, path, value.clone());
        }
        Value::Table(table).try_into().map_err(|error: toml::de::Error| {
            let place = self.place_of(&error.to_string());
            Failure::wrong_use(
                format!("the configuration is not valid: {}{place}", error.message()),
                "see throughline config show for all settings and their sources",
            )
        })
    }

    /// The setting named in an error, with its origin.
    fn place_of(&self, error: &str) -> String {
        let named = error.split('`').find_map(|part| Some((part, self.origin(part)?)));
        named.map_or(String::new(), |(path, origin)| format!(", at {path} ({origin})"))
    }

    /// All settings with their origins, for people.
    pub fn shown(&self) -> Vec<EffectiveSetting> {
        let known = super::settings();
        let of = |path: &str| known.iter().find(|setting| setting.name == path);
        let settings = self.values.iter();
        settings
            .map(|(path, (value, origin))| EffectiveSetting {
                setting: path.clone(),
                value: shown_value(path, value),
                from: origin.to_string(),
                range: of(path).and_then(super::Setting::range_text),
                sentence: of(path).map(|setting| setting.sentence.clone()).unwrap_or_default(),
            })
            .collect()
    }
}

fn insert(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

fn shown_value(path: &str, value: &Value) -> String {
    match value {
        Value::String(url) if path == "store.url" => throughline_store::redact::redact(url),
        Value::Table(table) if path.starts_with("servers.") => {
            let names: Vec<&str> = table.keys().map(String::as_str).collect();
            format!(
                "{{ {} }}",
                names.iter().map(|n| format!("{n} = ***")).collect::<Vec<_>>().join(", ")
            )
        }
        Value::String(url) if path.starts_with("servers.") && path.ends_with(".url") => {
            let shown = throughline_store::redact::redact(url);
            Value::from(without_path_tokens(&shown)).to_string()
        }
        Value::Array(arguments) if path.starts_with("servers.") && path.ends_with(".args") => {
            let given: Vec<String> =
                arguments.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect();
            Redactor::default().with_arguments(&given).clean(&value.to_string())
        }
        value => without_passwords(path, value).to_string(),
    }
}

/// The value with the passwords and tokens of its URLs masked, however deep they are.
fn without_passwords(path: &str, value: &Value) -> Value {
    match value {
        Value::String(text) if path.ends_with("url") => {
            Value::from(throughline_store::redact::redact(text))
        }
        Value::Array(values) => {
            Value::Array(values.iter().map(|one| without_passwords(path, one)).collect())
        }
        Value::Table(table) => {
            let masked = table.iter().map(|(key, one)| (key.clone(), without_passwords(key, one)));
            Value::Table(masked.collect())
        }
        value => value.clone(),
    }
}

/// Parses a boolean in any of its usual spellings.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Name of a value's type.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "text",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a time",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

/// "did you mean …", or where to look.
pub(super) fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    let best = known
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .max_by(|(one, _), (two, _)| one.total_cmp(two));
    match best {
        Some((score, name)) if score > 0.8 => format!("did you mean {name}?"),
        _ => "see throughline config init for all settings".into(),
    }
}
