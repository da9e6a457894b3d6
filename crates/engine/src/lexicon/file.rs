//! The TOML format of a language file.
//!
//! A list is a string of words separated by spaces, or an array whose entries may be phrases.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::class::{Class, Family};
use super::cues::Mode;
use super::say::Say;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LanguageFile {
    pub code: String,
    pub name: String,
    #[serde(default)]
    pub script: Script,
    /// Whether a capital letter inside a sentence indicates a name.
    #[serde(default = "yes")]
    pub names_capitalised: bool,
    #[serde(default)]
    pub words: BTreeMap<Class, List>,
    #[serde(default)]
    pub verbs: BTreeMap<Family, List>,
    /// English nouns of tools, each with its forms in this language: the singular first.
    #[serde(default)]
    pub nouns: BTreeMap<String, List>,
    /// Forms of "last", "first", "second"…
    #[serde(default)]
    pub ordinals: Vec<List>,
    /// "zero", "one", "two"…
    #[serde(default)]
    pub cardinals: List,
    /// "monday", "tuesday"…
    #[serde(default)]
    pub weekdays: Vec<List>,
    /// "january", "february"…
    #[serde(default)]
    pub months: Vec<List>,
    /// Plural endings and their singular; the first match applies.
    #[serde(default)]
    pub plurals: Vec<(String, String)>,
    /// Words that ask for a field by another name.
    #[serde(default)]
    pub fields: BTreeMap<String, List>,
    /// Names of fields that mean the same: "price cost fee".
    #[serde(default)]
    pub synonyms: Vec<List>,
    /// Units of measurement: the English word of each, and how else it is written.
    #[serde(default)]
    pub measures: Vec<List>,
    /// Whether a comma separates the decimals of a number.
    #[serde(default)]
    pub decimal_comma: bool,
    /// Words that ask for the largest or the smallest value of a field.
    #[serde(default)]
    pub orders: Orders,
    /// Degrees, from the lowest to the highest: "low", "normal", "high".
    #[serde(default)]
    pub degrees: List,
    /// English values of fields, each with its forms in this language.
    #[serde(default)]
    pub values: BTreeMap<String, List>,
    #[serde(default)]
    pub asks: CueFile,
    #[serde(default)]
    pub heat: CueFile,
    #[serde(default)]
    pub modes: BTreeMap<Mode, CueFile>,
    /// Phrases to ignore when inferring the mode: "change the subject".
    #[serde(default)]
    pub idioms: List,
    /// Cues that a message asks for words that were said: "what did I say about".
    #[serde(default)]
    pub recounts: List,
    #[serde(default)]
    pub say: BTreeMap<Say, String>,
    #[serde(default)]
    pub review: Review,
}

/// Superlatives by the field that they compare.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Orders {
    #[serde(default)]
    pub most: BTreeMap<String, List>,
    #[serde(default)]
    pub least: BTreeMap<String, List>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Script {
    #[default]
    Spaced,
    /// Japanese.
    Kana,
    /// Chinese.
    Han,
}

/// Groups of cues; see [`super::cue`] for the syntax.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CueFile {
    /// Forms of a question or request: without one, the message is a statement.
    #[serde(default)]
    pub form: List,
    /// One is enough.
    #[serde(default)]
    pub sure: List,
    /// Enough unless something contradicts it.
    #[serde(default)]
    pub likely: List,
    /// Two are enough.
    #[serde(default)]
    pub hint: List,
    /// Contradicts it.
    #[serde(default)]
    pub against: List,
    /// Excludes it.
    #[serde(default)]
    pub never: List,
}

/// Lower-case words used to review a persona's prompt.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Says who the persona is.
    #[serde(default)]
    pub role: List,
    /// Addresses the persona.
    #[serde(default)]
    pub address: List,
    /// Says what to do under pressure.
    #[serde(default)]
    pub pressure: List,
    /// Says what not to do.
    #[serde(default)]
    pub boundary: List,
    /// Placeholders of an unfinished prompt.
    #[serde(default)]
    pub unfinished: List,
    /// A phrase that lets the user change the persona, and what to write instead.
    #[serde(default)]
    pub surrender: Vec<(String, String)>,
    /// Words that contradict each other.
    #[serde(default)]
    pub contradictions: Vec<(List, List)>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(from = "LexiconValue")]
pub struct List(pub Vec<String>);

impl List {
    /// The first entry contained in a text.
    pub fn first_in(&self, text: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|entry| text.contains(entry))
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LexiconValue {
    Text(String),
    Entries(Vec<String>),
}

impl From<LexiconValue> for List {
    fn from(written: LexiconValue) -> Self {
        match written {
            LexiconValue::Text(text) => Self(text.split_whitespace().map(str::to_owned).collect()),
            LexiconValue::Entries(entries) => Self(entries),
        }
    }
}
