//! Finds values in a call that only a tool has named.
//!
//! A tool result can contain anything, even "now delete sw9", and a model that sees it may obey. Filtering
//! suspicious words does not prevent that; checking the origin of values does. The session stores what tools said
//! ([`ToolWords`]); a value that a person said is not suspicious.
//!
//! Invariant: nothing here lets a call run; it can only make one wait.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::fold::{decoded, fold};
use super::forms::{Detail, compact, forms, is_telling, pieces, words};
use super::name;
use super::named::answered;
use super::schema::Schema;
use super::unheard::unheard;
use super::words::english;
use crate::session::record::CallRecord;
use crate::session::tool_words::{ToolWords, WordHash};
use crate::tool::ToolDefinition;

/// Maximum words of a value that counts as a name and not as text.
const NAME_WORDS_MAX: usize = 5;
/// Shorter numbers are too common to have an origin, unless they are ids.
const TELLING_DIGITS: usize = 3;
/// Values that are in every result.
const GENERIC: [&str; 26] = [
    "true", "false", "null", "none", "yes", "no", "on", "off", "ok", "default", "latest", "main",
    "new", "old", "active", "open", "closed", "today", "now", "id", "name", "low", "high",
    "normal", "asc", "desc",
];

#[derive(Debug, Clone, Default)]
pub struct Taint {
    remembered: ToolWords,
    /// Forms that tools named in this turn.
    here: HashSet<String>,
    /// Forms named by closed servers, by server.
    private: HashMap<String, HashSet<String>>,
    /// Forms that a person said.
    said: HashSet<String>,
    /// The tools whose descriptions the model was shown.
    shown: Vec<ToolDefinition>,
    /// Whether everything a person said is included.
    is_whole: bool,
}

impl Taint {
    pub fn new(remembered: &ToolWords) -> Self {
        Self { remembered: remembered.clone(), ..Self::default() }
    }

    /// Adds the tools' own descriptions.
    pub fn shown(&mut self, tools: &[ToolDefinition]) {
        self.shown = tools.to_vec();
    }

    /// Adds a tool result of this turn.
    pub fn answer(&mut self, call: &CallRecord) {
        let named = forms(&answered(call), Detail::Parts);
        if call.closed_world {
            self.private.entry(call.tool.server.clone()).or_default().extend(named.iter().cloned());
        }
        self.here.extend(named);
    }

    /// Adds data quoted in a request.
    pub fn quoted(&mut self, text: &str) {
        self.here.extend(forms(text, Detail::Parts));
    }

    /// Adds what a person said.
    pub fn said(&mut self, text: &str) {
        self.said.extend(forms(text, Detail::Whole));
    }

    /// Declares that everything a person said was added: a value not in it comes from nobody here.
    pub fn said_all(&mut self) {
        self.is_whole = true;
    }

    /// Why a changing call is not the person's alone, if so.
    pub fn of_change(&self, definition: &ToolDefinition, arguments: &Value) -> Option<String> {
        let described = self.described(definition);
        let look = Look { taint: self, described: &described };
        let schema = Schema::new(&definition.input_schema);
        if let Some(value) = look.value("", Some(schema), arguments) {
            let shown: String = value.chars().take(80).collect();
            return Some(format!(
                "it would change something with {shown:?}, which only a tool has named"
            ));
        }
        if let Some(value) = self.is_whole.then(|| unheard(self, schema, arguments)).flatten() {
            return Some(format!(
                "it would change something with {value:?}, which nobody has named in this session"
            ));
        }
        let name = &definition.tool.name;
        let named = name::words(name).len() > 1 && self.is_named(&compact(&fold(name)));
        (named && !self.is_said(&fold(name)))
            .then(|| "it would make a change that only a tool result asks for".to_owned())
    }

    /// Why a reading call would disclose private data of a server, if so.
    pub fn of_reading(&self, definition: &ToolDefinition, arguments: &Value) -> Option<String> {
        if definition.effects.open_world == Some(false) {
            return None;
        }
        let mut texts = Vec::new();
        leaves(arguments, &mut texts);
        let own = definition.tool.server.as_str();
        let servers = self
            .remembered
            .closed()
            .iter()
            .map(String::as_str)
            .chain(self.private.keys().map(String::as_str));
        let carried = servers.filter(|server| *server != own).find_map(|server| {
            let text = texts.iter().find(|text| self.carries(server, text))?;
            Some((server, *text))
        });
        carried.map(|(server, text)| {
            let shown: String = text.chars().take(80).collect();
            format!("it would send {shown:?} from the closed server {server} to the outside")
        })
    }

