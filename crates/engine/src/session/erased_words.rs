//! The words that only the erased turns of a session said, by which texts derived from them are recognised.
//!
//! A text counts as derived from an erased turn if it has a word that no other turn said, names an entity that the
//! turn was about, or repeats one of its texts. What another turn said stays with that turn.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::record::TurnRecord;

/// Minimum words of an erased turn's text for a repetition of it to count as no accident.
const REPEATED_WORDS_MIN: usize = 3;

/// The words of erased turns.
#[derive(Debug, Default)]
pub(super) struct ErasedWords {
    words: BTreeSet<String>,
    names: BTreeSet<String>,
    texts: Vec<String>,
    tools: BTreeSet<String>,
}

impl ErasedWords {
    /// What only `erased` say, and none of `others`. `known` are earlier texts, which have nothing of the erased turns.
    pub(super) fn of<'a>(
        erased: impl Iterator<Item = &'a TurnRecord>,
        others: &[Arc<TurnRecord>],
        known: &[String],
    ) -> Self {
        let (mut words, mut names, mut texts) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let mut tools = BTreeSet::new();
        for record in erased {
            let own = own_texts(record);
            tools.extend(record.calls.iter().map(|call| call.tool.name.clone()));
            names.extend(record.entities.iter().map(|entity| entity.name.to_lowercase()));
            for text in own.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
                words.extend(words_of(text));
                if words_of(text).count() >= REPEATED_WORDS_MIN {
                    texts.push(text.to_lowercase());
                }
            }
        }
        names.remove("");
        for text in others.iter().flat_map(|record| own_texts(record)).chain(known.to_vec()) {
            words_of(&text).for_each(|word| {
                words.remove(&word);
            });
        }
        Self { words, names, texts, tools }
    }

    /// The same without what `text` says itself.
    pub(super) fn besides(&self, text: &str) -> Self {
        let lower = text.to_lowercase();
        let said: BTreeSet<String> = words_of(text).collect();
        let unsaid = |texts: &[&String]| -> Vec<String> {
            texts.iter().filter(|it| !lower.contains(it.as_str())).map(|it| (*it).clone()).collect()
        };
        Self {
            words: self.words.difference(&said).cloned().collect(),
            names: unsaid(&self.names.iter().collect::<Vec<_>>()).into_iter().collect(),
            texts: unsaid(&self.texts.iter().collect::<Vec<_>>()),
            tools: self.tools.clone(),
        }
    }

    /// Whether `text` was derived from an erased turn.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let lower = text.to_lowercase();
        words_of(text).any(|word| self.words.contains(&word))
            || self.names.iter().any(|name| lower.contains(name.as_str()))
            || self.texts.iter().any(|said| lower.contains(said.as_str()))
    }

    /// Whether a value of a call's arguments was; their names are the tool's.
    pub(super) fn are_in_values(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.are_in(text),
            Value::Number(number) => self.are_in(&number.to_string()),
            Value::Array(values) => values.iter().any(|value| self.are_in_values(value)),
            Value::Object(fields) => fields.values().any(|value| self.are_in_values(value)),
            Value::Null | Value::Bool(_) => false,
        }
    }

    /// Whether `text` names a tool that an erased turn called.
    pub(super) fn name_a_tool_in(&self, text: &str) -> bool {
        self.tools.iter().any(|tool| text.contains(tool.as_str()))
    }

    /// Whether a JSON text repeats something of an erased turn; names of entities alone may be in any request.
    pub(super) fn are_in_json(&self, text: &str) -> bool {
        let texts = match serde_json::from_str::<Value>(text) {
            Ok(value) => strings(&value),
            Err(_) => vec![text.to_owned()],
        };
        texts.iter().any(|text| {
            let lower = text.to_lowercase();
            words_of(text).any(|word| self.words.contains(&word))
                || self.texts.iter().any(|said| lower.contains(said.as_str()))
        })
    }
}

/// A turn's own texts: the message, the reply, its calls and what came with it.
pub(super) fn own_texts(record: &TurnRecord) -> Vec<String> {
    let mut texts: Vec<String> = record.messages().into_iter().map(|(_, text)| text).collect();
    for call in &record.calls {
        texts.extend(strings(&call.arguments));
        texts.push(call.said_before.clone());
    }
    texts.extend(record.metadata.iter().flat_map(strings));
    texts
}

/// Every string of a JSON value, keys too.
pub(super) fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.flat_map(|(key, value)| [vec![key.clone()], strings(value)].concat()).collect()
        }
        Value::Number(number) => vec![number.to_string()],
        Value::Null | Value::Bool(_) => Vec::new(),
    }
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn said(message: &str) -> TurnRecord {
        TurnRecord { message: message.into(), ..TurnRecord::erased(1, Timestamp::UNIX_EPOCH) }
    }

    fn check(erased: &str, other: &str, text: &str, expected: bool) {
        let words = ErasedWords::of([said(erased)].iter(), &[Arc::new(said(other))], &[]);
        assert_eq!(words.are_in(text), expected, "{text:?} after {erased:?}, beside {other:?}");
        let json = serde_json::json!({"messages": [text]}).to_string();
        assert_eq!(words.are_in_json(&json), expected, "{json} after {erased:?}");
    }

    #[test]
    fn a_word_that_nobody_else_says_a_repeated_text_and_nothing_else() {
        check("The code is 4711.", "What is the code?", "code=4711", true);
        check("The code is 4711.", "4711 is the code.", "code=4711", false);
        check("It is up now.", "Is it up? Now?", "user: It is up now.", true);
        check("It is.", "Is it?", "user: it is.", false);
        check("The code is 4711.", "", "first\nline\n4711", true);
    }

    #[test]
    fn what_was_known_before_gives_nothing_away() {
        let known = ["You are a careful clerk.".to_owned()];
        let words = ErasedWords::of([said("Are you careful?")].iter(), &[], &known);
        assert!(!words.are_in_json(r#"{"system":"You are a careful clerk."}"#));
    }
}
