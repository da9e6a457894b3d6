//! Tool results, and how a long one is cut.
//!
//! A list that is too long keeps its first rows and the total number, so that it stays usable. Wording a result
//! is done elsewhere.
//!
//! Invariant: a result that was cut says so, and how long it was.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: String,
    /// The result as JSON, if the server returned structured content or its text is JSON. If a list was cut, the
    /// first rows, with the total as `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
    /// Whether the server marked it as an error.
    #[serde(default)]
    pub is_error: bool,
    /// Whether it was cut at the output limit.
    #[serde(default)]
    pub truncated: bool,
    /// Characters of the text before it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_characters: Option<u64>,
    /// Images and audio, for the caller of the tool. They are not stored; the text names them.
    #[serde(skip)]
    pub media: Vec<Media>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    pub kind: MediaKind,
    pub mime_type: String,
    /// Base64, as the server sent it.
    pub data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaKind {
    Image,
    Audio,
}

impl ToolOutput {
    /// Cuts the text to at most `bytes_max` bytes, and the JSON to as many.
    pub fn cut(mut self, bytes_max: usize) -> Self {
        let json_size = self.json.as_ref().map_or(0, size);
        if self.text.len() <= bytes_max && json_size <= bytes_max {
            return self;
        }
        self.truncated = true;
        self.whole_characters = self.whole_characters.or(Some(self.text.chars().count() as u64));
        self.text.truncate(self.text.floor_char_boundary(bytes_max));
        if json_size > bytes_max {
            self.json = self.json.and_then(|json| first_rows(json, bytes_max));
        }
        self
    }

    /// The JSON that the result holds: without a library's `{"result": "…"}` around a text, and as a list if each thing
    /// was written by itself.
    pub fn held(&self) -> Option<Cow<'_, Value>> {
        let Some(json) = &self.json else { return written(&self.text).map(Cow::Owned) };
        match self.wrapped() {
            Some(text) => written(text).map(Cow::Owned),
            None => Some(Cow::Borrowed(json)),
        }
    }

    /// The text that the JSON only wraps: under `result`, or the very text of the result under any key.
    fn wrapped(&self) -> Option<&str> {
        let object = self.json.as_ref()?.as_object().filter(|object| object.len() == 1)?;
        let (key, text) = object.iter().next()?;
        let text = text.as_str()?;
        (key == "result" || text.trim() == self.text.trim()).then_some(text)
    }

    /// The text without a library's wrapping.
    pub fn plain_text(&self) -> &str {
        self.wrapped().unwrap_or(&self.text)
    }

    /// Whether the result itself reports a failure that the server did not mark as an error: `{"success":
    /// false}`, or nothing but an error.
    pub fn reports_failure(&self) -> bool {
        let Some(Value::Object(object)) = &self.json else { return false };
        let is = |key: &str, value: bool| object.get(key) == Some(&Value::Bool(value));
        let error = object.get("error").is_some_and(|error| match error {
            Value::String(text) => !text.trim().is_empty(),
            Value::Object(error) => !error.is_empty(),
            _ => false,
        });
        let beside = |(key, value): (&String, &Value)| {
            let frame = ["error", "message", "code", "status", "detail", "details", "hint"];
            value.is_null() || frame.contains(&key.as_str())
        };
        let failed = object.get("status").and_then(Value::as_str);
        let failed = failed.is_some_and(|status| matches!(status, "error" | "failed" | "failure"));
        let only = object.iter().all(beside);
        is("success", false) || failed && only || error && (is("ok", false) || only)
    }

    /// Characters of the text before it was cut.
    pub fn characters(&self) -> u64 {
        self.whole_characters.unwrap_or_else(|| self.text.chars().count() as u64)
    }

    /// The text, and if it was cut, its original length.
    pub fn told(&self) -> String {
        match self.whole_characters {
            Some(all) => {
                let kept = self.text.chars().count();
                format!("{}\n[cut: {kept} of {all} characters]", self.text)
            }
            None => self.text.clone(),
        }
    }
}