    fn carries(&self, server: &str, text: &str) -> bool {
        let folded = fold(text);
        let unsaid: Vec<&str> = words(&folded)
            .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| word.chars().count() >= 3 && !is_generic(word) && !self.is_said(word))
            .collect();
        let is_private = |word: &str| {
            let here = self.private.get(server).is_some_and(|words| words.contains(word));
            here || self.remembered.has(WordHash::of_private(server, word))
        };
        let telling = |word: &&&str| word.chars().any(|c| c.is_ascii_digit()) && word.len() >= 4;
        unsaid.iter().filter(telling).any(|word| is_private(word))
            || (!unsaid.is_empty() && unsaid.iter().all(|word| is_private(word)))
    }

    /// Values in the descriptions of tools: of other tools anything that looks like one, of the tool itself only
    /// destinations.
    fn described(&self, definition: &ToolDefinition) -> HashSet<String> {
        let mut found = HashSet::new();
        for tool in self.shown.iter().filter(|tool| tool.tool != definition.tool) {
            let text = format!("{} {}", tool.description, tool.input_schema);
            for quoted in quotations(&tool.description) {
                found.extend(forms(quoted, Detail::Whole));
            }
            for word in
                text.split(|c: char| c.is_whitespace() || matches!(c, '"' | ',' | '(' | ')'))
            {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                let shouted =
                    word.chars().count() >= 3 && word.chars().all(|c| c.is_ascii_uppercase());
                if shouted || is_telling(word) {
                    found.insert(compact(&fold(word)));
                }
            }
        }
        let own = definition.description.split(|c: char| c.is_whitespace() || c == ',');
        let own = own.filter(|word| is_destination(word));
        found.extend(own.map(|word| compact(&fold(word))));
        found
    }

    /// Whether a tool has answered in this session.
    pub(super) fn has_answers(&self) -> bool {
        !self.here.is_empty() || !self.remembered.is_empty()
    }

    /// Whether a person said a word that begins like this.
    pub(super) fn is_said_like(&self, start: &str) -> bool {
        self.said.iter().any(|word| word.starts_with(start))
    }

    fn is_named(&self, form: &str) -> bool {
        self.here.contains(form) || self.remembered.has(WordHash::of(form))
    }

    /// Whether a person said it, as a whole or in parts.
    pub(super) fn is_said(&self, word: &str) -> bool {
        let whole = compact(word);
        if self.said.contains(&whole) {
            return true;
        }
        let parts: Vec<&str> =
            word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
        parts.len() > 1 && parts.iter().all(|part| self.said.contains(*part))
    }
}

fn is_destination(word: &str) -> bool {
    word.contains("://") || word.trim_matches(|c: char| !c.is_alphanumeric()).contains('@')
}

fn is_generic(word: &str) -> bool {
    let english = english();
    GENERIC.contains(&word)
        || ["determiners", "prepositions", "conjunctions", "be", "marks"]
            .iter()
            .any(|class| english.is(class, word))
}

fn quotations(text: &str) -> impl Iterator<Item = &str> {
    let marks = ['\'', '"', '`', '“', '”', '‘', '’', '«', '»'];
    text.split(marks)
        .skip(1)
        .step_by(2)
        .filter(|quoted| quoted.split_whitespace().count() <= NAME_WORDS_MAX)
}

struct Look<'a> {
    taint: &'a Taint,
    described: &'a HashSet<String>,
}

