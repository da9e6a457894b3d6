//! Normalises the JSON Schema of parameters.
//!
//! References are followed, the first alternative that is not null is taken, nested objects are split into
//! parameters. Values are converted here too; text that does not fit a shape has no value.
//!
//! Invariant: a schema deeper or wider than the limits is cut, never followed without end.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::lexicon;
use crate::search::words::stems;

/// Maximum depth of references and objects.
const DEPTH_MAX: usize = 6;
/// Maximum parameters per tool.
const SLOTS_MAX: usize = 64;
/// Shorter words are compared as they are: few letters are left of them.
const INFLECTED_BYTES_MIN: usize = 7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Integer,
    Number,
    Flag,
    /// An object without properties, which no text is.
    Object,
    /// No type.
    Any,
}

/// A parameter or a part of one.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    /// Where the value goes; `[]` is the only element of a list.
    pub path: Vec<String>,
    pub form: Form,
    pub many: bool,
    pub choices: Vec<Value>,
    /// Values that only descriptions name; there may be others.
    pub hints: Vec<Value>,
    pub format: Option<String>,
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub required: bool,
    pub description: String,
}

impl Shape {
    pub(super) fn name(&self) -> &str {
        self.path.iter().rev().find(|part| *part != "[]").map_or("", String::as_str)
    }

    /// The value of a text, if it fits.
    pub(super) fn value(&self, text: &str) -> Option<Value> {
        if !self.choices.is_empty() {
            return self.choice(text).cloned();
        }
        let value = match self.form {
            Form::Integer => Value::from(written(text).parse::<i64>().ok()?),
            Form::Number => Value::from(written(text).parse::<f64>().ok()?),
            Form::Flag => Value::from(text.parse::<bool>().ok()?),
            Form::Object => return None,
            Form::Text | Form::Any => Value::from(text),
        };
        let number = value.as_f64().unwrap_or_default();
        let low = self.minimum.is_some_and(|minimum| number < minimum);
        let high = self.maximum.is_some_and(|maximum| number > maximum);
        (!value.is_number() || !(low || high)).then_some(value)
    }

    /// The choice that a word or phrase names: as written, in the plural, with other separators, as another way to
    /// write a unit of measurement, or as another form of a long word; of the last two if only one choice is.
    pub(super) fn choice(&self, text: &str) -> Option<&Value> {
        let wanted = plain(text);
        let singular = lexicon::english().singular(&wanted);
        let own = |choice: &Value| plain(choice.as_str().unwrap_or(&choice.to_string()));
        let named = self.choices.iter().chain(&self.hints).find(|choice| {
            let choice = own(choice);
            choice == wanted || choice == singular
        });
        let one = |same: &dyn Fn(&str) -> bool| {
            let mut fitting = self.choices.iter().filter(|choice| same(&own(choice)));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        let measured = || {
            let measure = lexicon::measure(&wanted)?;
            one(&|choice| lexicon::measure(choice) == Some(measure))
        };
        // "decommissioned" for "decommissioning"
        let inflected = || {
            let is_long = wanted.len() >= INFLECTED_BYTES_MIN && !wanted.contains(' ');
            let stem = is_long.then(|| stems(&wanted))?;
            one(&|choice| choice.len() >= INFLECTED_BYTES_MIN && stems(choice) == stem)
        };
        named.or_else(measured).or_else(inflected)
    }

    pub(super) fn choices_shown(&self) -> String {
        let shown =
            |choice: &Value| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
        self.choices.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

/// A number in plain digits: "25k" and "25,000" are 25000.
pub(super) fn written(text: &str) -> Cow<'_, str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let thousands = text.strip_suffix(['k', 'K']).filter(|count| digits(count));
    if let Some(count) = thousands {
        return format!("{count}000").into();
    }
    let mut groups = text.split(',');
    let first = groups.next().unwrap_or_default();
    let grouped = digits(first) && first.len() <= 3 && text.contains(',');
    match grouped && groups.all(|group| digits(group) && group.len() == 3) {
        true => text.replace(',', "").into(),
        false => text.into(),
    }
}

/// Lower case, with one space per separator.
pub(super) fn plain(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '_' | '-'));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

pub(super) fn shapes(schema: &Value) -> Vec<Shape> {
    let mut found = Vec::new();
    take_apart(schema, schema, &[], true, 0, &mut found);
    found.truncate(SLOTS_MAX);
    found
}

fn take_apart(
    schema: &Value,
    root: &Value,
    path: &[String],
    required: bool,
    depth: usize,
    found: &mut Vec<Shape>,
) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let needed: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, written) in properties {
        let needed = required && needed.contains(&name.as_str());
        let mut path = path.to_vec();
        path.push(name.clone());
        let resolved = resolve(written, root, depth);
        let items = resolved.get("items").map(|items| resolve(items, root, depth + 1));
        let inner = match (&items, resolved.get("properties")) {
            (Some(items), _) if items.contains_key("properties") => {
                path.push("[]".into());
                Some(Value::Object(items.clone()))
            }
            (_, Some(_)) => Some(Value::Object(resolved.clone())),
            _ => None,
        };
        match inner {
            Some(inner) if depth < DEPTH_MAX && found.len() < SLOTS_MAX => {
                take_apart(&inner, root, &path, needed, depth + 1, found);
            }
            _ => found.push(shape(path, &resolved, items.as_ref(), needed)),
        }
    }
}

