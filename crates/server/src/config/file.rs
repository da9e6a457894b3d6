//! Settings from the file; every name and type is checked against the defaults, and errors name the line.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use super::layers::{Layers, Origin, nearest, type_name};
use super::{ModelEntry, ServerEntry};
use crate::failure::Failure;

/// Reads a file into the layers.
pub(super) fn read(path: &Path, layers: &mut Layers) -> Result<(), Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let what = format!("the configuration file {} cannot be read: {error}", path.display());
        Failure::new(what, "check that it exists and is readable")
    })?;
    let reader = Reader { path, lines: lines(&text, path)? };
    let table: Table = text.parse().map_err(|error| syntax(path, &text, &error))?;
    for (section, value) in table {
        match (section.as_str(), value) {
            ("model", Value::Array(entries)) => reader.models(entries, layers)?,
            ("servers", Value::Table(servers)) => reader.servers(servers, layers)?,
            (_, Value::Table(settings)) => reader.section(&section, settings, layers)?,
            (_, value) => return Err(reader.unknown(&section, &section, sections(layers), &value)),
        }
    }
    Ok(())
}

fn sections(layers: &Layers) -> Vec<String> {
    let mut names: Vec<String> =
        layers.paths().filter_map(|path| Some(path.split_once('.')?.0.to_owned())).collect();
    names.extend(["model".into(), "servers".into()]);
    names.dedup();
    names
}

struct Reader<'a> {
    path: &'a Path,
    lines: BTreeMap<String, usize>,
}

impl Reader<'_> {
    fn origin(&self, path: &str) -> Origin {
        let line = self.lines.get(path).copied().unwrap_or(1);
        Origin::File { path: self.path.to_owned(), line }
    }

    fn section(&self, name: &str, settings: Table, layers: &mut Layers) -> Result<(), Failure> {
        let known = sections(layers);
        if !known.iter().any(|section| section == name) {
            return Err(self.unknown(name, name, known, &Value::Table(settings)));
        }
        for (key, value) in settings {
            let path = format!("{name}.{key}");
            let Some(default) = layers.get(&path) else {
                let prefix = format!("{name}.");
                let keys = layers.paths().filter_map(|path| path.strip_prefix(&prefix));
                let keys = keys.map(str::to_owned).collect();
                return Err(self.unknown(&path, &key, keys, &value));
            };
            let value = self.checked(&path, value, default)?;
            layers.set(&path, value, self.origin(&path));
        }
        Ok(())
    }

    fn models(&self, entries: Vec<Value>, layers: &mut Layers) -> Result<(), Failure> {
        let template = template(&ModelEntry::default());
        let mut checked = Vec::new();
        for (place, entry) in entries.into_iter().enumerate() {
            checked.push(self.entry(&format!("model.{place}"), entry, &template)?);
        }
        layers.set("model", Value::Array(checked), self.origin("model"));
        Ok(())
    }

    fn servers(&self, servers: Table, layers: &mut Layers) -> Result<(), Failure> {
        let template = template(&ServerEntry::default());
        for (name, entry) in servers {
            let path = format!("servers.{name}");
            let Value::Table(fields) = self.entry(&path, entry, &template)? else { continue };
            for (key, value) in fields {
                let path = format!("{path}.{key}");
                let origin = self.origin(&path);
                layers.set(&path, value, origin);
            }
        }
        Ok(())
    }

    /// A table with only fields of the template.
    fn entry(&self, path: &str, entry: Value, template: &Table) -> Result<Value, Failure> {
        let Value::Table(fields) = entry else {
            return Err(self.wrong(path, &entry, "a table"));
        };
        let mut checked = Table::new();
        for (key, value) in fields {
            let place = format!("{path}.{key}");
            let Some(default) = template.get(&key) else {
                let known = template.keys().cloned().collect();
                return Err(self.unknown(&place, &key, known, &value));
            };
            checked.insert(key, self.checked(&place, value, default)?);
        }
        Ok(Value::Table(checked))
    }

    /// The value, if it has the default's type. A whole number is also a number.
    fn checked(&self, path: &str, value: Value, default: &Value) -> Result<Value, Failure> {
        #[expect(clippy::cast_precision_loss, reason = "settings are small numbers")]
        match (value, default) {
            (Value::Integer(number), Value::Float(_)) => Ok(Value::Float(number as f64)),
            (value, default) if value.type_str() == default.type_str() => Ok(value),
            (value, default) => Err(self.wrong(path, &value, type_name(default))),
        }
    }

    fn wrong(&self, path: &str, value: &Value, wanted: &str) -> Failure {
        Failure::wrong_use(
            format!("{}: {path} is {}; it must be {wanted}", self.origin(path), type_name(value)),
            "see throughline config init for all settings and defaults",
        )
    }

    fn unknown(&self, path: &str, key: &str, known: Vec<String>, _: &Value) -> Failure {
        Failure::wrong_use(
            format!("{}: there is no setting {path}", self.origin(path)),
            nearest(key, known.iter().map(String::as_str)),
        )
    }
}

fn template(default: &impl serde::Serialize) -> Table {
    Table::try_from(default).expect("an entry's defaults are a table")
}

/// Line numbers by path.
fn lines(text: &str, path: &Path) -> Result<BTreeMap<String, usize>, Failure> {
    let table = DeTable::parse(text).map_err(|error| syntax(path, text, &error))?;
    let mut lines = BTreeMap::new();
    walk(text, "", table.get_ref(), &mut lines);
    Ok(lines)
}

fn walk(text: &str, prefix: &str, table: &DeTable<'_>, lines: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let path = match prefix {
            "" => key.get_ref().to_string(),
            prefix => format!("{prefix}.{}", key.get_ref()),
        };
        lines.entry(path.clone()).or_insert_with(|| line_at(text, key.span().start));
        deeper(text, &path, value, lines);
    }
}

fn deeper(
    text: &str,
    path: &str,
    value: &Spanned<DeValue<'_>>,
    lines: &mut BTreeMap<String, usize>,
) {
    match value.get_ref() {
        DeValue::Table(inner) => walk(text, path, inner, lines),
        DeValue::Array(entries) => {
            for (place, entry) in entries.iter().enumerate() {
                deeper(text, &format!("{path}.{place}"), entry, lines);
            }
        }
        _ => {}
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let line = error.span().map_or(1, |span| line_at(text, span.start));
    Failure::wrong_use(
        format!("{}:{line}: {}", path.display(), error.message()),
        "the file must be TOML; see throughline config init for an example",
    )
}
