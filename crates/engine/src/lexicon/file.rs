//! A language as it is written: the shape of the TOML file.
//!
//! A list is one text with words between spaces, or an array whose entries may be phrases.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::class::{Class, Family, Say};
use super::cues::Mode;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LanguageFile {
    pub code: String,
    pub name: String,
    #[serde(default)]
    pub script: Script,
    /// Whether a capital letter inside a sentence is a sign of a name.
    #[serde(default = "yes")]
    pub names_capitalised: bool,
    #[serde(default)]
    pub words: BTreeMap<Class, List>,
    #[serde(default)]
    pub verbs: BTreeMap<Family, List>,
    /// Forms of "last", "first", "second"…
    #[serde(default)]
    pub ordinals: Vec<List>,
    /// "zero", "one", "two"…
    #[serde(default)]
    pub cardinals: List,
    /// Endings of plurals and what stands there in the singular, the first that fits.
    #[serde(default)]
    pub plurals: Vec<(String, String)>,
    /// Words that ask for a field by another word than its name.
    #[serde(default)]
    pub fields: BTreeMap<String, List>,
    #[serde(default)]
    pub asks: CueFile,
    #[serde(default)]
    pub heat: CueFile,
    #[serde(default)]
    pub modes: BTreeMap<Mode, CueFile>,
    /// Phrases whose words mean nothing for a mode: "change the subject".
    #[serde(default)]
    pub idioms: List,
    #[serde(default)]
    pub say: BTreeMap<Say, String>,
    #[serde(default)]
    pub review: Review,
}

fn yes() -> bool {
    true
}

/// How a language is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Script {
    /// With spaces between words.
    #[default]
    Spaced,
    /// Japanese.
    Kana,
    /// Chinese.
    Han,
}

/// Groups of cues; how a cue is written stands in [`super::cues`].
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CueFile {
    /// Forms of a question or request: without one, the message only tells something.
    #[serde(default)]
    pub form: List,
    /// One is enough.
    #[serde(default)]
    pub sure: List,
    /// Enough unless something speaks against it.
    #[serde(default)]
    pub likely: List,
    /// Two are enough.
    #[serde(default)]
    pub hint: List,
    /// Speaks against it.
    #[serde(default)]
    pub against: List,
    /// Excludes it, whatever else there is.
    #[serde(default)]
    pub never: List,
}

/// Words by which a persona's prompt is reviewed, in lower case.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// It says who the persona is.
    #[serde(default)]
    pub role: List,
    /// It speaks to the persona.
    #[serde(default)]
    pub address: List,
    /// It says what to do under pressure.
    #[serde(default)]
    pub pressure: List,
    /// It says what not to do.
    #[serde(default)]
    pub boundary: List,
    /// It was not finished.
    #[serde(default)]
    pub unfinished: List,
    /// A phrase that lets the user move the persona, and what to write instead.
    #[serde(default)]
    pub surrender: Vec<(String, String)>,
    /// Words that pull in two directions.
    #[serde(default)]
    pub contradictions: Vec<(List, List)>,
}

/// Words and phrases.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "LexiconValue")]
pub struct List(pub Vec<String>);

impl List {
    /// The first entry that a text contains.
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