fn shape(
    path: Vec<String>,
    schema: &Map<String, Value>,
    items: Option<&Map<String, Value>>,
    required: bool,
) -> Shape {
    let own = items.unwrap_or(schema);
    let kind = own.get("type").and_then(Value::as_str);
    let text = |key: &str| schema.get(key).or_else(|| own.get(key)).and_then(Value::as_str);
    let choices = own.get("enum").and_then(Value::as_array).cloned();
    let fixed = own.get("const").map(|only| vec![only.clone()]);
    let choices = choices.or(fixed).or_else(|| {
        let described = quoted_words(text("description").unwrap_or_default());
        (kind == Some("string") && described.len() > 1).then_some(described)
    });
    Shape {
        path,
        form: match kind {
            Some("string") => Form::Text,
            Some("integer") => Form::Integer,
            Some("number") => Form::Number,
            Some("boolean") => Form::Flag,
            Some("object") => Form::Object,
            _ => Form::Any,
        },
        many: schema.get("type").and_then(Value::as_str) == Some("array"),
        hints: Vec::new(),
        choices: choices.unwrap_or_default().into_iter().filter(|c| !c.is_null()).collect(),
        format: text("format").map(str::to_owned),
        minimum: own.get("minimum").and_then(Value::as_f64),
        maximum: own.get("maximum").and_then(Value::as_f64),
        required,
        description: text("description").unwrap_or_default().to_owned(),
    }
}

/// The single words quoted in a description: "('local'), remote branches ('remote')".
fn quoted_words(description: &str) -> Vec<Value> {
    let quoted = description.split('\'').skip(1).step_by(2);
    let word = |text: &&str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    };
    let mut words: Vec<Value> = Vec::new();
    for text in quoted.filter(word) {
        if !words.contains(&Value::from(text)) {
            words.push(text.into());
        }
    }
    words
}

/// Resolves references and takes the first alternative that is not null.
fn resolve(schema: &Value, root: &Value, depth: usize) -> Map<String, Value> {
    let Some(own) = schema.as_object() else { return Map::new() };
    let mut merged = own.clone();
    if depth >= DEPTH_MAX {
        return merged;
    }
    let referred = own.get("$ref").and_then(Value::as_str).and_then(|to| {
        let pointer = to.strip_prefix('#')?;
        root.pointer(pointer)
    });
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| own.get(*key)?.as_array());
    let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) != Some("null");
    let taken = referred.or_else(|| alternatives?.iter().find(is_null));
    for (key, value) in taken.map(|taken| resolve(taken, root, depth + 1)).into_iter().flatten() {
        merged.entry(key).or_insert(value);
    }
    // `"type": ["string", "null"]`
    if let Some(kinds) = own.get("type").and_then(Value::as_array)
        && let Some(kind) = kinds.iter().find(|kind| kind.as_str() != Some("null"))
    {
        merged.insert("type".into(), kind.clone());
    }
    merged
}