/// The JSON of a text: an object, a list, or a list of the objects that follow each other.
fn written(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let read = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut values: Vec<Value> = read.collect::<Result<_, _>>().ok()?;
    match values.len() {
        1 => values.pop(),
        _ => values.iter().all(Value::is_object).then_some(Value::Array(values)),
    }
}

/// The list with as many rows as fit, and `count` for all of them; `None` if it is no list or not even one row
/// fits.
fn first_rows(json: Value, bytes_max: usize) -> Option<Value> {
    let (mut frame, key) = match json {
        Value::Array(rows) => (Map::from_iter([("results".to_owned(), rows.into())]), None),
        Value::Object(object) => {
            let lists = object.iter().filter(|(_, value)| value.is_array());
            let longest = lists.max_by_key(|(_, value)| size(value))?.0.clone();
            (object, Some(longest))
        }
        _ => return None,
    };
    let key = key.unwrap_or_else(|| "results".to_owned());
    let Some(Value::Array(rows)) = frame.insert(key.clone(), Value::Array(Vec::new())) else {
        return None;
    };
    if !frame.get("count").is_some_and(Value::is_u64) {
        frame.insert("count".to_owned(), rows.len().into());
    }
    let mut left = bytes_max.checked_sub(frame_size(&frame))?;
    let mut kept = Vec::new();
    for row in rows {
        let needed = size(&row) + 1;
        if needed > left {
            break;
        }
        left -= needed;
        kept.push(row);
    }
    if kept.is_empty() {
        return None;
    }
    frame.insert(key, Value::Array(kept));
    Some(Value::Object(frame))
}

fn size(json: &Value) -> usize {
    json.to_string().len()
}

fn frame_size(frame: &Map<String, Value>) -> usize {
    serde_json::to_string(frame).map_or(0, |text| text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(json: &Value) -> ToolOutput {
        ToolOutput { text: json.to_string(), json: Some(json.clone()), ..ToolOutput::default() }
    }

    #[test]
    fn a_list_that_is_cut_keeps_its_first_rows_and_the_number_of_all() {
        let rows: Vec<Value> = (0..100).map(|n| json!({"id": n, "name": "x".repeat(50)})).collect();
        for whole in [json!(rows), json!({"next": null, "results": rows})] {
            let cut = output(&whole).cut(1_000);
            let json = cut.json.as_ref().expect("the first rows");
            assert_eq!(json["count"], 100);
            let kept = json["results"].as_array().expect("rows");
            assert!((5..100).contains(&kept.len()), "{}", kept.len());
            assert_eq!(kept[0], rows[0]);
            assert!(json.to_string().len() <= 1_000 && cut.text.len() <= 1_000);
            assert_eq!((cut.truncated, cut.characters()), (true, whole.to_string().len() as u64));
        }
        let counted = json!({"count": 7_000, "results": rows});
        assert_eq!(output(&counted).cut(1_000).json.expect("rows")["count"], 7_000);
    }

    #[test]
    fn json_that_only_wraps_the_text_is_the_text() {
        let wrapped = |json: Value| ToolOutput {
            text: "[FILE] a.txt".into(),
            json: Some(json),
            ..ToolOutput::default()
        };
        for key in ["content", "result"] {
            let output = wrapped(json!({key: "[FILE] a.txt"}));
            assert_eq!((output.held(), output.plain_text()), (None, "[FILE] a.txt"));
        }
        assert!(wrapped(json!({"content": "something else"})).held().is_some());
    }

    #[test]
    fn what_fits_is_left_alone_and_what_is_no_list_is_only_text() {
        let small = output(&json!({"id": 1}));
        assert_eq!(small.clone().cut(1_000), small);
        let long = output(&json!({"text": "ä".repeat(1_000)})).cut(100);
        assert_eq!((long.json.as_ref(), long.characters()), (None, 1_011));
        assert!(long.told().ends_with("of 1011 characters]"), "{}", long.told());
        assert_eq!(long.clone().cut(50).characters(), 1_011, "cut twice");
    }
}
