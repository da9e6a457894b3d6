//! All settings with default, range and description, read from the built-in configuration file.
//!
//! Each setting has a comment above it, which for a number ends with its range, `[least, most]`. In the
//! examples of `[[model]]` and `[servers.NAME]` the comment follows the value. `config check`, `config init`
//! and the documentation use the same lines, so a setting is described in one place.
//!
//! Invariant: every number has a range that contains its default; a test checks this.

use toml::Value;

use super::layers::Layers;
use super::{DEFAULT_FILE, layers};
use crate::failure::Failure;

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Setting {
    /// `section.key`; `model.key` and `servers.key` for the fields of entries.
    pub name: String,
    /// Default, as written in the file.
    pub default: String,
    /// Range of a number.
    pub range: Option<(f64, f64)>,
    /// Description.
    pub sentence: String,
}

impl Setting {
    /// The range in words.
    pub fn range_text(&self) -> Option<String> {
        let whole = !self.default.contains('.');
        let text = |number: f64| if whole { format!("{number:.0}") } else { format!("{number:?}") };
        self.range.map(|(least, most)| format!("{} to {}", text(least), text(most)))
    }
}

/// All settings.
pub fn all() -> Vec<Setting> {
    let mut settings = Vec::new();
    let (mut section, mut comment) = (String::new(), Vec::new());
    for line in DEFAULT_FILE.lines() {
        let heading = line.trim_start_matches("# ");
        let section_of = || heading.strip_prefix('[')?.strip_suffix(']');
        if let Some(name) = example(heading).or_else(section_of).filter(|name| is_key(name)) {
            section = name.to_owned();
            comment.clear();
        } else if let Some(inner) = line.strip_prefix("# ") {
            match inner.split_once(" = ").filter(|(key, _)| is_key(key) && is_example(&section)) {
                Some((key, rest)) => {
                    let (default, sentence) = rest.split_once(" # ").unwrap_or((rest, ""));
                    settings.push(setting(&section, key, default.trim(), sentence.trim()));
                }
                None => comment.push(inner.trim()),
            }
        } else if let Some((key, default)) = line.split_once(" = ") {
            settings.push(setting(&section, key, default, &comment.join(" ")));
            comment.clear();
        } else {
            comment.clear();
        }
    }
    settings
}

/// The section of an example entry: `[[model]]`, `[servers.inventory]`.
fn example(heading: &str) -> Option<&str> {
    let name = heading.strip_prefix('[')?.strip_suffix(']')?;
    match name.strip_prefix('[') {
        Some(name) => name.strip_suffix(']'),
        None => name.split_once('.').map(|(section, _)| section),
    }
}

fn is_example(section: &str) -> bool {
    matches!(section, "model" | "servers")
}

fn is_key(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

fn setting(section: &str, key: &str, default: &str, text: &str) -> Setting {
    let (sentence, range) = match text.rsplit_once('[').filter(|(_, rest)| rest.ends_with(']')) {
        Some((sentence, range)) => (sentence.trim_end(), read_range(range.trim_end_matches(']'))),
        None => (text, None),
    };
    Setting {
        name: format!("{section}.{key}"),
        default: default.to_owned(),
        range,
        sentence: sentence.to_owned(),
    }
}

fn read_range(text: &str) -> Option<(f64, f64)> {
    let (least, most) = text.split_once(", ")?;
    Some((least.parse().ok()?, most.parse().ok()?))
}

/// Rejects a number out of its range, with name, value and origin.
pub(super) fn check(layers: &Layers) -> Result<(), Failure> {
    let settings = all();
    for path in layers.paths() {
        let Some(value) = layers.get(path) else { continue };
        match (path, value) {
            ("model", Value::Array(entries)) => {
                for (place, entry) in entries.iter().enumerate() {
                    for (key, value) in entry.as_table().into_iter().flatten() {
                        let shown = format!("model.{place}.{key}");
                        within(&settings, layers, path, &format!("model.{key}"), &shown, value)?;
                    }
                }
            }
            _ => {
                let mut parts = path.split('.');
                let name = match (parts.next(), parts.next(), parts.next()) {
                    (Some("servers"), Some(_), Some(key)) => format!("servers.{key}"),
                    _ => path.to_owned(),
                };
                within(&settings, layers, path, &name, path, value)?;
            }
        }
    }
    Ok(())
}

fn within(
    settings: &[Setting],
    layers: &Layers,
    path: &str,
    name: &str,
    shown: &str,
    value: &Value,
) -> Result<(), Failure> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "ranges are far below what a float holds exactly"
    )]
    let number = match value {
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        _ => return Ok(()),
    };
    let Some(setting) = settings.iter().find(|setting| setting.name == name) else { return Ok(()) };
    let Some((least, most)) = setting.range else { return Ok(()) };
    if (least..=most).contains(&number) {
        return Ok(());
    }
    let origin = layers.origin(path).unwrap_or(&layers::Origin::Default);
    let range = setting.range_text().unwrap_or_default();
    Err(Failure::wrong_use(
        format!("{shown} is {value} ({origin}); it must be {range}"),
        setting.sentence.clone(),
    ))
}

/// The settings as a document.
pub fn document() -> String {
    let mut text = include_str!("configuration.md").to_owned();
    let mut section = String::new();
    for setting in all() {
        let (of, key) = setting.name.split_once('.').unwrap_or(("", &setting.name));
        if of != section {
            of.clone_into(&mut section);
            let heading = match of {
                "model" => "[[model]]".to_owned(),
                "servers" => "[servers.NAME]".to_owned(),
                _ => format!("[{of}]"),
            };
            text.push_str(&format!(
                "\n## `{heading}`\n\n| setting | default | range | |\n|---|---|---|---|\n"
            ));
        }
        let range = setting.range_text().unwrap_or_default();
        let sentence = setting.sentence.replace('|', "\\|");
        text.push_str(&format!("| `{key}` | `{}` | {range} | {sentence} |\n", setting.default));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_range_that_its_default_is_in() {
        let settings = all();
        assert!(settings.len() > 60, "{} settings", settings.len());
        for setting in &settings {
            let Ok(default) = setting.default.parse::<f64>() else { continue };
            let Some((least, most)) = setting.range else {
                panic!("{} has no range: end its comment with [least, most]", setting.name)
            };
            assert!((least..=most).contains(&default), "{setting:?}");
            assert!(
                !setting.sentence.is_empty()
                    || is_example(setting.name.split('.').next().unwrap_or_default()),
                "{setting:?}"
            );
        }
    }

    #[test]
    fn every_setting_is_in_the_table() {
        let known = all();
        let layers = Layers::defaults().unwrap();
        for path in layers.paths() {
            assert!(known.iter().any(|setting| setting.name == path), "{path}");
        }
        let template = |name: &str, entry: toml::Table| {
            for key in entry.keys() {
                let name = format!("{name}.{key}");
                assert!(known.iter().any(|setting| setting.name == name), "{name}");
            }
        };
        template("model", toml::Table::try_from(super::super::ModelEntry::default()).unwrap());
        template("servers", toml::Table::try_from(super::super::ServerEntry::default()).unwrap());
    }

    #[test]
    fn the_document_is_what_the_table_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
            std::fs::write(path, document()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == document(),
            "run this test with UPDATE_DOCUMENTS=1, and read docs/configuration.md"
        );
    }
}