pub(super) fn get<'a>(arguments: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(arguments.get(first)?, |value, step| match step.as_str() {
        "[]" => value.get(0),
        key => value.get(key),
    })
}

pub(super) fn put(arguments: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    match rest {
        [] => {
            arguments.insert(first.clone(), value);
        }
        [list, inner @ ..] if list == "[]" => {
            let list = arguments.entry(first.clone()).or_insert_with(|| Value::Array(vec![]));
            let Some(list) = list.as_array_mut() else { return };
            if list.is_empty() {
                list.push(Value::Object(Map::new()));
            }
            if let Some(object) = list[0].as_object_mut() {
                put(object, inner, value);
            }
        }
        rest => {
            let inner = arguments.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
            if let Some(object) = inner.as_object_mut() {
                put(object, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn another_form_of_a_long_word_is_that_choice_if_it_is_the_only_one() {
        let choices = ["active", "decommissioning", "planned", "planning", "failed"];
        let schema = json!({"properties": {"status": {"type": "string", "enum": choices}}});
        let shape = shapes(&schema).remove(0);
        let choice = |text: &str| shape.choice(text).and_then(Value::as_str);
        assert_eq!(choice("decommissioned"), Some("decommissioning"));
        assert_eq!(choice("planned"), Some("planned"));
        assert_eq!(choice("failing"), None, "it is short");
        assert_eq!(choice("decommissioned racks"), None);
        assert_eq!(choice("plannings"), Some("planning"));
    }

    #[test]
    fn nullable_referred_and_nested_parameters_are_seen_as_what_they_are() {
        let schema = json!({"$defs": {"Position": {"type": "object", "required": ["rack"], "properties": {
                "rack": {"type": "string"}, "unit": {"type": "integer", "minimum": 1}}}},
            "required": ["name", "entities"], "properties": {
                "name": {"type": "string"},
                "status": {"anyOf": [{"type": "string", "enum": ["active", "off-line"]}, {"type": "null"}], "default": null},
                "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
                "due": {"type": ["string", "null"], "format": "date"},
                "position": {"$ref": "#/$defs/Position"},
                "entities": {"type": "array", "items": {"type": "object", "required": ["kind"],
                    "properties": {"kind": {"type": "string"}}}}}});
        let shown: Vec<String> = shapes(&schema)
            .iter()
            .map(|s| {
                format!("{} {:?} many={} needed={}", s.path.join("."), s.form, s.many, s.required)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "name Text many=false needed=true",
                "status Text many=false needed=false",
                "tags Text many=true needed=false",
                "due Text many=false needed=false",
                "position.rack Text many=false needed=false",
                "position.unit Integer many=false needed=false",
                "entities.[].kind Text many=false needed=true",
            ]
        );
        let status = &shapes(&schema)[1];
        assert_eq!(status.value("Off line"), Some(json!("off-line")));
        assert_eq!(status.value("broken"), None);
        assert_eq!(status.choices_shown(), "active, off-line");
        let unit = &shapes(&schema)[5];
        assert_eq!(unit.value("25k"), Some(json!(25_000)));
        assert_eq!(unit.value("1,250"), Some(json!(1250)));
        assert_eq!(unit.value("1,25"), None);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({"properties": {"a": {"$ref": "#/properties/a"}, "b": {"$ref": "#"}}});
        assert!(shapes(&schema).len() < SLOTS_MAX);
    }

    #[test]
    fn values_are_put_where_their_path_says() {
        let mut arguments = Map::new();
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        put(&mut arguments, &path("entities.[].name"), json!("x"));
        put(&mut arguments, &path("entities.[].kind"), json!("y"));
        put(&mut arguments, &path("position.rack"), json!("r1"));
        let expected =
            json!({"entities": [{"name": "x", "kind": "y"}], "position": {"rack": "r1"}});
        assert_eq!(Value::Object(arguments), expected);
    }
}