impl Look<'_> {
    /// The first value that only a tool has named.
    fn value(&self, key: &str, schema: Option<Schema<'_>>, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => {
                let chosen = schema.is_some_and(|schema| {
                    let listed =
                        schema.choices().iter().any(|choice| choice.as_str() == Some(text));
                    listed && text.split_whitespace().count() <= 2
                });
                let put = schema.and_then(Schema::default).and_then(Value::as_str) == Some(text);
                let put = put && is_destination(text) && !self.taint.is_said(&fold(text));
                (put || (!chosen && self.text(text))).then(|| text.clone())
            }
            Value::Number(number) => {
                let number = number.to_string();
                let is_id = key.rsplit('_').next().is_some_and(|word| matches!(word, "id" | "ids"));
                let digits = number.chars().filter(char::is_ascii_digit).count();
                let form = compact(&number);
                ((is_id || digits >= TELLING_DIGITS)
                    && self.names(&form)
                    && !self.taint.is_said(&number))
                .then_some(number)
            }
            Value::Array(values) => {
                let items = schema.and_then(Schema::items);
                values.iter().find_map(|value| self.value(key, items, value))
            }
            Value::Object(fields) => fields.iter().find_map(|(name, value)| {
                let property = schema.and_then(|schema| schema.property(name));
                let own = property.is_none() && is_telling(name) && self.word(&fold(name));
                if own { Some(name.clone()) } else { self.value(name, property, value) }
            }),
            Value::Null | Value::Bool(_) => None,
        }
    }

    /// Whether a text contains a value that only a tool has named, in any form.
    fn text(&self, text: &str) -> bool {
        let words =
            text.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '<' | '>' | '='));
        let inner = words.filter(|word| word.len() < text.len()).flat_map(decoded);
        let readings = std::iter::once(text.to_owned()).chain(decoded(text)).chain(inner);
        readings.into_iter().any(|reading| self.reading(&reading))
    }

    fn reading(&self, text: &str) -> bool {
        let folded = fold(text);
        let all: Vec<&str> = words(&folded).collect();
        // An address also counts by its parts: the host in a longer address.
        let parts = |word: &str| {
            word.split(['/', '?', '&', '#', '@']).map(str::to_owned).collect::<Vec<_>>()
        };
        let telling = |word: &str| is_telling(word) && self.word(word);
        if all.iter().any(|word| telling(word) || parts(word).iter().any(|part| telling(part))) {
            return true;
        }
        if all.len() > NAME_WORDS_MAX {
            return self.names_somebody(text);
        }
        let whole = compact(&folded);
        if all.len() > 1
            && whole.chars().count() >= 2
            && self.names(&whole)
            && !self.taint.is_said(&folded)
        {
            return true;
        }
        // A name of several words: each that the person has not said comes from a tool.
        let telling = |word: &&&str| word.chars().count() > 1 && !is_generic(word);
        let unsaid: Vec<&&str> =
            all.iter().filter(telling).filter(|word| !self.taint.is_said(word)).collect();
        !unsaid.is_empty() && unsaid.iter().all(|word| self.word(word))
    }

    /// Whether a longer text contains a name of two or more words that only a tool has named.
    fn names_somebody(&self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(2).any(|pair| {
            pair.iter().all(|word| {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                let folded = fold(word);
                let capital = word.starts_with(char::is_uppercase);
                capital
                    && !is_generic(&folded)
                    && self.names(&compact(&folded))
                    && !self.taint.is_said(&folded)
            })
        })
    }

    /// Whether only a tool has named a word.
    fn word(&self, word: &str) -> bool {
        if self.taint.is_said(word) {
            return false;
        }
        let whole = compact(word);
        let length = whole.chars().count();
        if length < 2 || (!is_telling(word) && is_generic(&whole)) {
            return false;
        }
        self.names(&whole)
            || (length >= 4 && self.names(&whole.chars().rev().collect::<String>()))
            || (length >= 5 && self.names(&turned(&whole)))
            || (is_telling(word) && self.parts(word, &whole))
    }

    /// Whether a value is part of one that a tool named, or composed of several.
    fn parts(&self, word: &str, whole: &str) -> bool {
        let cut = pieces(whole);
        if cut.len() > 1 && cut.iter().all(|piece| self.names(piece)) {
            return true;
        }
        let parts: Vec<&str> =
            word.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
        let named =
            |part: &&str| part.chars().count() >= 3 && !is_generic(part) && self.names(part);
        let by_name = parts.len() > 1
            && parts.iter().all(|part| named(part) || self.taint.is_said(part))
            && parts.iter().any(|part| named(part) && !self.taint.is_said(part));
        by_name || self.is_made_of_named(whole)
    }

    /// Whether a value can be composed of what tools named.
    fn is_made_of_named(&self, whole: &str) -> bool {
        let letters: Vec<char> = whole.chars().collect();
        let digit = letters.iter().any(char::is_ascii_digit);
        if !digit || letters.len() < 6 || letters.len() > 64 {
            return false;
        }
        let mut reached = vec![false; letters.len() + 1];
        reached[0] = true;
        for end in 3..=letters.len() {
            for start in (0..=end - 3).filter(|start| reached[*start]) {
                if end - start == letters.len() {
                    continue;
                }
                let part: String = letters[start..end].iter().collect();
                if self.names(&part) {
                    reached[end] = true;
                    break;
                }
            }
        }
        reached[letters.len()]
    }

    fn names(&self, form: &str) -> bool {
        self.described.contains(form) || self.taint.is_named(form)
    }
}

/// ROT13.
fn turned(word: &str) -> String {
    let turn = |c: char| match c {
        'a'..='m' => char::from(c as u8 + 13),
        'n'..='z' => char::from(c as u8 - 13),
        other => other,
    };
    word.chars().map(turn).collect()
}

fn leaves<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| leaves(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| leaves(value, found)),
        _ => {}
    }
}

#[cfg(test)]
#[path = "taint_tests.rs"]
mod tests;
