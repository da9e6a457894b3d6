//! An entity type, checked and ready for use.

use std::collections::BTreeMap;
use std::net::IpAddr;

use ipnet::IpNet;
use regex::Regex;
use serde_json::Value;

use super::Kind;
use super::alias::AliasRule;
use super::file::{Action, Check, Field, NamedBefore, NumberMeans};

/// A type of thing that a pack knows.
#[derive(Debug, Clone)]
pub struct EntityType {
    /// Its name, as in `"type"` of an entity.
    pub kind: Kind,
    /// The pack it comes from.
    pub pack: String,
    /// The words people use for it.
    pub cues: Vec<Cue>,
    /// What it adds to an entity's relevance.
    pub bonus: f64,
    /// It describes other things, as a role does, and is seldom what a message is about.
    pub describes: bool,
    /// What a bare number after a cue is.
    pub number: NumberMeans,
    /// Which words before a cue are a name.
    pub named_before: NamedBefore,
    /// Types that an entity of this type belongs to.
    pub parents: Vec<Kind>,
    /// The type of place that "in" names after this type: sites, for "devices in Berlin".
    pub within: Option<Kind>,
    /// How further names are made from a name.
    pub aliases: Vec<AliasRule>,
    /// JSON keys that hold an entity of this type, besides its name and plural; as `type.key`, only
    /// inside an entity of that type.
    pub keys: Vec<String>,
    /// Parts of a URL that show an entity of this type.
    pub urls: Vec<String>,
    /// JSON keys that together show an entity of this type.
    pub shape: Vec<String>,
    /// Where an entity's id is, as dotted paths, first found wins.
    pub id: Vec<String>,
    /// Where its name is.
    pub label: Vec<String>,
    /// Where its slug is.
    pub slug: Vec<String>,
    /// Where its address is.
    pub url: Vec<String>,
    /// Parameter names that mean a field of this type.
    pub parameters: BTreeMap<String, Field>,
    /// How it looks in text.
    pub patterns: Vec<Pattern>,
    /// How it is looked up.
    pub resolvers: Vec<Resolver>,
    /// What a tool's verb did to it.
    pub actions: BTreeMap<Action, Vec<String>>,
    /// How a generic server is asked for it.
    pub objects: Objects,
    /// The type of thing that a narrower word names, and what each such word stands for.
    pub narrowed_by: Option<Kind>,
    /// For a narrower word, the words of which the other thing's name has one.
    pub narrows: BTreeMap<String, Vec<String>>,
    /// Other things are in it.
    pub place: bool,
    /// Fields by the words that people use for them.
    pub attributes: BTreeMap<String, String>,
    /// The type that is meant instead, by the type of thing it belongs to.
    pub instead: BTreeMap<Kind, Kind>,
}

/// How a generic server is asked for things of a type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Objects {
    /// The type's name there.
    pub object: Option<String>,
    /// A tool of its own, with filters only.
    pub list_tool: Option<String>,
    /// The fields that a list asks for.
    pub fields: Vec<String>,
    /// The key of the filter for its name.
    pub name_filter: String,
    /// The key of the filter for a name that is a number.
    pub number_filter: Option<String>,
    /// Keys of filters by the type of thing that they take.
    pub filters: BTreeMap<String, String>,
    /// Values of a field that it can be filtered by.
    pub choices: BTreeMap<String, Vec<String>>,
    /// Words for what is true or not, and the key of the filter for it.
    pub flags: BTreeMap<String, String>,
    /// Words that mean a choice.
    pub means: BTreeMap<String, BTreeMap<String, String>>,
}

impl EntityType {
    /// The first singular cue: the word to use in text.
    pub fn word(&self) -> &str {
        let singular = self.cues.iter().find(|cue| cue.grammar == Grammar::Singular);
        singular.map_or(self.kind.as_str(), |cue| cue.text.as_str())
    }

    /// Whether words of an identifier are one of the words for it.
    pub fn is_named_in(&self, identifier: &[String]) -> bool {
        let own = super::words_of_identifier(self.kind.as_str());
        let cues = self.cues.iter().map(|cue| super::words_of_identifier(&cue.text));
        let mut names = cues.chain([own]);
        names.any(|name| identifier.windows(name.len().max(1)).any(|words| words == name))
    }

    /// Whether such a thing can have that name: types whose shape is checked have no other names.
    pub fn can_be_called(&self, name: &str) -> bool {
        let mut checked =
            self.patterns.iter().filter(|pattern| pattern.check != Check::Any).peekable();
        checked.peek().is_none() || checked.any(|pattern| pattern.matches(name))
    }

    /// What the verb of a tool's name did: the pack's first match, else discussed.
    pub fn action_of(&self, tool: &str) -> Action {
        let words = super::words_of_identifier(tool);
        let meant = |verbs: &Vec<String>| verbs.iter().any(|verb| words.contains(verb));
        self.actions
            .iter()
            .rev()
            .find(|(_, verbs)| meant(verbs))
            .map_or(Action::Discussed, |(action, _)| *action)
    }
}

/// A word, or a few, that announces a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cue {
    /// In lower case, words separated by one space.
    pub text: String,
    /// One or many.
    pub grammar: Grammar,
}

/// Whether a cue means one or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grammar {
    /// One.
    Singular,
    /// Many.
    Plural,
}

/// How an entity looks in text. It is matched against whole words, never searched for.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Anchored at both ends.
    pub regex: Regex,
    /// How many words it spans: 1 or 2.
    pub words: usize,
    /// How sure a match is, 0–1.
    pub confidence: f32,
    /// A check beyond the pattern.
    pub check: Check,
    /// Whether the match is the id or the name.
    pub means: NumberMeans,
}

impl Pattern {
    /// Whether `text` as a whole is meant.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text) && self.check.holds(text)
    }
}

impl Check {
    /// Whether `text` passes.
    pub fn holds(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Address => text.parse::<IpAddr>().is_ok() || text.parse::<IpNet>().is_ok(),
            Self::Host => text.parse::<IpNet>().is_ok_and(|net| net.trunc() != net),
            Self::Network => text.parse::<IpNet>().is_ok_and(|net| net.trunc() == net),
        }
    }
}

/// A tool that finds an entity, and its arguments with `{name}`, `{id}` and `{slug}` to be filled.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolver {
    /// The tool's name on whichever server has it.
    pub tool: String,
    pub arguments: BTreeMap<String, Value>,
}
